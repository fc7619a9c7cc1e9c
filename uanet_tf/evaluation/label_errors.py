"""Labels that are probably wrong, and their page.

They stand where a tagger that has not seen them is sure of others.
"""

import dataclasses
import html
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from uanet_lite.sentence import Sentence
from uanet_lite.sentence_html import legend_html, marked_html, sentence_html, text_html
from uanet_lite.tag_schemes import (
    BIOES,
    OUTSIDE,
    Span,
    convert,
    decode_spans,
    encode_spans,
    split_label,
)
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.metrics.scoring import items_of
from uanet_tf.tagging.streams import tag_in_context

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


class EntityOdds:
    """The log odds of corrections of a sentence's entities, by a tagger that has not seen them.

    The probability of labels is the lowest of their tokens: the self-confidence of Wang and Mueller
    (2022, "Detecting Label Errors in Token Classification Data"). A correction of an entity gives
    it another type, or moves one of its boundaries by a token; or there is no entity.

    Its probabilities are [T, C], with ``classes`` along C, in BIOES.
    """

    def __init__(self, probabilities: Any, classes: Sequence[str], given: Sequence[Span]) -> None:
        self._log_p = np.log(np.maximum(np.asarray(probabilities, np.float64), _SMALLEST))
        self._columns = {name: number for number, name in enumerate(classes)}
        self._types = sorted({split_label(name)[1] for name in classes if name != OUTSIDE})
        self._given = given

    def of_place(self, given: Sequence[Span], predicted: Sequence[Span]) -> Correction:
        """The likeliest correction where entities differ: each side has those not in the other."""
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


_NEVER = 1e6  # nats: no draft is as uncertain


class LabelDoubt(NamedTuple):
    """A place where given and predicted labels differ.

    Attributes:
      given_probability: the lowest that the tagger has for a given label here.
      predicted_probability: the lowest that it has for a label of its own here.
      start, end: first token, and the token after the last.
      given, predicted: the entities here of the file and of the tagger; of single labels one for
        each token.
      fold: number of the tagger.
      score: how much more probable the likeliest correction is, in nats; see ``Correction``.
      kind: what is likeliest wrong: one of ``KINDS``.
    """

    given_probability: float
    predicted_probability: float
    start: int
    end: int
    given: tuple[Span, ...]
    predicted: tuple[Span, ...]
    sentence: Sentence
    answer: TaggedSentence
    fold: int = 1
    score: float = 0.0
    kind: str = MISLABELLED

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "score": round(self.score, 4),
            "kind": self.kind,
            "given_probability": float(f"{self.given_probability:.3g}"),
            "predicted_probability": float(f"{self.predicted_probability:.3g}"),
            "line": self.sentence.line,
            "start": self.start,
            "end": self.end,
            "given": [span._asdict() for span in self.given],
            "predicted": [span._asdict() for span in self.predicted],
            "tokens": list(self.sentence.tokens),
            "labels": list(self.sentence.labels),
            "predicted_labels": list(self.answer.labels),
            "fold": self.fold,
        }


def find_doubts(
    model: Any, sentences: Sequence[Sentence], scheme: str | None, fold: int = 1
) -> Iterator[LabelDoubt]:
    """The places where a tagger differs from labels that it has not seen, in their order.

    Args:
      model: a loaded model, whose ``return_probabilities`` is on. Its gate is shut: drafts tell
        wrong labels better than what the refiner makes of them.
      scheme: of the labels; None: labels of single tokens.
    """
    if model.gate is not None:
        model.threshold = _NEVER
    for sentence, answer in tag_in_context(model, sentences):
        yield from doubts_of(sentence, answer, model.class_names, scheme, fold)


def doubts_of(
    sentence: Sentence,
    answer: TaggedSentence,
    classes: Sequence[str],
    scheme: str | None,
    fold: int = 1,
) -> Iterator[LabelDoubt]:
    """The places of a sentence where given and predicted labels differ; see ``find_doubts``.

    Entities that overlap are one place, so a wrong boundary or type is one, not one for each token.
    An answer has probabilities [T, C], with ``classes`` along C.
    """
    given_p, predicted_p = given_and_predicted(sentence, answer, classes, scheme)
    task = "pos" if scheme is None else "ner"
    spans = items_of(sentence.labels, task), items_of(answer.labels, task)
    odds = None if scheme is None else EntityOdds(answer.probabilities, classes, spans[0])
    for start, end, given, predicted in differing(*spans):
        low, high = (float(each[start:end].min()) for each in (given_p, predicted_p))
        wrong = Correction(math.log(max(high, _SMALLEST) / max(low, _SMALLEST)), MISLABELLED)
        if odds is not None:
            wrong = odds.of_place(given, predicted)
        found = (low, high, start, end, given, predicted, sentence, answer, fold)
        yield LabelDoubt(*found, score=wrong.score, kind=wrong.kind)


