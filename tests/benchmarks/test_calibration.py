"""The arithmetic of ``benchmarks.calibration``, on drawn answers."""

import numpy as np
import pytest

from benchmarks.calibration import (
    File,
    _drawn,
    cross_validated,
    errors,
    least_errors,
    of_entities,
    splits,
)
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


def test_errors_that_a_right_confidence_has_too():
    file = drawn(400)
    confidence = cross_validated(file)
    found, least = errors(file, confidence), least_errors(file, confidence)
    assert found.keys() == least.keys()
    assert 0 < least["tokens"] < least["tokens above Gamma"] < 6  # fewer answers, more noise
    right = file._replace(right=np.random.default_rng(5).random(len(confidence)) < confidence)
    assert errors(right, confidence)["tokens"] == pytest.approx(least["tokens"], abs=1)


def test_splits(monkeypatch):
    monkeypatch.setattr("benchmarks.calibration.SPLITS", 10)
    found = splits(drawn(200))
    assert found["0.8: kept, % of entities"] >= found["0.95: kept, % of entities"]
    for figure in ("seen not below target, % of splits", "known not below target, % of draws"):
        assert found[f"0.95: {figure}"] == pytest.approx(100, abs=30)


def test_drawn_sentences_bring_all_their_entities():
    sentence = np.array([0, 0, 2, 3, 3, 3])
    places, group = _drawn(np.random.default_rng(1), sentence, np.array([0, 1, 3]), 50)
    for number in range(50):
        assert places[group == number].tolist() in ([0, 1], [], [3, 4, 5])
    assert set(places) == {0, 1, 3, 4, 5}
