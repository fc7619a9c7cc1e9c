"""The files that TF Serving reads: every field is one that it knows, and they fit one another."""

import subprocess
import urllib.parse
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

from uanet_tf.serving import client

yaml = pytest.importorskip("yaml")

FOLDER = Path(__file__).resolve().parents[2] / "serving"
Field = descriptor_pb2.FieldDescriptorProto
PACKAGE = "uanet_tf.serving"
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


# config/model_server_config.proto
MODELS = {
    "ModelConfig": [
        ("name", 1, Field.TYPE_STRING, False),
        ("base_path", 2, Field.TYPE_STRING, False),
        ("model_platform", 4, Field.TYPE_STRING, False),
    ],
    "ModelConfigList": [("config", 1, "ModelConfig", True)],
    "ModelServerConfig": [("model_config_list", 1, "ModelConfigList", False)],
}


def new_message(messages, name):
    """An empty message; a message is [(field, its number, type or message, whether it repeats)]."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{PACKAGE}.proto", package=PACKAGE)
    file.syntax = "proto3"
    for message_name, fields in messages.items():
        message = file.message_type.add(name=message_name)
        for field_name, number, kind, repeated in fields:
            field = message.field.add(name=field_name, number=number)
            field.label = Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL
            if isinstance(kind, str):
                field.type, field.type_name = Field.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
            else:
                field.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))()


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
    config = read("models.config", MODELS, "ModelServerConfig")
    names = [model.name for model in config.model_config_list.config]
    assert names == [client.MODEL, f"{client.MODEL}_text"]


def test_the_compose_file_uses_all_of_them(service):
    assert service["image"] == "tensorflow/serving:2.15.1"
    mounted = dict(volume.rsplit(":", 2)[:2] for volume in service["volumes"])
    for name in ("models.config", "batching_parameters.txt", "monitoring.config"):
        inside = mounted[f"./{name}"]
        assert any(argument.endswith(f"={inside}") for argument in service["command"])
    assert "--enable_batching=true" in service["command"]
    config = read("models.config", MODELS, "ModelServerConfig")
    base = config.model_config_list.config[0].base_path
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
