"""How much more probable than a label given is what would stand there if one thing were wrong."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from uanet_tf.data.tag_schemes import BIOES, OUTSIDE, Span, encode_spans, split_label

# That an entity is none, or that one was missed, has to be more probable by as many nats to come
# before another type or boundary: of the places where a tagger says so most are its own errors.
_NONE_OR_MISSED = 5.0
_SMALLEST = 1e-12  # probabilities below count as this

MISLABELLED, MISSED, SPURIOUS = KINDS = ("mislabelled", "missed", "spurious")


class Correction(NamedTuple):
    """What is likeliest wrong at a place.

    Attributes:
      score: the log odds of the likeliest correction, in nats, less what missed and spurious
        entities are put back by.
      kind: "mislabelled": type or boundary; "missed": the file has no entity; "spurious": that it
        has one is less probable than any correction.
    """

    score: float
    kind: str


def log_odds(given: np.ndarray, other: np.ndarray) -> float:
    """Log of the lowest of other probabilities less that of the lowest given."""
    return float(np.log(max(other.min(), _SMALLEST)) - np.log(max(given.min(), _SMALLEST)))


class EntityOdds:
    """The log odds of corrections of a sentence's entities, by a tagger that has not seen them.

    The probability of labels is the lowest of their tokens: the self-confidence of Wang and Mueller
    (2022, "Detecting Label Errors in Token Classification Data"). A correction of an entity gives
    it another type, or moves one of its boundaries by a token; or there is no entity.

    Args:
      probabilities: [T, C] of the tagger.
      classes: along C, in BIOES.
      given: the entities of the file.
    """

    def __init__(self, probabilities: Any, classes: Sequence[str], given: Sequence[Span]) -> None:
        self._log_p = np.log(np.maximum(np.asarray(probabilities, np.float64), _SMALLEST))
        self._columns = {name: number for number, name in enumerate(classes)}
        self._types = sorted({split_label(name)[1] for name in classes if name != OUTSIDE})
        self._given = given

    def of_place(self, given: Sequence[Span], predicted: Sequence[Span]) -> Correction:
        """The likeliest correction where entities differ.

        Args:
          given: the entities of the file that the tagger does not have.
          predicted: those of the tagger that the file does not have.
        """
        if not given:
            missed = max(-self._of_none(span) for span in predicted)
            return Correction(missed - _NONE_OR_MISSED, MISSED)
        none = max(self._of_none(span) for span in given)
        others = [self._odds(span, other) for span in given for other in self._corrections(span)]
        other = max(others, default=-np.inf)
        kind = SPURIOUS if none > other else MISLABELLED
        return Correction(max(none - _NONE_OR_MISSED, other), kind)

    def _of_none(self, span: Span) -> float:
        """The log odds that there is no entity."""
        return self._lowest((), span.start, span.end) - self._lowest((span,), span.start, span.end)

    def _odds(self, given: Span, other: Span) -> float:
        stretch = min(given.start, other.start), max(given.end, other.end)
        return self._lowest((other,), *stretch) - self._lowest((given,), *stretch)

    def _corrections(self, span: Span) -> Iterator[Span]:
        """Entities that differ in one thing and overlap no other of the file."""
        for name in self._types:
            if name != span.type:
                yield span._replace(type=name)
        low = max((s.end for s in self._given if s.end <= span.start), default=0)
        high = min((s.start for s in self._given if s.start >= span.end), default=len(self._log_p))
        for start, end in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            moved = span._replace(start=span.start + start, end=span.end + end)
            if low <= moved.start < moved.end <= high:
                yield moved

    def _lowest(self, spans: Sequence[Span], start: int, end: int) -> float:
        """The lowest log probability, from ``start`` to ``end``, if there are these entities."""
        here = [span._replace(start=span.start - start, end=span.end - start) for span in spans]
        names = encode_spans(here, end - start, BIOES)
        columns = [self._columns.get(name, -1) for name in names]
        values = self._log_p[np.arange(start, end), columns]
        return float(np.where(np.array(columns) < 0, np.log(_SMALLEST), values).min())
