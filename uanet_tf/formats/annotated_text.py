"""A text with the entities that a model suggests or that a person marked."""

import bisect
import dataclasses
import itertools
from typing import Any, NamedTuple

from uanet_lite import tag_schemes
from uanet_tf.errors import InputError
from uanet_tf.text.token_places import cut_at

SUGGESTED, ACCEPTED, REJECTED, SKIPPED = STATUSES = (
    "suggested",  # by a model; nobody has looked
    "accepted",  # a person's
    "rejected",  # a person found the marks wrong and did not correct them
    "skipped",  # a person did not decide
)


class Mark(NamedTuple):
    """An entity: characters ``start <= i < end`` of the text.

    Attributes:
      start: first character, a Unicode code point as in Python.
      end: the one after the last.
      label: the entity's type.
      score: confidence in [0, 1], None where it has none.
    """

    start: int
    end: int
    label: str
    score: float | None = None


@dataclasses.dataclass(frozen=True)
class AnnotatedText:
    """A text, its marks and where they come from; what every format is read to and written from.

    Attributes:
      text: the text.
      marks: entities in the order of the text.
      tokens: (start, end) of each token, where it was cut into tokens.
      status: one of ``STATUSES``.
      score: how much the text is worth annotating, or how sure the model is; None: not known.
      id: the user's own name for it.
      meta: whatever else belongs to it; JSON values.
      unlabelled: stretches that the file marks without saying as what; not among ``marks``.
      disputed: whether several persons marked it, and differently.

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

    def token_labels(self, scheme: str) -> tuple[list[str], list[str]]:
        """The text as tokens and their labels.

        Without ``tokens`` the text is cut at blanks. Tokens are also cut where a mark begins or
        ends, blanks at its ends apart; tokens of white space are left out.

        Raises:
          InputError: tokens overlap or are not in order, a mark holds none, or marks overlap.
        """
        tokens = self.tokens if self.tokens is not None else words(self.text)
        for (_, end), (start, _) in itertools.pairwise(tokens):
            if start < end:
                raise InputError(
                    f"tokens overlap: one begins at {start}, and the one before ends at {end}."
                )
        marks = self.clean_marks()
        places = [
            (start, end)
            for start, end in cut_at(tokens, (edge for mark in marks for edge in mark[:2]))
            if self.text[start:end].strip()
        ]
        spans = []
        for mark in marks:
            first = bisect.bisect_left(places, mark.start, key=lambda place: place[0])
            last = bisect.bisect_right(places, mark.end, key=lambda place: place[1])
            if first >= last:
                raise InputError(
                    f"{self.text[mark.start : mark.end]!r} (characters {mark.start} to {mark.end}) "
                    "holds no token."
                )
            spans.append(tag_schemes.Span(mark.label, first, last))
        labels = tag_schemes.encode_spans(spans, len(places), scheme)
        return [self.text[start:end] for start, end in places], labels


def words(text: str) -> tuple[tuple[int, int], ...]:
    """(start, end) of the pieces between blanks."""
    found, position = [], 0
    for piece in text.split():
        start = text.index(piece, position)
        position = start + len(piece)
        found.append((start, position))
    return tuple(found)


def join_tokens(tokens: list[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Tokens as a text with a blank between any two, and the offsets of each."""
    places, position = [], 0
    for token in tokens:
        places.append((position, position + len(token)))
        position += len(token) + 1
    return " ".join(tokens), tuple(places)