def surest_first(doubts: Iterable[LabelDoubt]) -> list[LabelDoubt]:
    """The places with the highest score first; equal ones in their order."""
    return sorted(doubts, key=lambda doubt: -doubt.score)


def given_and_predicted(
    sentence: Sentence, answer: TaggedSentence, classes: Sequence[str], scheme: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities, [T] each, of the labels of a file and of those predicted."""
    return (
        _probabilities(answer.probabilities, sentence.labels, scheme, classes),
        _probabilities(answer.probabilities, answer.labels, answer.scheme, classes),
    )


def differing(
    given: Sequence[Span], predicted: Sequence[Span]
) -> Iterator[tuple[int, int, tuple[Span, ...], tuple[Span, ...]]]:
    """Stretches of overlapping spans that are not in both: start, end, the spans of either."""
    sides = set(given) - set(predicted), set(predicted) - set(given)
    order = sorted((s.start, s.end, side, s) for side in (0, 1) for s in sides[side])
    stretches: list[tuple[list[Span], list[Span]]] = []
    end = 0
    for start, stop, side, span in order:
        if not stretches or start >= end:
            stretches.append(([], []))
            end = stop
        stretches[-1][side].append(span)
        end = max(end, stop)
    for left, right in stretches:
        spans = [*left, *right]
        yield min(s.start for s in spans), max(s.end for s in spans), tuple(left), tuple(right)


def _probabilities(
    probabilities: Any, labels: Sequence[str], scheme: str | None, classes: Sequence[str]
) -> np.ndarray:
    """The probability [T] of each label; 0 for labels that the tagger does not have."""
    names = labels if scheme is None else convert(labels, scheme, BIOES)
    numbers = {name: number for number, name in enumerate(classes)}
    columns = np.array([numbers.get(name, -1) for name in names])
    found = np.asarray(probabilities)[np.arange(len(columns)), columns].astype(np.float64)
    return np.where(columns < 0, 0.0, found)


MOST = 500  # places on a page
_AROUND = 25  # tokens shown on either side of a place
_STYLE = """
:root { color-scheme: light dark }
body { font-family: system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
ol { list-style: none; padding: 0 }
li { border-top: 1px solid #8888; padding: 0.6rem 0; break-inside: avoid }
h2 { font-size: 1rem; margin: 0 0 0.3rem }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: 0 0.6rem; margin: 0 }
dt { font-size: 0.85em; line-height: 2.5 }
dd { margin: 0; overflow-wrap: anywhere }
dd > div { display: inline }
mark { background: none; color: inherit; outline: 1.5px dashed currentColor; padding: 0 0.15em }
"""


def doubts_page(doubts: Sequence[LabelDoubt], name: str) -> str:
    """The page of the first ``MOST`` of the doubts, which are the surest first."""
    title = f"Labels in doubt: {html.escape(name)}"
    shown = doubts[:MOST]
    said = f"{len(doubts):,} places where the file and a tagger that has not seen it differ"
    if len(shown) < len(doubts):
        said += f", the first {len(shown):,} of them"
    items = "\n".join(_item(rank, doubt) for rank, doubt in enumerate(shown, 1))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{title}</h1>
<p>{said}. Those where the tagger is surest that the file is wrong come first.
<mark>Dashed</mark>: the tokens in doubt.</p>
{legend_html()}
<ol>
{items}
</ol>
</body>
</html>
"""


def _item(rank: int, doubt: LabelDoubt) -> str:
    start = max(0, doubt.start - _AROUND)
    end = min(len(doubt.answer), doubt.end + _AROUND)
    # Whether an entity is accepted says nothing here, and the legend does not explain it.
    answer = dataclasses.replace(doubt.answer, accepted=None).part(start, end)
    lines = {"in the file": _given(doubt, start, end), "predicted": sentence_html(answer)}
    before, after = ("…" if cut else "" for cut in (start > 0, end < len(doubt.answer)))
    cells = ((said, f"{before}{line}{after}") for said, line in lines.items())
    rows = "".join(f"<dt>{said}</dt><dd>{cell}</dd>\n" for said, cell in cells)
    given, predicted = doubt.given_probability, doubt.predicted_probability
    return (
        f"<li>\n<h2>{rank}. {doubt.kind}, line {doubt.sentence.line}: probability of the label in "
        f"the file {given:.2g}, of the predicted one {predicted:.2g}</h2>\n<dl>\n{rows}</dl>\n</li>"
    )


def _given(doubt: LabelDoubt, start: int, end: int) -> str:
    tokens = [text_html(token) for token in doubt.sentence.tokens[start:end]]
    first, last = doubt.start - start, doubt.end - start
    tokens[first:last] = [f"<mark>{token}</mark>" for token in tokens[first:last]]
    scheme = doubt.answer.scheme
    spans = doubt.given if scheme is None else decode_spans(doubt.sentence.labels, scheme)
    moved = [
        Span(span.type, max(span.start, start) - start, min(span.end, end) - start)
        for span in spans
        if span.end > start and span.start < end
    ]
    return marked_html(tokens, moved)
