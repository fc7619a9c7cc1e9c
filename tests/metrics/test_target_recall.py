"""From which probability on spans are candidates, so that a recall is reached."""

import math

import numpy as np
import pytest

from uanet_lite.tagged_sentence import Candidate, TaggedSentence
from uanet_tf.metrics.target_precision import NEVER
from uanet_tf.metrics.target_recall import (
    THRESHOLDS,
    cost_curve,
    cost_of,
    include_from,
    promised_costs,
    refusal,
    shown_spans,
)


def alone(count):
    return np.arange(count)


def tail(hits, count, target):
    """P(X >= hits) by its sum."""
    terms = (
        math.comb(count, k) * target**k * (1 - target) ** (count - k)
        for k in range(hits, count + 1)
    )
    return sum(terms)


def test_the_last_threshold_that_rejects():
    """Entities that are independent, against the sum of the binomial: half of them count."""
    score = np.random.default_rng(1).random(400) ** 0.3
    found = include_from(score, alone(400), target=0.8)
    kept = [t for t in THRESHOLDS if tail(math.ceil(np.sum(score >= t) / 2), 200, 0.8) <= 0.1]
    assert abs(np.searchsorted(THRESHOLDS, found.threshold) - (len(kept) - 1)) <= 1
    assert found.reached
    assert found.recall == np.mean(score >= found.threshold) > 0.83
    assert found.design_effect < 1.01


def test_what_is_taken_needs_no_candidate():
    score = np.where(np.arange(400) < 390, NEVER, 0.0)
    assert include_from(score, alone(400), target=0.9).threshold == NEVER
    assert include_from(score, alone(400), target=0.9).recall == 0.975


def test_a_target_that_cannot_be_reached():
    score = np.where(np.arange(400) < 360, 0.5, 0.0)
    found = include_from(score, alone(400), target=0.95)
    assert (found.threshold, found.reached, found.recall) == (None, False, 0.9)
    assert 0.84 <= found.best <= 0.88
    assert include_from(score, alone(400), target=found.best).reached
    assert not include_from(score, alone(400), target=found.best + 0.01).reached
    assert refusal(found) == (
        "cannot be promised with a probability of 0.9 from 400 entities: the candidates reach "
        f"0.900 of them, and {found.best:.2f} can be promised"
    )
    nothing = include_from(np.zeros(0), alone(0), target=0.5)
    assert (nothing.threshold, nothing.best, nothing.entities) == (None, 0.0, 0)


def test_entities_of_a_document_count_as_dependent():
    score = np.repeat(np.random.default_rng(2).random(60) ** 0.3, 10)
    units = np.repeat(np.arange(60), 10)
    together = include_from(score, units, target=0.85)
    by_themselves = include_from(score, alone(600), target=0.85)
    assert together.design_effect > 5
    assert by_themselves.threshold > together.threshold


@pytest.mark.parametrize("size", [1, 8])
def test_a_further_text_has_the_recall_as_often_as_is_promised(size):
    """Of as many entities; by documents of ``size``, which are found or missed together."""
    rng = np.random.default_rng(3)
    missed, draws, units = 0, 300, np.repeat(np.arange(480 // size), size)

    def text():
        level = np.repeat(rng.normal(size=480 // size), size) + rng.normal(size=480)
        return 1 / (1 + np.exp(-2.5 - 1.5 * level))

    for _ in range(draws):
        found = include_from(text(), units, target=0.9)
        assert found.reached
        missed += np.mean(text() >= found.threshold) < 0.9
    assert missed / draws <= 0.1 + 2 * math.sqrt(0.09 / draws)
    assert missed > 0


def answer():
    """One entity that is given, two candidates, one of which is it."""
    spans = [Candidate("a", "X", 0, 1, 0, 1, 0.9), Candidate("b c", "Y", 2, 5, 1, 3, 0.2)]
    labels = ["B-X", "O", "O", "B-Y"]
    rest = [[0.0] * 4, [0.95, 1.0, 1.0, 0.6], [False] * 4]
    return TaggedSentence(list("abcd"), *[labels] * 3, *rest, "IOB2", candidates=spans)


def test_what_is_shown():
    gold = [["B-X", "B-Y", "I-Y", "B-Z"]]
    shown = shown_spans(gold, [answer()], [7])
    assert shown.score.tolist() == [NEVER, 0.2, 0.0]
    assert shown.types.tolist() == ["X", "Y", "Z"]
    assert shown.units.tolist() == [7, 7, 7]
    # The given Y at d is no candidate, and shown all the same.
    assert shown.probability.tolist() == [0.9, 0.2, 0.0]
    assert shown.taken.tolist() == [True, False, True]
    cost = cost_of(shown, 0.5, accepts=False)
    assert cost == pytest.approx((1 / 3, 0.0, 1000 * 2 / 4, 2 / 3))
    assert cost_of(shown, 0.1, accepts=False).per_entity == 1.0
    # Only X is accepted.
    shown = shown_spans(gold, [answer()], [7], {"X": 0.9, "Y": 0.9})
    assert shown.taken.tolist() == [True, False]
    cost = cost_of(shown, {"X": 0.99, "Y": 0.1}, accepts=True)
    assert cost == pytest.approx((2 / 3, 1 / 3, 1000 / 4, 1 / 3))


def test_costs():
    shown = shown_spans([["B-X", "B-Y", "I-Y", "O"]] * 60, [answer()] * 60, range(60))
    rows = promised_costs(shown, error=0.1, accepts=False)
    assert [row["target"] for row in rows] == [0.8, 0.9, 0.95, 0.98]
    assert rows[0]["threshold"] <= 0.2
    assert (rows[0]["recall"], rows[0]["per_entity"]) == (1.0, 1.5)
    assert rows[-1]["threshold"] is rows[-1]["recall"] is None  # 60 are too few for it
    curve = cost_curve(shown, accepts=False)
    assert curve[0][1].recall == 1.0
    assert curve[-1] == (NEVER, cost_of(shown, NEVER, accepts=False))
    recalls = [cost.recall for _, cost in curve]
    assert recalls == sorted(recalls, reverse=True)
    nothing = shown_spans([["O"]], [TaggedSentence(["a"], *[["O"]] * 6, "IOB2")], [0])
    assert cost_of(nothing, 0.5, accepts=True) == (0.0, 0.0, 0.0, 0.0)
