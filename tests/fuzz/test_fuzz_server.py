"""Requests to the local server with damage of all kinds: an answer in JSON, never a fault."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.inputs import damaged_bytes, damaged_json, share, to_bytes
from tests.serving import toy_models
from uanet_tf.serving.rest_api.handler import Handler
from uanet_tf.serving.rest_api.loaded_model import LoadedModel
from uanet_tf.serving.rest_api.model_config import ModelSettings
from uanet_tf.serving.rest_api.model_manager import ModelManager

COLUMNS = {"inputs": {"tokens": [["the", "Ann"], ["a", ""]], "lengths": [2, 1]}}
ROWS = {"instances": [{"tokens": ["the", "Ann"], "lengths": 2}] * 2}
GAMMA = {
    "signature_name": "with_threshold",
    "inputs": {"tokens": [["Ann"]], "lengths": [1], "threshold": [0.2]},
}
TARGET = "/v1/models/uanet:predict"
ALLOWED = {200, 400, 404, 405, 413, 501, 503, 504}


@pytest.fixture(scope="module")
def handler(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    toy_models.write_token_model(folder / "uanet" / "1")
    manager = ModelManager(
        [ModelSettings("uanet", str(folder / "uanet"))],
        lambda path, name: LoadedModel(path),
        poll_seconds=0,
    )
    manager.start()
    yield Handler(manager, body_bytes=1 << 16, answer_seconds=10)
    manager.stop()


def check(answer):
    assert answer.status in ALLOWED
    assert isinstance(json.loads(answer.body), dict)
    assert len(answer.body) < 1 << 20


@share(0.2)
@given(body=st.sampled_from((COLUMNS, ROWS, GAMMA)).flatmap(damaged_json))
def test_bodies_of_other_values(handler, body):
    check(handler.predict(TARGET, to_bytes(body)))


@share(0.1)
@given(
    body=damaged_bytes(to_bytes(COLUMNS)),
    packed=st.sampled_from((None, gzip.compress, lambda body: body)),
)
def test_bodies_of_other_bytes(handler, body, packed):
    check(handler.predict(TARGET, packed(body) if packed else body, gzipped=packed is not None))
