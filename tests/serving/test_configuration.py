"""The files that TF Serving reads: every field is one that it knows, and they fit one another."""

import json
import shlex
import subprocess
import tomllib
import urllib.parse
from pathlib import Path
from typing import NamedTuple

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

from uanet_lite import command
from uanet_tf.commands import runner
from uanet_tf.commands.export_command import export
from uanet_tf.resources.shipped import shipped_models
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


class Stage(NamedTuple):
    """A stage of a Dockerfile: what it is from, and its instructions, [(name, arguments), ...]."""

    base: str
    steps: list[tuple[str, str]]

    def of(self, instruction: str) -> list[str]:
        return [arguments for name, arguments in self.steps if name == instruction]


@pytest.fixture(scope="module")
def stages():
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    found = {}
    for line in filter(None, "\n".join(lines).replace("\\\n", " ").splitlines()):
        name, _, arguments = line.partition(" ")
        if name == "FROM":
            base, _, stage = arguments.partition(" AS ")
            found[stage] = Stage(base, [])
        else:
            found[stage].steps.append((name, " ".join(arguments.split())))
    return found


def test_the_image_with_models_is_the_service_with_its_files_in_it(stages, service):
    stage = stages["tf_serving"]
    assert stage.base == service["image"]
    from_context, files = stage.of("COPY")
    assert from_context == "--from=exports / /models/"
    *names, folder = files.split()
    start = json.loads(stage.of("ENTRYPOINT")[0])
    # The image's own entry point says the ports and, of one model, where it is.
    assert set(start[1:]) == {"--port=8500", "--rest_api_port=8501", *service["command"]}
    inside = {folder + Path(name).name for name in names}
    assert inside == {part.partition("=")[2] for part in start[1:] if "=/" in part}
    assert all((FOLDER.parent / name).is_file() for name in names)
    assert stage.of("EXPOSE") == ["8500 8501"]


def test_the_lite_image_exports_a_model_of_the_package(stages, tmp_path, capsys):
    (argument,) = stages["export"].of("ARG")
    name, _, model = argument.partition("=")
    assert (name, model in shipped_models()) == ("MODEL", True)
    called = shlex.split(stages["export"].of("RUN")[-1].replace("$MODEL", str(tmp_path)))
    assert called[:2] == ["uanet", "export"]
    # A folder that is no run is what it refuses, so its options are right.
    assert runner.exit_code(export, called[1:]) == 2
    assert str(tmp_path) in capsys.readouterr().err
    target = next(part.partition("=")[2] for part in called if "--export_dir" in part)
    assert f"--from=export {target}/model.tflite /model.tflite" in stages["lite"].of("COPY")


def test_the_lite_image_runs_uanet_lite_on_that_model(stages):
    stage = stages["lite"]
    _, copied = stage.of("COPY")[0].removeprefix("--from=packages ").split()
    assert stage.of("ENV") == [f"PYTHONPATH={copied}"]
    python, *arguments = json.loads(stage.of("ENTRYPOINT")[0])
    assert python == "/usr/bin/python3"
    assert arguments[:2] == ["-m", "uanet_lite"]
    options = command._parser().parse_args(arguments[2:])
    assert (options.model, options.input, options.output) == ("/model.tflite", "-", "-")
    # One Debian and one Python where packages are installed and where they run.
    assert stages["packages"].base == "python:3.11-slim-bookworm"
    assert stage.base == "gcr.io/distroless/python3-debian12:nonroot"
    assert stages["packages"].of("COPY") == ["uanet_lite /source"]
    project = tomllib.loads((FOLDER.parent / "uanet_lite" / "pyproject.toml").read_text("utf-8"))
    assert not any("tensorflow" in name for name in project["project"]["dependencies"])
