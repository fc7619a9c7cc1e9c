"""Which models are served."""

import os

import pytest

from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api import model_config
from uanet_tf.serving.rest_api.model_config import (
    find_models,
    fingerprint,
    read_model_config,
)

FULL = """
# Comments are allowed.
model_config_list {
  config {
    name: "a"
    base_path: '/models/a'
    model_platform: 'tensorflow'
    model_version_policy { specific { versions: 42 versions: 43 } }
    version_labels { key: 'stable' value: 42 }
    version_labels { key: "canary", value: 43 }
  }
  config: { name: "b" base_path: "/models/" "b" model_version_policy: { all: {} } },
  config { name: "c" base_path: "/models/c" model_version_policy { latest { num_versions: 2 } } }
  config { name: "d" base_path: "/models/d" }
}
"""


def write(tmp_path, text):
    path = tmp_path / "models.config"
    path.write_text(text)
    return str(path)


def test_reads_policies_and_labels(tmp_path):
    a, b, c, d = read_model_config(write(tmp_path, FULL))
    assert (a.name, a.base_path, a.latest, a.versions) == ("a", "/models/a", None, {42, 43})
    assert a.labels == {"stable": 42, "canary": 43}
    assert (b.base_path, b.latest, b.versions) == ("/models/b", None, None)
    assert (c.latest, c.versions) == (2, None)
    assert (d.latest, d.versions, d.labels) == (1, None, {})


def test_relative_paths_start_where_the_server_is_started(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, 'model_config_list { config { name: "a" base_path: "exports/a" } }')
    assert read_model_config(path)[0].base_path == str(tmp_path / "exports" / "a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no model"),
        ("model_config_list {", r"models.config:1:\d+"),
        ("model_config_list {\n  config { nam: 'a' }\n}", r"models.config:2:12 .*nam"),
        ("model_config_list {\n config { name: 3 } }", r"models.config:2:\d+"),
        ("model_config_list { config { name: 'a' } }", "both name and base_path"),
        (
            "model_config_list { config { name: 'a' base_path: 'b' model_platform: 'torch' } }",
            "must be 'tensorflow'",
        ),
        (
            "model_config_list { config { name: 'a' base_path: 'b' } "
            "config { name: 'a' base_path: 'c' } }",
            "more than once",
        ),
        (
            "model_config_list { config { name: 'a' base_path: 'b' "
            "model_version_policy { specific {} } } }",
            "names no versions",
        ),
    ],
)
def test_faults(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_model_config(write(tmp_path, text))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_model_config(str(tmp_path / "none.config"))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="UTF-8"):
        read_model_config(str(tmp_path / "binary"))


def test_finds_the_models_of_an_export(tmp_path):
    for path in ("uanet/1", "uanet/2", "uanet_text/1", "empty", "other/.part-1", "log/x"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "3").write_text("a file")
    models = find_models(str(tmp_path))
    assert [(model.name, model.base_path) for model in models] == [
        ("uanet", str(tmp_path / "uanet")),
        ("uanet_text", str(tmp_path / "uanet_text")),
    ]


@pytest.mark.parametrize(("name", "message"), [("", "holds no model"), ("no", "cannot be read")])
def test_no_models(tmp_path, name, message):
    with pytest.raises(InputError, match=message):
        find_models(str(tmp_path / name))


def test_a_model_that_cannot_be_read_now_is_kept(tmp_path, monkeypatch):
    (tmp_path / "m" / "1").mkdir(parents=True)

    def fail(settings):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(model_config, "list_versions", fail)
    assert [model.name for model in find_models(str(tmp_path))] == ["m"]


def test_a_fingerprint_tells_a_changed_file(tmp_path):
    file = tmp_path / "a" / "b"
    file.parent.mkdir()
    seen = [fingerprint(str(tmp_path))]
    for content in ("", "x", "xy"):
        file.write_text(content)
        seen.append(fingerprint(str(tmp_path)))
    os.utime(file, (1, 1))
    seen.append(fingerprint(str(tmp_path)))
    file.chmod(0o400)
    seen.append(fingerprint(str(tmp_path)))
    assert len(set(seen)) == len(seen)
    assert seen[-1] == fingerprint(str(tmp_path))
