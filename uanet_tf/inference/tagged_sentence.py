"""The answer for one sentence: labels, spans and the uncertainty of each token."""

import dataclasses
import html
import math
from typing import Any

from uanet_tf.data import tag_schemes

_CHIP = (
    "font-size:0.7em;font-weight:600;letter-spacing:0.04em;border:1px solid currentColor;"
    "border-radius:0.4em;padding:0 0.35em;margin-left:0.35em;opacity:0.75;vertical-align:0.1em"
)
_ENTITY = "border-bottom:2px solid currentColor;padding-bottom:0.1em;white-space:nowrap"
_TOKEN = "border-radius:0.25em;padding:0.05em 0.2em"
_SENTENCE = "line-height:2.1;font-family:system-ui,sans-serif;margin:0.2em 0"


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
        shaded = [self._token_html(index) for index in range(len(self.tokens))]
        if self.scheme is None:
            chips = (f'<span style="{_CHIP}">{html.escape(label)}</span>' for label in self.labels)
            pieces = [token + chip for token, chip in zip(shaded, chips, strict=True)]
        else:
            pieces, position = [], 0
            for span in self.spans:
                pieces += shaded[position : span.start]
                inside = " ".join(shaded[span.start : span.end])
                chip = f'<span style="{_CHIP}">{html.escape(span.type)}</span>'
                pieces.append(f'<span style="{_ENTITY}">{inside}{chip}</span>')
                position = span.end
            pieces += shaded[position:]
        return f'<div style="{_SENTENCE}">{" ".join(pieces)}</div>'

    def _token_html(self, index: int) -> str:
        """One token on a translucent ground, so that light and dark pages both shine through."""
        uncertainty = self.uncertainty[index]
        opacity = 0.75 * (1.0 - math.exp(-uncertainty / 0.5))
        hue = 45.0 - 45.0 * min(1.0, uncertainty / 1.5)
        about = (
            f"{self.labels[index]} | draft {self.draft_labels[index]} | "
            f"{uncertainty:.2f} nats | confidence {self.confidence[index]:.2f}"
        )
        ground = f"background:hsla({hue:.0f},95%,50%,{opacity:.2f})"
        return (
            f'<span style="{_TOKEN};{ground}" title="{html.escape(about)}">'
            f"{html.escape(self.tokens[index])}</span>"
        )
