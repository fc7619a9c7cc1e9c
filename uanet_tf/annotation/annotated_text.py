"""A text with the entities that a model suggests or that a person marked."""

import dataclasses
from typing import Any, NamedTuple

from uanet_tf.data import tag_schemes
from uanet_tf.errors import InputError

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

    def token_labels(self, scheme: str) -> tuple[list[str], list[str]]:
        """The text as tokens and their labels.

        Without ``tokens`` the text is cut at blanks. Any mark that begins or ends within a token
        is an error: labels of tokens cannot express it.

        Raises:
          InputError: a mark cuts a token, or marks overlap.
        """
        tokens = self.tokens if self.tokens is not None else words(self.text)
        first = {start: number for number, (start, _) in enumerate(tokens)}
        last = {end: number for number, (_, end) in enumerate(tokens)}
        spans = []
        for mark in self.marks:
            if mark.start not in first or mark.end not in last:
                raise InputError(
                    f"{self.text[mark.start : mark.end]!r} (characters {mark.start} to {mark.end}) "
                    "does not begin and end where tokens do."
                )
            spans.append(tag_schemes.Span(mark.label, first[mark.start], last[mark.end] + 1))
        labels = tag_schemes.encode_spans(spans, len(tokens), scheme)
        return [self.text[start:end] for start, end in tokens], labels


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
