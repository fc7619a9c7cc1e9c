"""Which models to serve: TF Serving's --model_config_file, or the folders of versions, E/NAME/1.

The messages of tensorflow_serving/config/model_server_config.proto are described here field by
field, so that protobuf's own parser reads the file and reports line and column of a fault; a local
server should not need the package tensorflow-serving-api.
"""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

from uanet_tf.errors import InputError

MAX_VERSION = 2**63 - 1
TEXT_ENDING = "_text"  # of the names of models that take texts
_LITE_ENDING = ".tflite"
# Identifies the state of a version's files.
Fingerprint = frozenset[tuple[str, int, int, int]]
Field = descriptor_pb2.FieldDescriptorProto
PACKAGE = "uanet_tf.serving"
# {message: [(field, its number, its type or the message it holds, whether it is repeated)]}.
# A map is a repeated message with `key` and `value`.
Messages = Mapping[str, Sequence[tuple[str, int, int | str, bool]]]


def new_message(messages: Messages, name: str) -> Any:
    """An empty message ``name``; its own pool of descriptions collides with no other."""
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


_STRING, _INT64, _UINT32 = Field.TYPE_STRING, Field.TYPE_INT64, Field.TYPE_UINT32
_MESSAGES: Messages = {
    "Latest": [("num_versions", 1, _UINT32, False)],
    "All": [],
    "Specific": [("versions", 1, _INT64, True)],
    "VersionPolicy": [
        ("latest", 100, "Latest", False),
        ("all", 101, "All", False),
        ("specific", 102, "Specific", False),
    ],
    "VersionLabel": [("key", 1, _STRING, False), ("value", 2, _INT64, False)],
    "ModelConfig": [
        ("name", 1, _STRING, False),
        ("base_path", 2, _STRING, False),
        ("model_platform", 4, _STRING, False),
        ("model_version_policy", 7, "VersionPolicy", False),
        ("version_labels", 8, "VersionLabel", True),
    ],
    "ModelConfigList": [("config", 1, "ModelConfig", True)],
    "ModelServerConfig": [("model_config_list", 1, "ModelConfigList", False)],
}


@dataclasses.dataclass(frozen=True)
class ModelSettings:
    """One model to serve.

    Attributes:
      name: the name in requests.
      base_path: the directory of its versions.
      latest: how many of the highest versions to serve; None: see ``versions``.
      versions: the versions to serve; None (and ``latest`` None): all there are.
      labels: names of versions.
      lite: only versions that are TensorFlow Lite files.
    """

    name: str
    base_path: str
    latest: int | None = 1
    versions: frozenset[int] | None = None
    labels: dict[str, int] = dataclasses.field(default_factory=dict)
    lite: bool = False


def read_model_config(path: str) -> list[ModelSettings]:
    """Reads a configuration file.

    Raises:
      InputError: no such file, a fault in it (with line and column), or no model in it.
    """
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8.") from None
    try:
        config = text_format.Parse(text, new_message(_MESSAGES, "ModelServerConfig"))
    except text_format.ParseError as error:
        # "line:column: what", without our own names of the messages.
        raise InputError(f"{path}:{str(error).replace(f'{PACKAGE}.', '')}") from None
    models = [_settings(entry, path) for entry in config.model_config_list.config]
    if not models:
        raise InputError(f"{path}: names no model (model_config_list {{ config {{ ... }} }}).")
    names = [model.name for model in models]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{path}: the model {name!r} is named more than once.")
    return models


def _settings(entry: Any, path: str) -> ModelSettings:
    if not entry.name or not entry.base_path:
        raise InputError(f"{path}: a config needs both name and base_path. Received: {entry}")
    if entry.model_platform not in ("", "tensorflow"):
        raise InputError(
            f"{path}: model_platform of {entry.name} must be 'tensorflow'. "
            f"Received: {entry.model_platform!r}"
        )
    policy = entry.model_version_policy
    latest: int | None = max(policy.latest.num_versions, 1)
    versions = None
    if policy.HasField("specific"):
        latest, versions = None, frozenset(policy.specific.versions)
        if not versions:
            raise InputError(f"{path}: model_version_policy of {entry.name} names no versions.")
    elif policy.HasField("all"):
        latest = None
    labels = {label.key: label.value for label in entry.version_labels}
    return ModelSettings(entry.name, os.path.abspath(entry.base_path), latest, versions, labels)


def list_versions(settings: ModelSettings) -> dict[int, str]:
    """Versions on disk that are to be served, and their directories.

    A version is a directory whose name is a number (``00000123`` is 123); all else is skipped.

    Returns:
      {version: path}.

    Raises:
      OSError: the base path cannot be read.
    """
    found: dict[int, str] = {}
    for name in sorted(os.listdir(settings.base_path)):
        path = os.path.join(settings.base_path, name)
        if not (name.isascii() and name.isdigit() and int(name) <= MAX_VERSION):
            continue
        if os.path.isdir(path) and (not settings.lite or lite_files(path)):
            found[int(name)] = path
    if settings.latest is not None:
        wanted = sorted(found)[-settings.latest :]
    elif settings.versions is not None:
        wanted = sorted(found.keys() & settings.versions)
    else:
        wanted = sorted(found)
    return {version: found[version] for version in wanted}


def lite_files(path: str) -> list[str]:
    """The TensorFlow Lite files in a version's directory; of a SavedModel none.

    Raises:
      OSError: the directory cannot be read.
    """
    names = sorted(os.listdir(path))
    if "saved_model.pb" in names:
        return []
    return [os.path.join(path, name) for name in names if name.endswith(_LITE_ENDING)]


def find_models(folder: str) -> list[ModelSettings]:
    """The models below ``folder``: its directories that hold a version, by name.

    A TensorFlow Lite file takes texts too: as the model NAME_text, if that is no directory.

    Raises:
      InputError: there is none, or ``folder`` cannot be read.
    """
    try:
        names = sorted(os.listdir(folder))
        paths = {name: os.path.abspath(os.path.join(folder, name)) for name in names}
        models = [ModelSettings(name, path) for name, path in paths.items() if os.path.isdir(path)]
        found = [model for model in models if _may_hold_versions(model)]
        names = [model.name + TEXT_ENDING for model in found]
        texts = [
            ModelSettings(name, model.base_path, lite=True)
            for name, model in zip(names, found, strict=True)
            if name not in paths
        ]
        found += [model for model in texts if _may_hold_versions(model)]
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror}).") from None
    if not found:
        raise InputError(f"{folder}: holds no model (a directory NAME with versions 1, 2, ...).")
    return found


def _may_hold_versions(model: ModelSettings) -> bool:
    try:
        return bool(list_versions(model))
    except OSError:
        return not model.lite  # it cannot be read now: a model whose versions may come


def fingerprint(path: str) -> Fingerprint:
    """Names, sizes, times and modes of the files below ``path``.

    A version that could not be loaded is tried again when they change.
    """
    found = set()
    for folder, _, names in os.walk(path):
        for name in names:
            file = os.path.join(folder, name)
            try:
                status = os.stat(file)
            except OSError:
                continue
            found.add((file, status.st_size, status.st_mtime_ns, status.st_mode))
    return frozenset(found)
