"""The gRPC side of the client, against a service in this process that speaks TF Serving's API."""

import pickle
import re
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.serving.servers import ROOT
from uanet_tf.errors import InputError
from uanet_tf.serving.client import Client
from uanet_tf.serving.retrying import RetryPolicy, ServingError
from uanet_tf.tensorflow_stack import series


def test_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_serving", None)
    monkeypatch.delitem(sys.modules, "tensorflow_serving.apis", raising=False)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = project["optional-dependencies"]["grpc"]
    api = f"tensorflow-serving-api=={series()}."
    assert any(package.startswith(api) for package in packages)
    with pytest.raises(
        InputError, match=rf': pip install "{re.escape(api)}\*", or use the REST API'
    ):
        Client("grpc://127.0.0.1:8500")


@pytest.fixture(scope="module")
def service(toy_folder):
    """Address of a PredictionService over the toy models, and the errors it is to give first."""
    pytest.importorskip("tensorflow_serving.apis")
    import grpc
    import tensorflow as tf
    from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc

    from uanet_tf.serving.rest_api.loaded_model import LoadedModel
    from uanet_tf.serving.rest_api.rest_error import RestError

    names = ("uanet", "uanet_text")
    models = {name: LoadedModel(toy_folder / name / "1") for name in names}
    troubles = []

    class Service(prediction_service_pb2_grpc.PredictionServiceServicer):
        def Predict(self, request, context):
            if troubles:
                context.abort(troubles.pop(0), "not now")
            if request.model_spec.name not in models:
                context.abort(grpc.StatusCode.NOT_FOUND, "Servable not found")
            inputs = {name: tf.make_ndarray(value) for name, value in request.inputs.items()}
            try:
                outputs = models[request.model_spec.name].predict(
                    request.model_spec.signature_name, inputs
                )
            except RestError as error:
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, error.message)
            response = predict_pb2.PredictResponse()
            for name, value in outputs.items():
                response.outputs[name].CopyFrom(tf.make_tensor_proto(value))
            return response

    server = grpc.server(ThreadPoolExecutor(4))
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(Service(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"grpc://127.0.0.1:{port}", troubles
    server.stop(0)


@pytest.fixture
def client(service):
    with Client(service[0], retries=RetryPolicy(sleep=lambda seconds: None)) as client:
        yield client


def test_answers_are_those_of_rest(client, url):
    def plain(answers):
        return [answer.to_dict() for answer in answers]  # numbers to six decimals

    sentences = ["Café Chelsea, é", ["the", "Chelsea"], "", ["Wanderers"] * 3]
    words = [["Chelsea"], ["Wanderers", "a"]]
    with Client(url) as rest:
        assert plain(client.tag(sentences)) == plain(rest.tag(sentences))
        by_grpc = client.tag(words, threshold=[0.8, 0.8])
        assert plain(by_grpc) == plain(rest.tag(words, threshold=0.8))


def test_tries_again_what_passes(client, service):
    import grpc

    service[1][:] = [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED]
    assert client.tag([["Chelsea"]])[0].labels == ["B-ORG"]
    assert service[1] == []


def test_refusals_are_final(client, service):
    import grpc

    service[1][:] = [grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNAVAILABLE]
    with pytest.raises(ServingError, match=r"error INVALID_ARGUMENT, not now$"):
        client.tag([["Chelsea"]])
    assert len(service[1]) == 1
    service[1].clear()
    with Client(service[0], "nope") as other, pytest.raises(ServingError, match="NOT_FOUND"):
        other.tag([["Chelsea"]])


def test_a_copy_in_another_process(service):
    with Client(service[0]) as client, pickle.loads(pickle.dumps(client)) as copy:
        assert copy.tag([["Chelsea"]])[0].labels == ["B-ORG"]


def test_nobody_there():
    pytest.importorskip("tensorflow_serving.apis")
    with (
        Client(
            "grpc://127.0.0.1:1", retries=RetryPolicy(attempts=2, sleep=lambda s: None)
        ) as client,
        pytest.raises(ServingError, match=r"UNAVAILABLE.*\(2 tries\)"),
    ):
        client.tag([["Chelsea"]])
