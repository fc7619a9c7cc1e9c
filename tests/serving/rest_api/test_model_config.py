from pathlib import Path

import pytest

from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api.model_config import read_model_config

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


def test_the_file_beside_it_is_valid():
    path = Path(__file__).resolve().parents[3] / "serving" / "models.config"
    assert [model.name for model in read_model_config(str(path))] == ["uanet", "uanet_text"]
