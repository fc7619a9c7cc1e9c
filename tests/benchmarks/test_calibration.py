"""The arithmetic of the benchmarks of confidence, on drawn answers."""

import numpy as np
import pytest

from benchmarks.calibration import File, cross_validated, errors, of_entities
from benchmarks.entity_confidence import definitions, found_at, shares
from uanet_tf.metrics.logistic_map import apply_logistic_map


def drawn(sentences=120, seed=1):
    """Sentences of ten tokens, each an entity of one or two; twice as sure as they may be."""
    random = np.random.default_rng(seed)
    count = 10 * sentences
    logit = random.normal(2.0, 2.0, count)
    features = np.column_stack([logit, random.random(count)])
    right = random.random(count) < apply_logistic_map(np.array([0.5, -0.5, 0.0]), features)
    start = np.sort(random.choice(count // 2, count // 4, replace=False)) * 2
    end = start + random.integers(1, 3, len(start))
    both = np.array([right[a:b].all() for a, b in zip(start, end, strict=True)])
    sentence = np.arange(count) // 10
    number = random.integers(0, 2, count)
    plain = 1 / (1 + np.exp(-logit))
    return File(features, number, right, plain, sentence, start, end, both, sentence[start])


def test_one_number_of_each_entity():
    file = drawn()
    p = file.plain
    for name, join in {"lowest": np.min, "product": np.prod, "mean": np.mean}.items():
        expected = [join(p[a:b]) for a, b in zip(file.start, file.end, strict=True)]
        np.testing.assert_allclose(of_entities(file, p, name), expected)


def test_calibration_of_unseen_sentences():
    file = drawn(400)
    before, after = errors(file, file.plain), errors(file, cross_validated(file))
    assert before["tokens"] > 10
    assert after["tokens"] < 4


def test_definitions():
    file = drawn(400)
    found = definitions(file, np.ones(len(file.start)))
    assert found["lowest: AUROC"] > 60
    assert found["share of samples: AUROC"] == pytest.approx(50)
    assert found["share of samples: ECE"] == pytest.approx(100 * (~file.right_entity).mean())
    assert {"product: ECE", "length-normalised product: ECE", "highest uncertainty: AUROC"} < set(
        found
    )


def test_share_of_samples_with_exactly_this_entity():
    here = [(0, "PER", 1, 2), (3, "LOC", 0, 2)]
    others = [[(0, "PER", 1, 2)], [(3, "LOC", 0, 1)], [(0, "PER", 1, 2), (3, "PER", 0, 2)]]
    np.testing.assert_allclose(shares(here, others), [2 / 3, 0])


def test_entities_found_at_a_precision():
    """Ten in the file; the answers, surest first: right, right, wrong, right, wrong."""
    confidence = np.array([0.2, 0.9, 0.8, 0.7, 0.1])
    right = np.array([True, True, True, False, False])
    found = found_at(confidence, right, entities=10)
    assert found["entities found"] == pytest.approx(30)
    assert found["average precision"] == pytest.approx(10 * (1 + 1 + 3 / 4))
    assert found["entities found at a precision of 0.9"] == pytest.approx(20)
    tied = found_at(np.full(5, 0.5), right, entities=10)
    assert tied["entities found at a precision of 0.9"] == 0
    none = found_at(confidence[3:], right[3:], entities=10)
    assert set(none.values()) == {0.0}
