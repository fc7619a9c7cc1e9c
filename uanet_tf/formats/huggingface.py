"""JSON of tokens and labels, as data sets of Hugging Face: {"tokens": [...], "labels": [...]}.

Labels are strings, or numbers whose names are given; also read under ``ner_tags``, ``tags`` and
``ner``, tokens under ``words``.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from uanet_tf.errors import InputError
from uanet_tf.formats.annotated_text import listed

_TOKEN_KEYS = ("tokens", "words")
_LABEL_KEYS = ("labels", "ner_tags", "tags", "ner")


class Tokens(NamedTuple):
    """Tokens with a label each."""

    tokens: list[str]
    labels: list[str]


def matches(record: dict[str, Any]) -> bool:
    """Whether a record is one of this format."""
    tokens = next((record[key] for key in _TOKEN_KEYS if key in record), None)
    return (
        isinstance(tokens, list)
        and all(isinstance(token, str) for token in tokens)
        and any(key in record for key in _LABEL_KEYS)
    )


def read(record: dict[str, Any], names: Sequence[str] = ()) -> Tokens:
    """One sentence; ``names`` are those of labels that are numbers."""
    tokens: Any = next((record[key] for key in _TOKEN_KEYS if key in record), None)
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        raise InputError('"tokens" must be a list of words.')
    key = next((key for key in _LABEL_KEYS if key in record), None)
    if key is None:
        raise InputError(
            f"has no labels under {listed(_LABEL_KEYS)}; its keys are {listed(record)}."
        )
    labels = record[key]
    if names and isinstance(labels, list):
        labels = [_name(label, names) for label in labels]
    is_list = isinstance(labels, list) and all(isinstance(each, str) and each for each in labels)
    if not is_list or len(labels) != len(tokens):
        raise InputError(
            f'"{key}" must be a list of as many strings as there are tokens (numbers of classes '
            "need their names: `label_names=O,B-PER,I-PER,...`)."
        )
    return Tokens(tokens, labels)


def _name(label: Any, names: Sequence[str]) -> str:
    if type(label) is not int or not 0 <= label < len(names):
        raise InputError(
            f"the label {label!r:.60} is none of 0 to {len(names) - 1}, for which `label_names` "
            "has names."
        )
    return names[label]
