"""The arithmetic of ``benchmarks.bounds``."""

import numpy as np
import pytest

from benchmarks import bounds
from benchmarks.bounds import Tagged

GOLD = [["B-PER", "O", "B-LOC"], ["O", "B-PER"]]
DRAFT = [["B-PER", "O", "O"], ["B-LOC", "B-LOC"]]
REFINED = [["O", "B-PER", "B-LOC"], ["O", "O"]]
NATS = [np.array([0.5, 0.1, 0.9], np.float32), np.array([0.35, 0.7], np.float32)]
GATED = [["O", "O", "B-LOC"], ["B-LOC", "O"]]


def test_oracles_and_shares():
    tagged = Tagged(DRAFT, REFINED, GATED, NATS, [], [])
    found = bounds.bounds(GOLD, tagged, 0.35, task="ner")
    assert found["tokens above Gamma, %"] == pytest.approx(60)
    assert found["draft right above Gamma, %"] == pytest.approx(100 / 3)
    assert found["refined right above Gamma, %"] == pytest.approx(100 / 3)
    assert found["either right above Gamma, %"] == pytest.approx(200 / 3)
    assert found["draft"] == pytest.approx(100 * 2 * 1 / 6)
    assert found["gated"] == pytest.approx(100 * 2 * 1 / 5)
    # The better of the two: B-PER kept, B-LOC mended; the two B-LOC of sentence 2 stay.
    assert found["better of the two"] == pytest.approx(100 * 2 * 2 / 7)
    # All right above Gamma: only the token at exactly Gamma stays wrong.
    assert found["all right above Gamma"] == pytest.approx(100 * 2 * 3 / 7)


def test_the_mean_of_two_distributions_is_a_valid_sequence():
    names = ["O", "B-PER", "E-PER", "S-PER"]
    one = [np.array([[0.1, 0.8, 0.1, 0.0], [0.6, 0.0, 0.4, 0.0]])]
    other = [np.array([[0.4, 0.6, 0.0, 0.0], [0.5, 0.0, 0.5, 0.0]])]
    assert bounds.mean_labels(one, other, names, None) == [["B-PER", "O"]]
    assert bounds.mean_labels(one, other, names, "BIOES") == [["B-PER", "E-PER"]]
