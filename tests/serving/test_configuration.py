"""The files that TF Serving reads: every field is one that it knows, and they fit one another."""

import subprocess
import urllib.parse
from pathlib import Path

import pytest
from google.protobuf import text_format

from uanet_tf.serving import client
from uanet_tf.serving.rest_api.model_config import Field, new_message, read_model_config

yaml = pytest.importorskip("yaml")

FOLDER = Path(__file__).resolve().parents[2] / "serving"
_VALUE = [("value", 1, Field.TYPE_INT64, False)]
# servables/tensorflow/session_bundle_config.proto and config/monitoring_config.proto
BATCHING = {
    "Int64Value": _VALUE,
    "BatchingParameters": [
        ("max_batch_size", 1, "Int64Value", False),
        ("batch_timeout_micros", 2, "Int64Value", False),
        ("max_enqueued_batches", 3, "Int64Value", False),
        ("num_batch_threads", 4, "Int64Value", False),
        ("allowed_batch_sizes", 6, Field.TYPE_INT64, True),
        ("pad_variable_length_inputs", 7, Field.TYPE_BOOL, False),
    ],
}
MONITORING = {
    "PrometheusConfig": [
        ("enable", 1, Field.TYPE_BOOL, False),
        ("path", 2, Field.TYPE_STRING, False),
    ],
    "MonitoringConfig": [("prometheus_config", 1, "PrometheusConfig", False)],
}


def read(name, messages, message):
    return text_format.Parse((FOLDER / name).read_text(), new_message(messages, message))


@pytest.fixture(scope="module")
def service():
    compose = yaml.safe_load((FOLDER / "docker-compose.yml").read_text())
    return compose["services"]["tf_serving"]


def test_batches_are_padded_and_hold_a_request_of_the_client():
    parameters = read("batching_parameters.txt", BATCHING, "BatchingParameters")
    assert parameters.pad_variable_length_inputs
    assert parameters.max_batch_size.value >= client.BATCH_SIZE
    assert parameters.num_batch_threads.value >= 1


def test_monitoring():
    assert read("monitoring.config", MONITORING, "MonitoringConfig").prometheus_config.enable


def test_models_are_those_that_the_client_asks():
    names = [model.name for model in read_model_config(str(FOLDER / "models.config"))]
    assert names == [client.MODEL, f"{client.MODEL}_text"]


def test_the_compose_file_uses_all_of_them(service):
    assert service["image"] == "tensorflow/serving:2.15.1"
    mounted = dict(volume.rsplit(":", 2)[:2] for volume in service["volumes"])
    for name in ("models.config", "batching_parameters.txt", "monitoring.config"):
        inside = mounted[f"./{name}"]
        assert any(argument.endswith(f"={inside}") for argument in service["command"])
    assert "--enable_batching=true" in service["command"]
    base = next(model.base_path for model in read_model_config(str(FOLDER / "models.config")))
    assert base.startswith(mounted["${EXPORT_DIR:-../exports}"] + "/")


def test_the_health_check_tells_a_served_model_from_none(service, url):
    kind, *command = service["healthcheck"]["test"]
    assert kind == "CMD"
    port = str(urllib.parse.urlsplit(url).port)

    def healthy(old="", new=""):
        parts = [part.replace("8501", port).replace(old, new) for part in command]
        return subprocess.run(parts, capture_output=True, timeout=60).returncode == 0

    assert healthy()
    assert not healthy("models/uanet", "models/none")
    assert not healthy(port, "1")
