"""The answers for sentences: labels, spans and the uncertainty of each token."""

import dataclasses
from typing import Any, SupportsIndex, overload

from uanet_tf.data import tag_schemes
from uanet_tf.tagging import sentence_html


@dataclasses.dataclass(frozen=True, repr=False)
class TaggedSentence:
    """A sentence with its labels, token by token.

    All lists have one entry a token. Labels are in the scheme of the training file and
    form valid sequences: what the model gives is read leniently as spans and written anew.

    Attributes:
      tokens: the words as given.
      labels: the answer: the refined label where the gate opened, else the draft's.
      draft_labels: the labels of the draft.
      refined_labels: the labels of the refiner; where the model's ``refine_all`` is off, the
        draft's in sentences without an uncertain token.
      uncertainty: uncertainty of the draft, nats.
      confidence: probability of the label given, in [0, 1].
      refined: whether the gate opened, that is, the uncertainty exceeded the threshold.
      scheme: tag scheme of the labels ("IOB2", ...), None for labels of single tokens.
    """

    tokens: list[str]
    labels: list[str]
    draft_labels: list[str]
    refined_labels: list[str]
    uncertainty: list[float]
    confidence: list[float]
    refined: list[bool]
    scheme: str | None = None

    @property
    def spans(self) -> list[tag_schemes.Span]:
        """Entities as Span(type, start, end), tokens ``start <= i < end``; [] without scheme."""
        if self.scheme is None:
            return []
        return list(tag_schemes.decode_spans(self.labels, self.scheme))

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
        """Plain values for JSON: uncertainty and confidence rounded to six decimals."""
        return {
            "tokens": list(self.tokens),
            "labels": list(self.labels),
            "draft_labels": list(self.draft_labels),
            "refined": list(self.refined),
            "uncertainty": [round(value, 6) for value in self.uncertainty],
            "confidence": [round(value, 6) for value in self.confidence],
            "entities": [
                {
                    "type": span.type,
                    "start": span.start,
                    "end": span.end,
                    "text": " ".join(self.tokens[span.start : span.end]),
                }
                for span in self.spans
            ],
        }

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

    def _repr_html_(self) -> str:
        return sentence_html.sentences_html(self)
