"""A labelled stretch of a text, with its place and its scores."""

from typing import Any, NamedTuple

from uanet_lite import answers


class Entity(NamedTuple):
    """A labelled stretch of a text, the same in Python, in JSON and from a server.

    Attributes:
      text: ``sentence.text[start:end]``.
      type: such as "ORG".
      start: its first character in the text.
      end: the character after its last.
      token_start: position of its first token in the sentence.
      token_end: position of the token after its last.
      confidence: probability that it is right, in [0, 1]: the lowest of its tokens.
      uncertainty: the highest of its tokens, nats.
      accepted: whether it is sure enough for the run's target precision; None: it has none.
      mutual_information: the highest of its tokens, nats; None: it was not asked for.
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
    mutual_information: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: scores rounded to six decimals; nothing that is None."""
        return answers.entity_to_json(self)


def is_refused(sentence: Any, start: int, end: int) -> bool:
    """Whether tokens of a TaggedSentence are too unsure for its run's target precision."""
    return sentence.accepted is not None and not all(sentence.accepted[start:end])
