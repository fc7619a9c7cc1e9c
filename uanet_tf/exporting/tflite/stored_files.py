"""The files appended to a TensorFlow Lite file's graph, read as untrusted data."""

import dataclasses
import math
import pathlib
from collections.abc import Sequence
from typing import Any

from uanet_lite.strict_json import Kinds, all_strings, has_type, parse_json, shown
from uanet_lite.tag_schemes import SCHEMES
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.data.vocabulary import FIRST_ID, PADDING_ID, UNKNOWN_ID
from uanet_tf.errors import InputError, one_line
from uanet_tf.exporting.tflite.metadata import read_files
from uanet_tf.exporting.vocabulary_files import CHARS, LABELS, WORDS
from uanet_tf.option import MAX_COUNT

SETTINGS = "settings.json"
FORMAT = 1
_TYPES: dict[str, Kinds] = {
    "threshold": (float, type(None)),
    "label_scheme": (str, type(None)),
    "max_tokens": int,
    "max_chars": int,
    "token_column": int,
    "normalize_digits": bool,
    "lowercase_words": bool,
    "padding_id": int,
    "unknown_id": int,
    "first_id": int,
}
_LEAST = {"max_tokens": 1, "max_chars": 2}
_IDS = {"padding_id": PADDING_ID, "unknown_id": UNKNOWN_ID, "first_id": FIRST_ID}


@dataclasses.dataclass(frozen=True)
class StoredFiles:
    """The data that tagging needs besides the graph.

    Attributes:
      settings: of ``settings.json``; those that tagging reads have the right types.
      labels: label k.
      words: words from id 2 on, normalised.
      chars: characters from id 2 on.
    """

    settings: dict[str, Any]
    labels: list[str]
    words: list[str]
    chars: list[str]


def read_stored_files(path: pathlib.Path) -> StoredFiles:
    """Reads the settings, labels and vocabulary of a file of ``export --tflite``.

    Raises:
      InputError: the file is missing, or holds something else.
    """
    files = read_files(path, (SETTINGS, LABELS, CHARS, WORDS))
    for name in (SETTINGS, LABELS, CHARS):
        if name not in files:
            raise InputError(f"{path} holds no {name}: name a file that export.py --tflite wrote.")
    try:
        settings = parse_json(files[SETTINGS])
        if not isinstance(settings, dict) or "format" not in settings:
            raise InputError(f"{SETTINGS} says no format")
        if settings["format"] != FORMAT:
            raise _OtherFormatError(
                f"{path} has the format {shown(settings['format'])}, and this version of uanet_tf "
                f"reads {FORMAT}: export the run again."
            )
        _check_settings(settings)
        words = settings["words"] if "words" in settings else _lines(files.get(WORDS, b""))
        _check_entries(words, "words")
        chars = [chr(int(line.split("\t")[0])) for line in _lines(files[CHARS])]
        _check_entries(chars, CHARS)
        labels = _lines(files[LABELS])
        _check_entries(labels, LABELS)
    except _OtherFormatError:
        raise
    except (ValueError, OverflowError) as error:
        raise InputError(f"{path} is damaged: {one_line(error)}.") from error
    return StoredFiles(settings, labels, words, chars)


class _OtherFormatError(InputError):
    """A file of another version, not a damaged one."""


def _check_settings(settings: dict[str, Any]) -> None:
    for name, kinds in _TYPES.items():
        if name not in settings:
            raise InputError(f"{SETTINGS} lacks {name!r}")
        if not has_type(settings[name], kinds):
            raise InputError(f"{name} in {SETTINGS} is {shown(settings[name])}")
    for name, least in _LEAST.items():
        if not least <= settings[name] <= MAX_COUNT:
            raise InputError(
                f"{name} in {SETTINGS} is {settings[name]}, not from {least} to {MAX_COUNT}"
            )
    for name, number in _IDS.items():
        if settings[name] != number:
            raise InputError(f"{name} in {SETTINGS} is {shown(settings[name])}, not {number}")
    gamma = settings["threshold"]
    if gamma is not None and not 0 <= float(gamma) < math.inf:
        raise InputError(f"threshold in {SETTINGS} is {shown(gamma)}")
    if settings["label_scheme"] not in (None, *SCHEMES):
        raise InputError(f"label_scheme in {SETTINGS} is {shown(settings['label_scheme'])}")
    # Older files have no tokenizer: theirs is the first kind.
    tokenizer = settings.setdefault("tokenizer", Tokenizer().to_dict())
    if not isinstance(tokenizer, dict):
        raise InputError(f"tokenizer in {SETTINGS} is {shown(tokenizer)}")
    Tokenizer.from_dict(tokenizer)


def _check_entries(entries: Sequence[str], name: str) -> None:
    if not isinstance(entries, list) or not all_strings(entries):
        raise InputError(f"{name} is no list of texts")
    if len(set(entries)) < len(entries):
        raise InputError(f"an entry appears twice in {name}")


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8").split("\n")[:-1]
