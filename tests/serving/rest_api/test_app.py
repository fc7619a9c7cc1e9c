"""What a client sees over HTTP."""

import json

import pytest
import requests

from tests.serving.rest_api.http_calls import COLUMN, LABELS, ROW, call, predict


def echo(url, signature, value, form="inputs"):
    body = json.dumps({"signature_name": signature, form: value})
    return predict(url, body, "types")


def test_rows(url):
    status, content = predict(url, ROW)
    assert status == 200
    (prediction,) = content["predictions"]
    assert prediction == {
        "labels": LABELS,
        "draft_labels": ["O", "B-PER", "I-PER"],
        "refined_labels": LABELS,
        "uncertainty": pytest.approx([0.3, 0.7, 0.9]),
        "confidence": [1.0, 1.0, 1.0],
        "refined": [False, True, True],
    }


def test_columns(url):
    status, content = predict(url, COLUMN)
    assert status == 200
    assert content["outputs"]["labels"] == [LABELS]


def test_versions(url):
    status, content, _ = call(url, "/v1/models/uanet/versions/1:predict", COLUMN)
    assert (status, content["outputs"]["labels"]) == (200, [LABELS])


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("uanet/versions/2:predict", 404, "Servable not found for request: Specific(uanet, 2)"),
        ("other:predict", 404, "Servable not found for request: Latest(other)"),
        ("uanet/labels/unknown:predict", 400, "Unrecognized servable version label: unknown"),
        ("other/labels/unknown:predict", 400, "Unrecognized servable version label: unknown"),
        ("uanet:unknown", 400, "Malformed request: POST /v1/models/uanet:unknown"),
        ("uanet:classify", 400, None),
        ("uanet:regress", 400, None),
    ],
)
def test_paths_that_are_not_there(url, path, status, message):
    found, content, _ = call(url, f"/v1/models/{path}", COLUMN)
    assert found == status
    assert list(content) == ["error"]
    assert message in (None, content["error"])


def test_errors_come_in_the_order_of_tf_serving(url):
    # Body, then type of signature_name, then model, then signature, then inputs.
    assert predict(url, "{", "other")[0] == 400
    assert predict(url, '{"signature_name": 1}', "other")[0] == 400
    assert predict(url, '{"signature_name": "nope"}', "other")[0] == 404
    status, content = predict(url, '{"signature_name": "nope", "inputs": 1}')
    assert status == 400
    assert '"nope" not found' in content["error"]


def test_empty_sentences(url):
    body = '{"inputs": {"tokens": [["", ""], ["Big", "a"]], "lengths": [0, 1]}}'
    status, content = predict(url, body)
    assert status == 200
    assert content["outputs"]["labels"] == [["", ""], ["B-PER", ""]]
    status, content = predict(url, '{"inputs": {"tokens": [[]], "lengths": [0]}}')
    assert (status, content["outputs"]["labels"]) == (200, [[]])
    status, content = predict(url, '{"inputs": ["", "A b"]}', "uanet_text")
    assert (status, content["outputs"]["lengths"]) == (200, [0, 2])


def test_bytes(url):
    given = [{"b64": "/wAB"}, {"b64": ""}]
    assert echo(url, "bytes", given) == (200, {"outputs": given})
    body = b'{"signature_name": "string", "inputs": ["a\xff"]}'
    response = requests.post(f"{url}/v1/models/types:predict", data=body, timeout=60)
    assert response.content == b'{"outputs": ["a\xff"]}'


def test_odd_outputs(url):
    assert echo(url, "scalar", [1.0, 2.0]) == (200, {"outputs": 3.0})
    for signature in ("scalar", "uneven", "complex"):
        assert echo(url, signature, [1.0, 2.0], "instances")[0] == 400
    assert echo(url, "uneven", [1.0, 2.0]) == (200, {"outputs": {"all": [1, 2], "half": [1]}})
    assert echo(url, "complex", [1.0])[0] == 400
    assert echo(url, "float16", [1.0])[0] == 501
    assert echo(url, "float16", [1.0], "instances")[0] == 400
    assert echo(url, "narrow", [[1.0, 2.0]])[0] == 200
    assert echo(url, "two", {"a": [1.0], "b": [2.0, 3.0, 4.0]})[0] == 200
    assert echo(url, "two", {"a": [1.0, 2.0], "b": [2.0, 3.0, 4.0]})[0] == 400
    assert echo(url, "__saved_model_init_op", [1.0])[0] == 400


def test_status(url):
    version = {
        "version": "1",
        "state": "AVAILABLE",
        "status": {"error_code": "OK", "error_message": ""},
    }
    for path in ("uanet", "uanet/versions/1", "uanet/labels/unknown"):
        status, content, response = call(url, f"/v1/models/{path}")
        assert (status, content) == (200, {"model_version_status": [version]})
        assert response.getheader("content-type") == "application/json"
    assert call(url, "/v1/models/types")[1]["model_version_status"][0]["version"] == "7"
    for path in ("other", "uanet/versions/2", "uanet?x=1"):
        assert call(url, f"/v1/models/{path}")[0] == 404
    assert call(url, "/v1/models")[:2] == (400, {"error": "Missing model name in request."})


def test_metadata(url):
    status, content, _ = call(url, "/v1/models/uanet/metadata")
    assert status == 200
    assert content["model_spec"] == {"name": "uanet", "signature_name": "", "version": "1"}
    signatures = content["metadata"]["signature_def"]["signature_def"]
    assert signatures["draft"]["outputs"]["uncertainty"]["dtype"] == "DT_FLOAT"
    assert "__saved_model_init_op" in signatures
    assert call(url, "/v1/models/uanet/versions/1/metadata")[0] == 200
    assert call(url, "/v1/models/uanet/labels/unknown/metadata")[0] == 400
    assert call(url, "/v1/models/other/metadata")[0] == 404


@pytest.mark.parametrize("path", ["//", "/v1", "/v3/models/uanet", "/models/uanet", "/metrics"])
def test_other_paths(url, path):
    for body in (None, COLUMN):
        status, content, response = call(url, path, body)
        assert status == 404
        assert response.getheader("content-type") != "application/json"
        del content
