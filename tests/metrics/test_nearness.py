"""Shares of equal labels and gates."""

import numpy as np

from uanet_tf.metrics.nearness import _agreement, _Drafts

# Classes O, A, B: the labels are O A O B and O A B A.
LEFT = _Drafts(np.eye(3)[[0, 1, 0, 2]], np.array([0.1, 0.9, 0.5, 0.6]))
RIGHT = _Drafts(np.eye(3)[[0, 1, 2, 1]], np.array([0.4, 0.5, 0.5, 0.2]))


def test_labels_and_gates():
    found = _agreement(LEFT, RIGHT, outside=0, threshold=0.3)
    # Above Gamma: tokens 2, 3, 4 and tokens 1, 2, 3.
    assert found == {"same_labels": 0.5, "same_labels_not_o": 1 / 3, "same_gate": 0.5}
    assert _agreement(RIGHT, LEFT, outside=0, threshold=0.3) == found
    assert "same_gate" not in _agreement(LEFT, RIGHT, outside=0, threshold=None)


def test_of_nothing_all_is_equal():
    found = _agreement(LEFT, LEFT, outside=0, threshold=2.0)
    assert set(found.values()) == {1.0}
    assert _agreement(LEFT, RIGHT, outside=-1, threshold=2.0)["same_labels_not_o"] == 0.5
