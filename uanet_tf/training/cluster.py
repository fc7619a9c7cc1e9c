"""The processes of a training run on several machines, as TF_CONFIG names them."""

import dataclasses
import json
from typing import Any

from uanet_tf.errors import InputError

_CHIEF, _WORKER = "chief", "worker"
_EXAMPLE = (
    '{"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}'
)


@dataclasses.dataclass(frozen=True)
class Cluster:
    """This process among the others.

    Attributes:
      addresses: {"chief" or "worker": host:port of each}.
      task: the key of this process.
      index: its place in the list.
    """

    addresses: dict[str, list[str]]
    task: str
    index: int

    @property
    def is_chief(self) -> bool:
        """Whether it scores and writes files: the chief, or without one the first worker."""
        return self.task == (_CHIEF if _CHIEF in self.addresses else _WORKER) and self.index == 0


def read_cluster(text: str) -> Cluster:
    """Reads the value of TF_CONFIG.

    Raises:
      InputError: it is missing, or not what TensorFlow documents.
    """
    if not text:
        raise InputError(
            "--strategy=multi_worker needs the environment variable TF_CONFIG, which names all "
            f"workers and which of them this one is, such as {_EXAMPLE}."
        )
    try:
        cluster = _parse(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"TF_CONFIG is not of the form {_EXAMPLE} ({_reason(error)}). Received: {text:.200}"
        ) from error
    return cluster


def _parse(value: Any) -> Cluster:
    addresses = {str(name): list(map(_address, part)) for name, part in value["cluster"].items()}
    task, index = value["task"]["type"], int(value["task"]["index"])
    if set(addresses) - {_CHIEF, _WORKER}:
        raise ValueError("a cluster has chief and worker")
    if len(addresses.get(_CHIEF, [])) > 1:
        raise ValueError("there is one chief at most")
    if task not in addresses or not 0 <= index < len(addresses[task]):
        raise ValueError("its task is not in its cluster")
    return Cluster(addresses, task, index)


def _address(value: Any) -> str:
    host, _, port = str(value).rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"{value!r:.80} is not host:port")
    return str(value)


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return "it is not JSON"
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    return str(error)
