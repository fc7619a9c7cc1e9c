"""Which models are served."""

import os

import pytest

from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api import model_config
from uanet_tf.serving.rest_api.model_config import find_models, fingerprint


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

    monkeypatch.setattr(model_config, "latest_version", fail)
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
