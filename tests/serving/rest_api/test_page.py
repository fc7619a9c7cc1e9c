"""The page at "/": routes, headers, and what it lists."""

import re

import pytest

from tests.serving.rest_api.http_calls import call
from uanet_tf.serving.rest_api.handler import page_answer

FILES = {"/": "text/html", "/page.css": "text/css", "/page.js": "text/javascript"}


@pytest.mark.parametrize("path", FILES)
def test_files_come_with_strict_headers(url, path):
    status, content, response = call(url, path)
    assert status == 200
    assert response.getheader("content-type") == f"{FILES[path]}; charset=utf-8"
    policy = response.getheader("content-security-policy")
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert response.getheader("x-content-type-options") == "nosniff"
    # Nothing from elsewhere, and nothing that the policy would refuse.
    text = content.decode()
    assert not re.search(r"https?://|innerHTML|insertAdjacentHTML|\beval\(|\sstyle=|\son\w+=", text)


@pytest.mark.parametrize("path", [*FILES, "/models.json", "/?x=1"])
def test_head_has_no_body_and_other_methods_are_refused(url, path):
    status, content, response = call(url, path, method="HEAD")
    assert (status, content) == (200, b"")
    assert response.getheader("content-length") == call(url, path)[2].getheader("content-length")
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        status, _, response = call(url, path, "{}", method)
        assert (status, response.getheader("allow")) == (405, "GET, HEAD")
        assert response.getheader("content-security-policy")


def test_lists_models_with_versions_and_what_they_read(url):
    status, content, _ = call(url, "/models.json")
    assert status == 200
    tokens, text, types = content["models"]
    assert tokens == {
        "name": "uanet",
        "versions": [{"version": 1, "state": "AVAILABLE", "error": ""}],
        "signatures": {
            "serving_default": ["lengths", "tokens"],
            "with_threshold": ["lengths", "threshold", "tokens"],
        },
        "gamma": 0.35,
    }
    assert text["signatures"] == {
        "serving_default": ["text"],
        "with_threshold": ["text", "threshold"],
    }
    assert text["gamma"] is None
    assert types["signatures"] == {}


def test_a_model_that_is_not_loaded_is_listed_with_the_reason(tmp_path):
    from uanet_tf.serving.rest_api.loaded_model import LoadedModel
    from uanet_tf.serving.rest_api.model_config import ModelSettings
    from uanet_tf.serving.rest_api.model_manager import ModelManager

    (tmp_path / "broken" / "1").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    names = ("broken", "empty")
    settings = [ModelSettings(name, str(tmp_path / name)) for name in names]
    manager = ModelManager(settings, lambda path, name: LoadedModel(path))
    manager.poll()
    text = page_answer("GET", "/models.json", manager).body.decode()
    manager.stop()
    assert '"state": "END"' in text
    assert "saved_model.pb: cannot be read" in text
    assert '"versions": [],' in text
