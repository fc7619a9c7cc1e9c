"""Gamma and the monitoring of a version."""

import json

import pytest

from tests.serving import toy_models
from tests.serving.rest_api.http_calls import call, predict
from tests.serving.servers import in_thread
from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api.extra_assets import (
    GATE_FILE,
    MONITORING_FILE,
    ModelMonitor,
    make_monitor,
    read_gate,
)
from uanet_tf.serving.rest_api.model_config import ModelSettings
from uanet_tf.tagging.monitor import SentenceFacts, make_reference


def test_gamma(tmp_path):
    assert read_gate(tmp_path) is None
    (tmp_path / GATE_FILE).parent.mkdir()
    for text, gamma in (('{"threshold": 0.35}', 0.35), ('{"threshold": 1}', 1.0)):
        (tmp_path / GATE_FILE).write_text(text)
        assert read_gate(tmp_path) == gamma
    for text in ("{", "[]", "{}", '{"threshold": "a"}', '{"threshold": -1}', '{"threshold": true}'):
        (tmp_path / GATE_FILE).write_text(text)
        with pytest.raises(InputError, match=r"gate\.json: "):
            read_gate(tmp_path)


def write_monitoring(folder, **changes):
    """Development sentences of one lower-case word, of 0.1 nats."""
    facts = [SentenceFacts(0.15, 0.0, frozenset())] * 200
    values = {"chunks": True, "normalize_digits": True, "lowercase_words": True}
    values |= {"monitoring": make_reference(facts).to_dict(), **changes}
    (folder / MONITORING_FILE).parent.mkdir(exist_ok=True, parents=True)
    (folder / MONITORING_FILE).write_text(json.dumps(values))


def test_a_shift_is_told(tmp_path):
    folder = toy_models.write_token_model(tmp_path / "uanet" / "1")
    write_monitoring(folder)
    usual = {"tokens": [["a"]] * 150, "lengths": [1] * 150}
    strange = {"tokens": [["Wanderers", ""]] * 150, "lengths": [1] * 150}
    with in_thread([ModelSettings("uanet", str(tmp_path / "uanet"))]) as url:

        def told(inputs, signature="serving_default"):
            body = json.dumps({"inputs": inputs, "signature_name": signature})
            assert predict(url, body)[0] == 200
            (model,) = call(url, "/monitoring")[1]["models"]
            return model

        first = told(usual)
        assert (first["name"], first["version"]) == ("uanet", 1)
        assert (first["monitoring"]["sentences"], first["monitoring"]["shifted"]) == (150, False)
        assert told(strange, "draft") == first  # of another Gamma, or without labels
        found = told(strange)["monitoring"]
        assert (found["sentences"], found["shifted"]) == (300, True)
        assert "mean uncertainty above" in found["first_alarm"][0]["trait"]
        assert call(url, "/monitoring", "{}")[0] == 405


def test_models_without_reference(url):
    models = call(url, "/monitoring")[1]["models"]
    assert [model["monitoring"] for model in models] == [None] * 3


def test_files(tmp_path):
    assert make_monitor(str(tmp_path)) is None
    write_monitoring(tmp_path)
    assert isinstance(make_monitor(str(tmp_path)), ModelMonitor)
    for changes in ({"chunks": 1}, {"monitoring": None}):
        write_monitoring(tmp_path, **changes)
        with pytest.raises(InputError, match=r"monitoring\.json: cannot be read"):
            make_monitor(str(tmp_path))
    (tmp_path / MONITORING_FILE).write_text("{")
    with pytest.raises(InputError, match=r"monitoring\.json: cannot be read"):
        make_monitor(str(tmp_path))
