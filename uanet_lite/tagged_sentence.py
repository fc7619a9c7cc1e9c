"""The answers for sentences: labels, spans and the uncertainty of each token."""

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, overload

from uanet_lite import answers, sentence_html, tag_schemes
from uanet_lite.sentence import Sentence, joined_offsets

if TYPE_CHECKING:  # what reads no array needs no NumPy
    import numpy as np


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


@dataclasses.dataclass(frozen=True, repr=False)
class TaggedSentence:
    """A sentence with its labels, token by token.

    All lists have one entry per token. Labels are in the scheme of the training file and
    form valid sequences: the model's labels are read leniently as spans and rewritten.

    Attributes:
      tokens: the words as given.
      labels: the answer: the refined label where the gate opened, else the draft's.
      draft_labels: the labels of the draft.
      refined_labels: the labels of the refiner; where the model's ``refine_all`` is off, the
        draft's for tokens up to Gamma, but for repairs of an invalid sequence.
      uncertainty: uncertainty of the draft, nats.
      confidence: probability of the label given, in [0, 1].
      refined: whether the gate opened, that is, the uncertainty exceeded the threshold.
      scheme: tag scheme of the labels ("IOB2", ...), None for labels of single tokens.
      text: the text given; for a list of words, the words joined by single blanks.
      starts: first character of each token in ``text``.
      ends: the character after the last of each.
      accepted: whether the label is sure enough for the run's target precision; None: it has none.
      mutual_information: the part of the uncertainty that comes from disagreement of the samples,
        nats; None, unless the model's ``return_mutual_information`` is on.
      probabilities: [T, C] over the model's ``class_names``, of the distribution that decided each
        label, not calibrated; None, unless the model's ``return_probabilities`` is on.
      alternatives: the most probable labels of each token, [(label, probability), ...], most
        probable first, as many as the model's ``return_alternatives`` asks for; None: it does
        not. The probability of the label given is its confidence. The others share the rest in
        proportion to the model's own probabilities, but none that the model finds less probable
        than the label given gets more than it: so that order stays, and all together are at most 1.
    """

    tokens: list[str]
    labels: list[str]
    draft_labels: list[str]
    refined_labels: list[str]
    uncertainty: list[float]
    confidence: list[float]
    refined: list[bool]
    scheme: str | None = None
    text: str | None = None
    starts: list[int] = dataclasses.field(default_factory=list)
    ends: list[int] = dataclasses.field(default_factory=list)
    accepted: list[bool] | None = None
    mutual_information: list[float] | None = None
    probabilities: "np.ndarray | None" = dataclasses.field(default=None, compare=False)
    alternatives: list[list[tuple[str, float]]] | None = None

    def __post_init__(self) -> None:
        if self.text is None:
            text, starts, ends = joined_offsets(self.tokens)
            for name, value in (("text", text), ("starts", starts), ("ends", ends)):
                object.__setattr__(self, name, value)

    @classmethod
    def of(cls, sentence: Sentence, scheme: str | None, fields: dict[str, Any]) -> "TaggedSentence":
        """The answer for a sentence, at the places of its text.

        Args:
          sentence: as it was read.
          scheme: tag scheme of the labels.
          fields: the attributes of ``answers.TOKEN_ANSWERS`` that there are.
        """
        tokens = list(sentence.tokens)
        if sentence.text is None:
            return cls(tokens, scheme=scheme, **fields)
        starts, ends = list(sentence.starts), list(sentence.ends)
        return cls(tokens, scheme=scheme, text=sentence.text, starts=starts, ends=ends, **fields)

    def part(self, start: int, end: int) -> "TaggedSentence":
        """The tokens ``start <= i < end`` with their answers, joined by single blanks."""
        kept: dict[str, Any] = {}
        for row in answers.TOKEN_ANSWERS:
            values = getattr(self, row.name)
            kept[row.name] = None if values is None else values[start:end]
        return TaggedSentence(self.tokens[start:end], scheme=self.scheme, **kept)

    @property
    def entities(self) -> list[Entity]:
        """Entities with their places and scores; [] where labels are no chunks."""
        return [self._entity(span) for span in self.spans]

    @property
    def spans(self) -> list[tag_schemes.Span]:
        """Entities as Span(type, start, end), tokens ``start <= i < end``; [] without scheme."""
        if self.scheme is None:
            return []
        return list(tag_schemes.decode_spans(self.labels, self.scheme))

    def is_refused(self, start: int, end: int) -> bool:
        """Whether the tokens ``start <= i < end`` are too unsure for the target precision."""
        return self.accepted is not None and not all(self.accepted[start:end])

    def __len__(self) -> int:
        return len(self.tokens)

    def __str__(self) -> str:
        """``[ORG Chelsea] beat [ORG Real Madrid]``; without scheme ``They/PRP left/VBD``."""
        if self.scheme is None:
            pairs = zip(self.tokens, self.labels, strict=True)
            return " ".join(f"{token}/{label}" for token, label in pairs)
        pieces, position = [], 0
        for span in self.spans:
            pieces += self.tokens[position : span.start]
            pieces.append(f"[{span.type} {' '.join(self.tokens[span.start : span.end])}]")
            position = span.end
        return " ".join(pieces + self.tokens[position:])

    def __repr__(self) -> str:
        return f"<TaggedSentence: {self}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: scores rounded to six decimals, offsets in characters."""
        return answers.to_json(self)

    def _entity(self, span: tag_schemes.Span) -> Entity:
        start, end = self.starts[span.start], self.ends[span.end - 1]
        return Entity(
            text=(self.text or "")[start:end],
            type=span.type,
            start=start,
            end=end,
            token_start=span.start,
            token_end=span.end,
            **answers.entity_scores(self, span.start, span.end),
        )

    def _repr_html_(self) -> str:
        """HTML for notebooks: uncertain tokens shaded, entities underlined with their type."""
        return sentence_html.sentence_html(self)


class TaggedSentences(list[TaggedSentence]):
    """A list of tagged sentences that shows itself in notebooks, with a legend."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> TaggedSentence: ...
    @overload
    def __getitem__(self, index: slice) -> "TaggedSentences": ...
    def __getitem__(self, index):
        chosen = super().__getitem__(index)
        return TaggedSentences(chosen) if isinstance(index, slice) else chosen

    def __add__(self, other):
        return TaggedSentences(super().__add__(other))

    def __radd__(self, other):  # sum([...], [])
        return TaggedSentences([*other, *self]) if isinstance(other, list) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> "TaggedSentences":
        return TaggedSentences(super().__mul__(times))

    def __rmul__(self, times: SupportsIndex) -> "TaggedSentences":
        return self * times

    def copy(self) -> "TaggedSentences":
        """A list of its own with the same sentences."""
        return TaggedSentences(self)

    def _repr_html_(self) -> str:
        return sentence_html.sentences_html(self)
