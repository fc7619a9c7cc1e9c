"""What is behind the graph of a TensorFlow Lite file of ``export.py --tflite``, untrusted."""

import dataclasses
import io
import math
import os
import zipfile
from typing import Any

from uanet_lite.input_error import InputError
from uanet_lite.strict_json import Kinds, all_strings, has_type, parse_json, shown
from uanet_lite.tag_schemes import SCHEMES
from uanet_lite.token_ids import FIRST_ID, PADDING_ID, UNKNOWN_ID
from uanet_lite.tokenizer import Tokenizer

FORMAT = 1
SETTINGS, LABELS, WORDS, CHARS = "settings.json", "labels.txt", "words.txt", "chars.txt"
_TYPES: dict[str, Kinds] = {
    "threshold": (float, type(None)),
    "label_scheme": (str, type(None)),
    "max_tokens": int,
    "max_chars": int,
    "token_column": str,
    "tokenizer": dict,
    "normalize_digits": bool,
    "lowercase_words": bool,
    "padding_id": int,
    "unknown_id": int,
    "first_id": int,
}
_LEAST = {"max_tokens": 1, "max_chars": 2}
_MOST = 1_000_000
_IDS = {"padding_id": PADDING_ID, "unknown_id": UNKNOWN_ID, "first_id": FIRST_ID}


@dataclasses.dataclass(frozen=True)
class ModelFile:
    """The files appended to the graph of a .tflite file; docs/serving.md describes the settings.

    Labels are in the scheme of the training file, normalised words and characters from id 2 on.
    """

    settings: dict[str, Any]
    labels: list[str]
    words: list[str]
    chars: list[str]
    tokenizer: Tokenizer


def read_model_file(path: str | os.PathLike[str], content: bytes | None = None) -> ModelFile:
    """Reads the files appended to the graph of a .tflite file, or of its ``content``.

    Raises:
      InputError: no such file, or one that ``export.py --tflite`` did not write.
    """
    files = _read_archive(path, content)
    for name in (SETTINGS, LABELS, CHARS):
        if name not in files:
            raise InputError(f"{path} holds no {name}: name a file that export.py --tflite wrote.")
    try:
        settings = parse_json(files[SETTINGS])
        if not isinstance(settings, dict) or "format" not in settings:
            raise ValueError(f"{SETTINGS} says no format")
        if settings["format"] == FORMAT:
            return _model_file(settings, files)
    except (ValueError, OverflowError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise InputError(f"{path} is damaged: {reason}.") from error
    raise InputError(
        f"{path} has the format {shown(settings['format'])}, and this version reads {FORMAT}: "
        "export the run again."
    )


def _read_archive(path: str | os.PathLike[str], content: bytes | None) -> dict[str, bytes]:
    names = (SETTINGS, LABELS, WORDS, CHARS)
    try:
        with zipfile.ZipFile(path if content is None else io.BytesIO(content)) as archive:
            items = [item for item in archive.infolist() if item.filename in names]
            # As they are written; what is packed could unpack to any size.
            stored = all(item.compress_type == zipfile.ZIP_STORED for item in items)
            if not stored or len({item.filename for item in items}) < len(items):
                raise zipfile.BadZipFile
            return {item.filename: archive.read(item) for item in items}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, ValueError):
        raise InputError(
            f"{path} is not a TensorFlow Lite model with labels and vocabulary: "
            "name one that export.py --tflite wrote."
        ) from None


def _model_file(settings: dict[str, Any], files: dict[str, bytes]) -> ModelFile:
    """Raises ValueError for what is missing or wrong; the text names it."""
    _check_settings(settings)
    words = settings["words"] if "words" in settings else _lines(files.get(WORDS, b""))
    chars = [chr(int(line.split("\t")[0])) for line in _lines(files[CHARS])]
    labels = _lines(files[LABELS])
    for name, entries in {f"words in {SETTINGS}": words, CHARS: chars, LABELS: labels}.items():
        if not isinstance(entries, list) or not all_strings(entries):
            raise ValueError(f"{name} is no list of strings")
        if len(set(entries)) < len(entries):
            raise ValueError(f"an entry appears twice in {name}")
    return ModelFile(settings, labels, words, chars, Tokenizer.from_dict(settings["tokenizer"]))


def _check_settings(settings: dict[str, Any]) -> None:
    for name, kinds in _TYPES.items():
        if name not in settings:
            raise ValueError(f"{SETTINGS} lacks {name!r}")
        if not has_type(settings[name], kinds):
            raise ValueError(f"{name} in {SETTINGS} is {shown(settings[name])}")
    for name, least in _LEAST.items():
        if not least <= settings[name] <= _MOST:
            raise ValueError(
                f"{name} in {SETTINGS} is {settings[name]}, not from {least} to {_MOST}"
            )
    for name, number in _IDS.items():
        if settings[name] != number:
            raise ValueError(f"{name} in {SETTINGS} is {shown(settings[name])}, not {number}")
    gamma = settings["threshold"]
    if gamma is not None and not 0 <= float(gamma) < math.inf:
        raise ValueError(f"threshold in {SETTINGS} is {shown(gamma)}")
    if settings["label_scheme"] not in (None, *SCHEMES):
        raise ValueError(f"label_scheme in {SETTINGS} is {shown(settings['label_scheme'])}")


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8").split("\n")[:-1]
