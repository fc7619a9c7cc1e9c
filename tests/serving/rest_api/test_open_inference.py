"""The Open Inference Protocol, as a client sees it over HTTP."""

import gzip
import json

import numpy as np
import pytest

from tests.serving.rest_api.http_calls import COLUMN, LABELS, call, predict
from uanet_tf.serving.rest_api import open_inference_routes
from uanet_tf.serving.rest_api.open_inference import read_request, write_response
from uanet_tf.serving.rest_api.open_inference_routes import OpenInferenceRoute
from uanet_tf.serving.rest_api.rest_error import RestError

TOKENS = {
    "name": "tokens",
    "shape": [1, 3],
    "datatype": "BYTES",
    "data": ["the", "Chelsea", "Wanderers"],
}
LENGTHS = {"name": "lengths", "shape": [1], "datatype": "INT32", "data": [3]}


def infer(url, model="uanet", **body):
    status, content, _ = call(url, f"/v2/models/{model}/infer", json.dumps(body))
    return status, content


def outputs_of(content):
    return {
        each["name"]: np.reshape(each["data"], each["shape"]).tolist()
        for each in content["outputs"]
    }


@pytest.mark.parametrize(
    ("method", "target", "route"),
    [
        ("GET", "/v2", OpenInferenceRoute("server")),
        ("GET", "/v2/health/live", OpenInferenceRoute("live")),
        ("GET", "/v2/health/ready?x=1", OpenInferenceRoute("ready")),
        ("GET", "/v2/models/a%20b", OpenInferenceRoute("model", "a b")),
        ("GET", "/v2/models/a/versions/12/ready", OpenInferenceRoute("model_ready", "a", 12)),
        ("POST", "/v2/models/a/versions/3/infer", OpenInferenceRoute("infer", "a", 3)),
    ],
)
def test_paths(method, target, route):
    assert open_inference_routes.is_open_inference(target)
    assert open_inference_routes.parse(method, target) == route


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("POST", "/v2/health/live", 400),
        ("GET", "/v2/models/a/infer", 400),
        ("DELETE", "/v2/models/a", 400),
        ("GET", "/v2/models", 404),
        ("GET", "/v2/models/a/versions/x", 404),
        ("POST", "/v2/models/a/infer/more", 404),
    ],
)
def test_other_paths(method, target, status):
    with pytest.raises(RestError) as error:
        open_inference_routes.parse(method, target)
    assert error.value.status == status
    assert not open_inference_routes.is_open_inference("/v20/models/a")


def test_health_and_server(url):
    assert call(url, "/v2/health/live")[:2] == (200, {"live": True})
    assert call(url, "/v2/health/ready")[:2] == (200, {"ready": True})
    status, content, _ = call(url, "/v2")
    assert (status, content["name"], content["extensions"]) == (200, "uanet_tf", [])


def test_metadata(url):
    status, content, _ = call(url, "/v2/models/uanet")
    assert status == 200
    assert (content["name"], content["versions"]) == ("uanet", ["1"])
    assert content["platform"] == "tensorflow_savedmodel"
    inputs = {each["name"]: (each["datatype"], each["shape"]) for each in content["inputs"]}
    assert inputs == {"tokens": ("BYTES", [-1, -1]), "lengths": ("INT32", [-1])}
    kinds = {each["name"]: each["datatype"] for each in content["outputs"]}
    assert kinds["labels"] == "BYTES"
    assert kinds["uncertainty"] == "FP32"
    assert kinds["refined"] == "BOOL"
    ready = call(url, "/v2/models/uanet/versions/1/ready")
    assert ready[:2] == (200, {"name": "uanet", "ready": True})
    assert call(url, "/v2/models/uanet/versions/2/ready")[0] == 404
    assert call(url, "/v2/models/other")[0] == 404


@pytest.mark.parametrize("data", [TOKENS["data"], [TOKENS["data"]]])
def test_the_same_as_by_the_other_api(url, data):
    status, content = infer(url, id="7", inputs=[LENGTHS, {**TOKENS, "data": data}])
    assert status == 200
    assert content["id"] == "7"
    assert (content["model_name"], content["model_version"]) == ("uanet", "1")
    assert outputs_of(content)["labels"] == [LABELS]
    assert outputs_of(content) == predict(url, COLUMN)[1]["outputs"]
    uncertainty = next(each for each in content["outputs"] if each["name"] == "uncertainty")
    assert (uncertainty["datatype"], uncertainty["shape"]) == ("FP32", [1, 3])


