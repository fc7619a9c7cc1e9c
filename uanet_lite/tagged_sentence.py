"""The answers for one sentence."""

import dataclasses
from typing import Any, NamedTuple

from uanet_lite import answers
from uanet_lite.tag_schemes import Span, decode_spans


class Entity(NamedTuple):
    """A labelled stretch of a text.

    Attributes:
      text: ``text[start:end]`` of the sentence.
      type: such as "ORG".
      start: first character in the text.
      end: the character after its last.
      token_start: position of its first token.
      token_end: position of the token after its last.
      confidence: the lowest confidence of its tokens.
      uncertainty: the highest uncertainty of its tokens, nats.
      accepted: whether it is sure enough for the run's target precision; None: it has none.
      mutual_information: the highest of its tokens, nats; None: the file does not give it.
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


@dataclasses.dataclass(frozen=True, repr=False)
class TaggedSentence:
    """A sentence with its labels; all lists have one entry per token.

    Attributes:
      text: the text given; of a list of words, the words joined by single blanks.
      tokens: its words.
      starts: first character of each token in ``text``.
      ends: the character after the last of each token.
      labels: the answer: the refined label where the gate opened, else the draft's.
      draft_labels: the labels of the draft.
      refined_labels: the labels of the refiner; of tokens that were not refined, the draft's.
      uncertainty: uncertainty of the draft, nats.
      confidence: probability of the label given, in [0, 1].
      refined: whether the gate opened, that is, the uncertainty exceeded the threshold.
      scheme: tag scheme of the labels ("IOB2", ...), None for labels of single tokens.
      accepted: whether the label is sure enough for the run's target precision; None: it has none.
      mutual_information: the part of the uncertainty that comes from disagreement of the samples,
        nats; None: the file does not give it.
    """

    text: str
    tokens: list[str]
    starts: list[int]
    ends: list[int]
    labels: list[str]
    draft_labels: list[str]
    refined_labels: list[str]
    uncertainty: list[float]
    confidence: list[float]
    refined: list[bool]
    scheme: str | None
    accepted: list[bool] | None = None
    mutual_information: list[float] | None = None

    @property
    def spans(self) -> list[Span]:
        """Entities as Span(type, start, end), tokens ``start <= i < end``; [] without scheme."""
        return [] if self.scheme is None else decode_spans(self.labels, self.scheme)

    @property
    def entities(self) -> list[Entity]:
        """Entities with character offsets and scores; [] where labels are no chunks."""
        found = []
        for kind, first, end_token in self.spans:
            start, end = self.starts[first], self.ends[end_token - 1]
            scores = answers.entity_scores(self, first, end_token)
            places = start, end, first, end_token
            found.append(Entity(self.text[start:end], kind, *places, **scores))
        return found

    def __len__(self) -> int:
        return len(self.tokens)

    def __str__(self) -> str:
        """``[ORG Chelsea] beat [ORG Real Madrid]``; without scheme ``They/PRP left/VBD``."""
        if self.scheme is None:
            pairs = zip(self.tokens, self.labels, strict=True)
            return " ".join(f"{token}/{label}" for token, label in pairs)
        pieces, position = [], 0
        for kind, start, end in self.spans:
            pieces += self.tokens[position:start]
            pieces.append(f"[{kind} {' '.join(self.tokens[start:end])}]")
            position = end
        return " ".join(pieces + self.tokens[position:])

    def __repr__(self) -> str:
        return f"<TaggedSentence: {self}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: uncertainty and confidence rounded to six decimals."""
        return answers.to_json(self)
