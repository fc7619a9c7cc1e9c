import numpy as np
import pytest

from uanet_tf.metrics.brier import brier_score
from uanet_tf.metrics.trust import trust


def test_brier_by_hand():
    value = brier_score(np.array([0.9, 0.4, 1.0]), np.array([True, False, False]))
    assert value == pytest.approx((0.01 + 0.16 + 1.0) / 3)


def test_brier_of_a_constant_is_lowest_at_the_share_of_right_answers():
    right = np.repeat([True, False], [70, 30])
    scores = [brier_score(np.full(100, level), right) for level in (0.6, 0.7, 0.8)]
    assert scores[1] == pytest.approx(0.7 * 0.3)
    assert min(scores) == scores[1]


def test_trust_by_hand():
    confidence = np.array([0.9, 0.6, 0.8, 0.7])
    nats = np.array([0.1, 0.2, 0.4, 0.3])
    right = np.array([True, False, True, True])
    scores = trust(confidence, nats, right)
    assert scores.size == 4
    assert scores.wrong == 25.0
    assert scores.mean_confidence == pytest.approx(75.0)
    assert scores.auroc == 100.0
    assert scores.auroc_uncertainty == pytest.approx(100 / 3)  # above one of three
    assert scores.aupr == 100.0
    assert scores.aurc == pytest.approx(100 * (0 + 0 + 0 + 1 / 4) / 4)
    assert scores.e_aurc == pytest.approx(0.0)
    assert scores.brier == pytest.approx((0.01 + 0.36 + 0.04 + 0.09) / 4)
    assert scores.ece == pytest.approx(100 * (0.1 + 0.6 + 0.2 + 0.3) / 4)


def test_all_right_and_none():
    scores = trust(np.array([0.5, 1.0]), np.zeros(2), np.ones(2, bool))
    assert (scores.auroc, scores.auroc_uncertainty, scores.aupr) == (None, None, None)
    assert (scores.wrong, scores.aurc, scores.e_aurc) == (0.0, 0.0, 0.0)
    assert trust(np.zeros(0), np.zeros(0), np.zeros(0, bool)) is None
