"""Shares of equal labels and gates."""

import numpy as np
import pytest

from uanet_tf.models.nearness import _agreement, _Drafts, divergence

# Classes O, A, B: the labels are O A O B and O A B A.
LEFT = _Drafts(np.eye(3)[[0, 1, 0, 2]], np.array([0.1, 0.9, 0.5, 0.6]))
RIGHT = _Drafts(np.eye(3)[[0, 1, 2, 1]], np.array([0.4, 0.5, 0.5, 0.2]))


def test_labels_and_gates():
    found = _agreement(LEFT, RIGHT, outside=0, threshold=0.3)
    # Above Gamma: tokens 2, 3, 4 and tokens 1, 2, 3.
    assert found == {"same_labels_not_o": 1 / 3, "same_gate": 0.5}
    assert _agreement(RIGHT, LEFT, outside=0, threshold=0.3) == found
    assert "same_gate" not in _agreement(LEFT, RIGHT, outside=0, threshold=None)


def test_of_nothing_all_is_equal():
    found = _agreement(LEFT, LEFT, outside=0, threshold=2.0)
    assert set(found.values()) == {1.0}
    assert _agreement(LEFT, RIGHT, outside=-1, threshold=2.0)["same_labels_not_o"] == 0.5


def test_divergence_against_loops():
    random = np.random.default_rng(1)
    p, q = (random.dirichlet([1, 1, 1], size=5) for _ in range(2))
    expected = sum(a * np.log(a / b) for a, b in zip(p.ravel(), q.ravel(), strict=True)) / 5
    assert divergence(p, q) == pytest.approx(expected)
    assert divergence(p, p) == 0.0
