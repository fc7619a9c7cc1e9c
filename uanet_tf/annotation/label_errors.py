"""Labels that are probably wrong: where a tagger that has not seen them is sure of others."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from uanet_tf.annotation.corrections import MISLABELLED, Correction, EntityOdds, log_odds
from uanet_tf.data.conll import Sentence
from uanet_tf.data.tag_schemes import BIOES, Span, convert, decode_spans
from uanet_tf.tagging.document_context import tag_in_context
from uanet_tf.tagging.tagged_sentence import TaggedSentence

_NEVER = 1e6  # nats: no draft is as uncertain


class LabelDoubt(NamedTuple):
    """A place where given and predicted labels differ.

    Attributes:
      given_probability: the lowest that the tagger has for a given label here.
      predicted_probability: the lowest that it has for a label of its own here.
      start: first token.
      end: the token after the last.
      given: the entities that the file has here; of single labels one for each token.
      predicted: those of the tagger.
      sentence: of the file.
      answer: the tagger's for the sentence.
      fold: number of the tagger.
      score: how much more probable the likeliest correction is, in nats; see ``Correction``.
      kind: what is likeliest wrong: one of ``corrections.KINDS``.
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
      sentences: with their labels.
      scheme: of the labels; None: labels of single tokens.
      fold: number of the model, for the results.
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
    """The places of a sentence where given and predicted labels differ.

    Entities that overlap are one place, so a wrong boundary or type is one, not one for each token.

    Args:
      sentence: with its labels.
      answer: with probabilities [T, C].
      classes: along C.
      scheme: of the labels given; None: labels of single tokens.
      fold: number of the tagger.
    """
    given_p, predicted_p = given_and_predicted(sentence, answer, classes, scheme)
    spans = _spans(sentence.labels, scheme), _spans(answer.labels, answer.scheme)
    odds = None if scheme is None else EntityOdds(answer.probabilities, classes, spans[0])
    for start, end, given, predicted in differing(*spans):
        here = given_p[start:end], predicted_p[start:end]
        wrong = (
            odds.of_place(given, predicted) if odds else Correction(log_odds(*here), MISLABELLED)
        )
        yield LabelDoubt(
            given_probability=float(here[0].min()),
            predicted_probability=float(here[1].min()),
            start=start,
            end=end,
            given=given,
            predicted=predicted,
            sentence=sentence,
            answer=answer,
            fold=fold,
            score=wrong.score,
            kind=wrong.kind,
        )


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
    pairs = {0: set(given) - set(predicted), 1: set(predicted) - set(given)}
    order = sorted((span.start, span.end, side, span) for side in pairs for span in pairs[side])
    here: list[tuple[int, Span]] = []
    end = 0
    for start, stop, side, span in order:
        if here and start >= end:
            yield _stretch(here)
            here = []
        here.append((side, span))
        end = max(end, stop) if len(here) > 1 else stop
    if here:
        yield _stretch(here)


def _stretch(
    here: Sequence[tuple[int, Span]],
) -> tuple[int, int, tuple[Span, ...], tuple[Span, ...]]:
    given, predicted = (tuple(span for side, span in here if side == k) for k in (0, 1))
    return min(s.start for _, s in here), max(s.end for _, s in here), given, predicted


def _spans(labels: Sequence[str], scheme: str | None) -> list[Span]:
    if scheme is None:
        return [Span(label, k, k + 1) for k, label in enumerate(labels)]
    return decode_spans(labels, scheme)


def _probabilities(
    probabilities: Any, labels: Sequence[str], scheme: str | None, classes: Sequence[str]
) -> np.ndarray:
    """The probability [T] of each label; 0 for labels that the tagger does not have."""
    names = labels if scheme is None else convert(labels, scheme, BIOES)
    numbers = {name: number for number, name in enumerate(classes)}
    columns = np.array([numbers.get(name, -1) for name in names])
    found = probabilities[np.arange(len(columns)), columns].astype(np.float64)
    return np.where(columns < 0, 0.0, found)
