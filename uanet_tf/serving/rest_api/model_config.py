"""Which models to serve: TF Serving's --model_config_file, a text protocol buffer.

The messages of tensorflow_serving/config/model_server_config.proto are described here field by
field, so that protobuf's own parser reads the file and reports line and column of a fault.
"""

import dataclasses
import os
from typing import Any

from google.protobuf import text_format

from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api.messages import PACKAGE, Field, Messages, new_message

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
        raise InputError(f"{path}:{_plain(error)}") from None
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


def _plain(error: text_format.ParseError) -> str:
    """``line:column: what``, without our own names of the messages."""
    return str(error).replace(f"{PACKAGE}.", "")
