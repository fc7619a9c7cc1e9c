"""A text with the entities that a model suggests or that a person marked."""

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from uanet_lite.strict_json import shown
from uanet_tf.errors import InputError

SUGGESTED, ACCEPTED, REJECTED, SKIPPED = STATUSES = (
    "suggested",  # by a model; nobody has looked
    "accepted",  # a person's
    "rejected",  # a person found the marks wrong and did not correct them
    "skipped",  # a person did not decide
)


class Mark(NamedTuple):
    """An entity: characters ``start <= i < end`` of the text, Unicode code points as in Python.

    Attributes:
      label: the entity's type.
      score: confidence in [0, 1] of a suggestion.
      place: file and line, where the mark has one of its own.
    """

    start: int
    end: int
    label: str
    score: float | None = None
    place: str = ""


@dataclasses.dataclass(frozen=True)
class AnnotatedText:
    """A text, its marks and where they come from; what every format is read to and written from.

    Attributes:
      marks: entities in the order of the text.
      tokens: (start, end) of each token, where it was cut into tokens.
      status: one of ``STATUSES``.
      score: how much a suggested text is worth annotating; None: not known.
      id: the user's own name for a suggested text.
      meta: whatever else belongs to it, under no name that is ``RESERVED``; JSON values.
      unlabelled: stretches that the file marks without saying as what; not among ``marks``.
      disputed: whether several persons marked it, and differently.
      counted: how the file counts its offsets, if not in code points, see ``offsets.mend``.

    Raises:
      InputError: a mark or token outside the text or empty, or an unknown status.
    """

    text: str
    marks: tuple[Mark, ...] = ()
    tokens: tuple[tuple[int, int], ...] | None = None
    status: str = SUGGESTED
    score: float | None = None
    id: int | str | None = None
    meta: dict[str, Any] = dataclasses.field(default_factory=dict)
    unlabelled: int = 0
    disputed: bool = False
    counted: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise InputError(f"the text is no string but {type(self.text).__name__}")
        if self.status not in STATUSES:
            raise InputError(f"status must be one of {', '.join(STATUSES)}: {self.status!r}.")
        for start, end in [mark[:2] for mark in self.marks] + list(self.tokens or ()):
            if not 0 <= start < end <= len(self.text):
                raise InputError(
                    f"characters {start} to {end} are no part of a text of {len(self.text)}."
                )

    def clean_marks(self) -> tuple[Mark, ...]:
        """The marks without blanks at their ends; those of nothing else, and repeated ones, go."""
        found: dict[tuple[int, int, str], Mark] = {}
        for mark in self.marks:
            inside = self.text[mark.start : mark.end]
            start = mark.end - len(inside.lstrip())
            end = mark.start + len(inside.rstrip())
            if start < end:
                found.setdefault((start, end, mark.label), mark._replace(start=start, end=end))
        return tuple(found.values())


def marks_at(spans: Iterable[tuple[int, int]], labels: Iterable[str]) -> tuple[Mark, ...]:
    """Marks at (start, end), each with its label, in the order of the text."""
    marks = [Mark(*span, label) for span, label in zip(spans, labels, strict=True)]
    return tuple(sorted(marks, key=lambda mark: mark[:2]))


def needed(record: dict[str, Any], keys: Sequence[str], what: str) -> Any:
    """The first list under these keys that is not empty; [] where all are, or null.

    Raises InputError for a record without them, which may have its marks elsewhere, or no list.
    """
    have = [key for key in keys if key in record]
    if not have:
        raise InputError(
            f"has none of the keys that {what} has its marks under ({listed(keys)}); its keys are "
            f"{listed(record)}."
        )
    # An empty list says nothing where another key has marks.
    key = next((key for key in have if record[key] and isinstance(record[key], list)), have[0])
    value = record[key]
    if value is not None and not isinstance(value, list):
        raise InputError(f'"{key}" must be a list. Received: {shown(value)}')
    return value or []


def text_of(record: dict[str, Any], keys: Sequence[str] = ("text",)) -> str:
    """The text under the first of these keys; raises InputError if there is none."""
    text = next((record[key] for key in keys if key in record), None)
    if not isinstance(text, str):
        raise InputError(f"has no text under {listed(keys)}; its keys are {listed(record)}.")
    return text


def type_of(value: Any) -> str:
    """The type of a mark, as a file has it; raises InputError unless a number or unblank text."""
    if type(value) not in (str, int) or not str(value).strip():
        raise InputError(f"a mark has no type: {shown(value)}")
    return str(value)


def offset_of(value: Any) -> int:
    """An offset, as a file has it; raises InputError if it is no whole number."""
    if type(value) not in (int, float) or value != int(value):
        raise InputError(f"an offset must be a whole number. Received: {shown(value)}")
    return int(value)


def token_places(value: Any) -> tuple[tuple[int, int], ...] | None:
    """(start, end) of tokens as our own records have them; None: it is something else."""
    if not isinstance(value, list) or not all(
        isinstance(place, list) and [type(edge) for edge in place] == [int, int] for place in value
    ):
        return None
    return tuple((start, end) for start, end in value)


def listed(keys: Iterable[str]) -> str:
    """Keys in a message."""
    return ", ".join(f'"{key}"' for key in itertools.islice(keys, 12)) or "none"


def join_tokens(tokens: list[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Tokens as a text with a blank between any two, and the offsets of each."""
    places, position = [], 0
    for token in tokens:
        places.append((position, position + len(token)))
        position += len(token) + 1
    return " ".join(tokens), tuple(places)
