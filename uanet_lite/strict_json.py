"""JSON that somebody else may have written: bounded, and of known keys and types only."""

import json
import os
import pathlib
import re
import stat
from collections.abc import Iterable, Mapping
from typing import Any

from uanet_lite.input_error import InputError

# Some 5 million words with their counts. Python takes about 25 times the size of a text of "[]".
MAX_BYTES = 2**27
MAX_SHOWN = 60  # characters of a foreign text that an error repeats

# Halves of characters, which no encoding can write; JSON can, and mostly beside the other half.
_HALF = re.compile(r"[\ud800-\udfff]")
_HALF_IN_JSON = re.compile(r"\\u[dD][89a-fA-F]")

Kinds = type | tuple[type, ...]


def read_json(path: pathlib.Path, max_bytes: int = MAX_BYTES) -> Any:
    """Reads a JSON file; raises what ``read_bytes`` and ``parse_json`` do."""
    return parse_json(read_bytes(path, max_bytes))


def read_bytes(path: pathlib.Path, max_bytes: int = MAX_BYTES) -> bytes:
    """Reads a regular file; a pipe or a device, which could block, is refused.

    Raises:
      OSError: it cannot be read.
      ValueError: it is no regular file, or too large.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise IsADirectoryError("it is a directory")
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError("it is not a regular file")
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ValueError(f"it has more than {max_bytes:,} bytes")
    return data


def parse_json(data: bytes | str) -> Any:
    """Parses JSON in UTF-8. Repeated keys and numbers that JSON does not have are refused.

    Raises:
      ValueError: it is not JSON, or nested too deeply; the text is one line.
    """
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def parse_record(text: str) -> Any:
    """Parses JSON of another program, less strictly: keys may repeat, a number may be NaN.

    Raises:
      ValueError: it is not JSON, nested too deeply, or has text that cannot be written as UTF-8;
        the message is one line.
    """
    try:
        value = json.loads(text)
        if _HALF_IN_JSON.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it holds half of a character") from None
    return value


def json_text(value: Any) -> str:
    """The value as JSON on one line, with characters as they are; all escaped if one is a half."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def check_fields(
    values: Any,
    required: Mapping[str, Kinds],
    optional: Mapping[str, Kinds] | None = None,
    *,
    where: str,
) -> dict[str, Any]:
    """Returns ``values`` if it is an object of just these keys with values of these types.

    Args:
      required: {key: type or types}. A bool is not an int; an int will do as a float.
      optional: the same of keys that may be missing.

    Raises:
      InputError: it is anything else; calls it ``where``.
    """
    if type(values) is not dict:
        raise InputError(f"{where} is not a JSON object")
    known = {**required, **(optional or {})}
    for key in values:
        if key not in known:
            raise InputError(f"{where} has the unknown key {shown(key)}")
    for key in required:
        if key not in values:
            raise InputError(f"{where} lacks {key!r}")
    for key, value in values.items():
        if not has_type(value, known[key]):
            raise InputError(f"{where} has {shown(value)} for {key!r}, not {_names(known[key])}")
    return values


def has_type(value: Any, kinds: Kinds) -> bool:
    """Whether the value has just this type, or one of these; an int will do as a float."""
    allowed = kinds if isinstance(kinds, tuple) else (kinds,)
    return type(value) in allowed or (type(value) is int and float in allowed)


def all_strings(values: Iterable[Any]) -> bool:
    """Whether all values are texts that can be written as UTF-8."""
    return all(type(value) is str and not _HALF.search(value) for value in values)


def shown(value: Any) -> str:
    """A foreign value for a message: short, and without control characters."""
    text = repr(value if not isinstance(value, list | dict) else type(value).__name__)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def _names(kinds: Kinds) -> str:
    allowed = kinds if isinstance(kinds, tuple) else (kinds,)
    return " or ".join("null" if kind is type(None) else kind.__name__ for kind in allowed)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key appears twice in one object")
    return values


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
