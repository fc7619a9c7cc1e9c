"""Reading a TensorFlow Lite file of ``export.py --tflite``: settings, labels and vocabulary."""

import dataclasses
import io
import json
import math
import os
import zipfile
from typing import Any

from uanet_lite.input_error import InputError
from uanet_lite.tag_schemes import SCHEMES
from uanet_lite.token_ids import FIRST_ID, PADDING_ID, UNKNOWN_ID
from uanet_lite.tokenizer import Tokenizer

FORMAT = 1
_SETTINGS, _LABELS, _WORDS, _CHARS = "settings.json", "labels.txt", "words.txt", "chars.txt"
_NAMES = (_SETTINGS, _LABELS, _WORDS, _CHARS)
_IDS = {"padding_id": PADDING_ID, "unknown_id": UNKNOWN_ID, "first_id": FIRST_ID}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "max_tokens": int,
    "max_chars": int,
    "token_column": int,
    "threshold": (int, float, type(None)),
    "normalize_digits": bool,
    "lowercase_words": bool,
}
_LEAST = {"max_tokens": 1, "max_chars": 2}


@dataclasses.dataclass(frozen=True)
class ModelFile:
    """The files appended to the graph of a .tflite file.

    Attributes:
      settings: settings.json, described in docs/serving.md.
      labels: names of the labels, in the scheme of the training file.
      words: words from id 2 on, normalised.
      chars: characters from id 2 on.
      tokenizer: cuts texts like the training data.
    """

    settings: dict[str, Any]
    labels: list[str]
    words: list[str]
    chars: list[str]
    tokenizer: Tokenizer


def read_model_file(path: str | os.PathLike[str], content: bytes | None = None) -> ModelFile:
    """Reads the files appended to the graph of a .tflite file.

    Args:
      path: of the file.
      content: of the file, used in its place.

    Raises:
      InputError: no such file, or one that ``export.py --tflite`` did not write.
    """
    files = _read_archive(path, content)
    for name in (_SETTINGS, _LABELS, _CHARS):
        if name not in files:
            raise InputError(f"{path} holds no {name}: name a file that export.py --tflite wrote.")
    try:
        settings = _checked(json.loads(files[_SETTINGS]))
        words = settings["words"] if "words" in settings else _lines(files.get(_WORDS, b""))
        chars = [chr(int(line.split("\t")[0])) for line in _lines(files[_CHARS])]
        labels = _lines(files[_LABELS])
        # Older files have no tokenizer: theirs is the first kind.
        named = settings.get("tokenizer")
        tokenizer = Tokenizer() if named is None else Tokenizer.from_dict(named)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise InputError(f"{path} is damaged: {' '.join(str(error).split())[:200]}") from None
    if settings["format"] != FORMAT:
        raise InputError(
            f"{path} has the format {settings['format']!r}, and this version of uanet_lite reads "
            f"{FORMAT}: install the version for it, or export the run again."
        )
    return ModelFile(settings, labels, words, chars, tokenizer)


def _read_archive(path: str | os.PathLike[str], content: bytes | None) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path if content is None else io.BytesIO(content)) as archive:
            items = [item for item in archive.infolist() if item.filename in _NAMES]
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


def _checked(settings: Any) -> dict[str, Any]:
    """The settings, each of its type.

    Raises:
      ValueError: a setting is missing or wrong; the text names it.
    """
    if not isinstance(settings, dict) or "format" not in settings:
        raise ValueError(f"{_SETTINGS} says no format.")
    if settings["format"] != FORMAT:
        return settings  # the other settings may be different
    for name, kinds in _TYPES.items():
        value = settings.get(name, KeyError)
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise ValueError(f"{name} in {_SETTINGS} is {value!r:.40}.")
    for name, least in _LEAST.items():
        if settings[name] < least:
            raise ValueError(
                f"{name} in {_SETTINGS} is {settings[name]}, and the least is {least}."
            )
    for name, number in _IDS.items():
        if settings.get(name) != number:
            raise ValueError(f"{name} in {_SETTINGS} is {settings.get(name)!r:.40}, not {number}.")
    if "label_scheme" not in settings or settings["label_scheme"] not in (None, *SCHEMES):
        raise ValueError(f"label_scheme in {_SETTINGS} is {settings.get('label_scheme')!r:.40}.")
    if settings["threshold"] is not None and not 0 <= float(settings["threshold"]) < math.inf:
        raise ValueError(f"threshold in {_SETTINGS} is {settings['threshold']!r:.40}.")
    words = settings.get("words", [])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"words in {_SETTINGS} is no list of strings.")
    return settings


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8").split("\n")[:-1]