def test_wanted_outputs_version_and_gzip(url):
    body = json.dumps({"inputs": [TOKENS, LENGTHS], "outputs": [{"name": "labels"}]})
    path = "/v2/models/uanet/versions/1/infer"
    packed = gzip.compress(body.encode(), mtime=0)
    status, content, _ = call(url, path, packed, **{"Content-Encoding": "gzip"})
    assert status == 200
    assert outputs_of(content) == {"labels": [LABELS]}
    assert "id" not in content


@pytest.mark.parametrize(
    ("kind", "datatype", "values"),
    [
        ("float32", "FP32", [0.1, -2.5]),
        ("int64", "INT64", [2**60, -1]),
        ("uint32", "UINT32", [2**32 - 1, 0]),
        ("bool", "BOOL", [True, False]),
        ("string", "BYTES", ["a", "東"]),
    ],
)
def test_signatures_by_name_and_types(url, kind, datatype, values):
    tensor = {"name": "x", "shape": [2], "datatype": datatype, "data": values}
    status, content = infer(url, "types", inputs=[tensor], parameters={"signature_name": kind})
    assert status == 200
    assert content["outputs"] == [{**tensor, "name": "y", "data": pytest.approx(values)}]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "inputs is missing"),
        ({"inputs": {}}, "inputs must be a list of objects"),
        ({"inputs": [1]}, "inputs must be a list of objects"),
        ({"inputs": [TOKENS]}, "inputs are missing: lengths"),
        ({"inputs": [TOKENS, TOKENS, LENGTHS]}, "input tokens appears twice"),
        ({"inputs": [{**TOKENS, "name": "x"}]}, "the model has no input x: lengths, tokens"),
        ({"inputs": [{**TOKENS, "name": 1}]}, "name of an input must be a string"),
        (
            {"inputs": [{**LENGTHS, "datatype": "INT64"}]},
            "input lengths: datatype is INT64, the model's is INT32",
        ),
        ({"inputs": [{**TOKENS, "shape": [1, 4]}]}, "input tokens: data has 3 values"),
        ({"inputs": [{**TOKENS, "shape": [-1, 3]}]}, "shape must be a list of sizes"),
        ({"inputs": [{**TOKENS, "shape": [1] * 40}]}, "more than 32 sizes"),
        (
            {"inputs": [{**TOKENS, "shape": [0, *[2**31 - 1] * 3], "data": []}]},
            "shape is too large. Received: [0, 2147483647",
        ),
        ({"inputs": [{**TOKENS, "shape": [0, 10**30], "data": []}]}, "a size over 2,147,483,647"),
        (
            {
                "inputs": [
                    {**TOKENS, "shape": [0, 10**9], "data": []},
                    {**LENGTHS, "shape": [0], "data": []},
                ]
            },
            "1,000,000,000 tokens",
        ),
        ({"inputs": [{**LENGTHS, "data": ["3"]}]}, "input lengths: "),
        ({"inputs": [{**LENGTHS, "data": None}]}, "input lengths: "),
        (
            {"inputs": [{k: v for k, v in TOKENS.items() if k != "data"}]},
            "binary tensors are not offered",
        ),
        ({"inputs": [TOKENS, LENGTHS], "outputs": [{"name": "nope"}]}, "the model has no output"),
        ({"inputs": [TOKENS, LENGTHS], "id": 7}, "id must be a string"),
        ({"inputs": [TOKENS], "parameters": {"signature_name": 1}}, "signature_name must be"),
        ({"inputs": [TOKENS], "parameters": {"signature_name": "nope"}}, '"nope" not found'),
        ({"inputs": [TOKENS], "parameters": []}, "parameters must be an object"),
    ],
)
def test_wrong_requests(url, body, message):
    status, content = infer(url, **body)
    assert status == 400
    assert list(content) == ["error"]
    assert message in content["error"]


def test_an_output_that_json_cannot_hold():
    request = read_request(json.dumps({"inputs": [LENGTHS]}).encode())
    with pytest.raises(RestError, match="complex64"):
        write_response({"y": np.zeros(2, np.complex64)}, request, "m", 1)
