"""A labelled stretch of a text, with its place and its scores."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class Entity(NamedTuple):
    """A labelled stretch of a text, the same in Python, in JSON and from a server.

    Attributes:
      text: ``sentence.text[start:end]``.
      type: such as "ORG".
      start: its first character in the text.
      end: the character after its last.
      token_start: position of its first token in the sentence.
      token_end: position of the token after its last.
      confidence: probability that it is right, in [0, 1]: see ``entity_confidence``.
      uncertainty: the highest of its tokens, nats.
      accepted: whether it is sure enough for the run's target precision; None: it has none.
    """

    text: str
    type: str
    start: int
    end: int
    token_start: int
    token_end: int
    confidence: float
    uncertainty: float
    accepted: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: scores rounded to six decimals; no ``accepted`` if None."""
        scores = {"confidence": self.confidence, "uncertainty": self.uncertainty}
        values = self._asdict() | {name: round(value, 6) for name, value in scores.items()}
        if self.accepted is None:
            del values["accepted"]
        return values


def entity_confidence(confidences: Sequence[float]) -> float:
    """The confidence of an entity from those of its tokens: the lowest."""
    return min(confidences)
