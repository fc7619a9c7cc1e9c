"""The calibration of confidence is fitted to development data."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.tagging.fake_model import LABELS
from uanet_lite.sentence import Sentence
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.data.documents import independent_units
from uanet_tf.errors import SentencesError
from uanet_tf.metrics.answer_group import AnswerGroup
from uanet_tf.metrics.logistic_map import apply_logistic_map
from uanet_tf.metrics.target_precision import NEVER, accept_from
from uanet_tf.metrics.target_recall import Shown
from uanet_tf.models.candidates import Candidates
from uanet_tf.models.confidence import Acceptance, Calibration
from uanet_tf.training import confidence_fit
from uanet_tf.training.confidence_fit import (
    _check_recall,
    _halves,
    accept,
    calibrate,
    fit_map,
    fit_rows,
    include,
)

TRUTH = np.array([[0.5, -0.5, 0.0], [0.3, -1.0, 0.5], [0.8, -0.2, 1.0], [1.0, 0.0, 0.0]])
TOKENS = 40


def drawn(sentences, seed=1):
    """Labels of single tokens, right as often as ``TRUTH`` says, and the answers for them."""
    rng = np.random.default_rng(seed)
    gold, tagged = [], []
    for _ in range(sentences):
        outside, refined = rng.random((2, TOKENS)) < 0.5
        logit, u = rng.normal(2.0, 2.0, TOKENS), rng.random(TOKENS) * 2.0
        row = refined + 2 * outside
        features = np.stack([logit, u], -1)
        right = [
            rng.random() < apply_logistic_map(TRUTH[k], x[None])[0]
            for k, x in zip(row, features, strict=True)
        ]
        labels = ["O" if o else "B-PER" for o in outside]
        truth = [label if r else "B-LOC" for label, r in zip(labels, right, strict=True)]
        p = 1.0 / (1.0 + np.exp(-logit))
        gold.append(truth)
        tagged.append(
            TaggedSentence(
                ["w"] * TOKENS, labels, labels, labels, u.tolist(), p.tolist(), refined.tolist()
            )
        )
    return gold, tagged


def test_the_map_that_labels_were_drawn_with_is_found():
    gold, tagged = drawn(600)
    np.testing.assert_allclose(fit_map(gold, tagged, "pos"), TRUTH, atol=0.12)


@pytest.fixture
def tagger(monkeypatch):
    """Tags by ``drawn``; its confidence follows its own map, once it has one."""
    gold, tagged = drawn(100)
    model = SimpleNamespace(
        calibration=Calibration(LABELS),
        acceptance=Acceptance(len(LABELS)),
        candidates=None,
        class_names=LABELS,
        label_scheme=None,
        calibrated=True,
        uncertainty="entropy",
        gate=None,
        threshold=0.0,
        asked=[],
    )

    def tag(model, sentences):
        model.asked.append((model.calibrated, model.uncertainty))
        for sentence, answer in zip(sentences, tagged, strict=True):
            above = np.array(answer.uncertainty) > model.threshold
            refined = (np.array(answer.refined) & above).tolist()
            answer = TaggedSentence(**{**vars(answer), "refined": refined})
            if model.calibrated and model.calibration.is_fitted:
                p = np.array(answer.confidence)
                row = np.array(answer.refined) + 2 * (np.array(answer.labels) == "O")
                rows = model.calibration.map.numpy()[row]
                logit = np.log(p) - np.log1p(-p)
                z = rows[:, 0] * logit + rows[:, 1] * answer.uncertainty + rows[:, 2]
                sure = (1 / (1 + np.exp(-z))).tolist()
                yield sentence, TaggedSentence(**{**vars(answer), "confidence": sure})
            else:
                yield sentence, answer

    monkeypatch.setattr(confidence_fit, "tag_in_context", tag)
    model.sentences = [Sentence(("w",) * TOKENS, tuple(labels), 1, True) for labels in gold]
    return model


def test_the_error_falls(tagger):
    report = calibrate(tagger, tagger.sentences, "pos")
    assert set(report) == {"tokens"}
    found = report["tokens"]
    assert found["size"] == 4_000
    assert found["ece_before"] > 10.0
    assert found["ece_after"] < 3.0
    assert tagger.calibrated


def test_again_it_is_fitted_to_the_uncalibrated_answers(tagger):
    first = calibrate(tagger, tagger.sentences, "pos")
    rows = tagger.calibration.map.numpy()
    again = calibrate(tagger, tagger.sentences, "pos")
    assert again["tokens"].pop("ece_until_now") == first["tokens"]["ece_after"]
    assert again["tokens"].pop("brier_until_now") == first["tokens"]["brier_after"]
    assert again == first
    np.testing.assert_array_equal(tagger.calibration.map.numpy(), rows)


def test_refined_labels_of_a_shut_gate_are_calibrated_with_the_gate_open(tagger):
    """At the Gamma that a twentieth of the tokens is above; the draft's as the run gives them."""
    tagger.gate, tagger.threshold = SimpleNamespace(), 9.0
    gold = [sentence.labels for sentence in tagger.sentences]
    shut = answers_above(tagger, 9.0)
    gamma = np.quantile([answer.uncertainty for answer in shut], 0.95)
    opened = answers_above(tagger, gamma)
    calibrate(tagger, tagger.sentences, "pos")
    rows = tagger.calibration.map.numpy()
    assert tagger.threshold == 9.0
    np.testing.assert_allclose(rows[::2], fit_map(gold, shut, "pos")[::2], rtol=1e-5)
    expected = fit_map(gold, opened, "pos")[1::2]
    np.testing.assert_allclose(rows[1::2], expected, rtol=1e-3)
    assert not np.allclose(rows[1::2], [1.0, 0.0, 0.0], atol=0.1)


def test_a_gate_that_lets_a_few_labels_through_is_as_one_that_is_shut(tagger):
    tagger.gate = SimpleNamespace()
    shut = answers_above(tagger, 9.0)
    nats = np.sort(np.concatenate([answer.uncertainty for answer in shut]))
    tagger.threshold = float(nats[-40])  # about ten labels in each row of refined ones
    gold = [sentence.labels for sentence in tagger.sentences]
    opened = answers_above(tagger, np.quantile(nats, 0.95))
    calibrate(tagger, tagger.sentences, "pos")
    assert tagger.threshold == float(nats[-40])
    expected = fit_map(gold, opened, "pos")[1::2]
    np.testing.assert_allclose(tagger.calibration.map.numpy()[1::2], expected, rtol=1e-3)


def test_a_small_file_whose_gate_is_open_is_tagged_no_more_often(tagger, monkeypatch):
    monkeypatch.setattr(confidence_fit, "_FEWEST", 10**6)
    tagger.gate, tagger.threshold = SimpleNamespace(), 0.5
    calibrate(tagger, tagger.sentences, "pos")
    assert len(tagger.asked) == 2


def test_a_few_answers_of_a_narrow_range_give_no_steep_map():
    """Penalized by the spread of all answers, not by their own."""
    rng = np.random.default_rng(1)
    nats = np.append(rng.random(1_000) * 2.5, 2.46 + 0.02 * rng.random(9))
    features = np.column_stack([rng.normal(0, 2, len(nats)), nats])
    number = np.append(np.zeros(1_000, int), np.ones(9, int))
    right = np.append(rng.random(1_000) < 0.5, nats[-9:] < np.median(nats[-9:]))
    weights = fit_rows(features, number, right)[1]
    assert abs(weights[1]) < 2.0


def answers_above(tagger, threshold):
    kept, tagger.threshold = tagger.threshold, threshold
    answers = [answer for _, answer in confidence_fit.tag_in_context(tagger, tagger.sentences)]
    tagger.threshold = kept
    tagger.asked.clear()
    return answers


def test_the_threshold_is_found_on_sentences_that_the_map_was_not_fitted_to(tagger):
    report = calibrate(tagger, tagger.sentences, "pos", target_precision=0.75, seed=3)
    found = report["acceptance"]
    assert found["all"]["answers"] == 50 * TOKENS
    assert found["all"]["reached"]
    assert found["all"]["precision"] >= 0.75
    assert tagger.acceptance.target_value == 0.75
    # The map is that of the other half.
    half = [tagger.sentences[k] for k in np.random.default_rng([3, 2]).permutation(100)[:50]]
    rows = tagger.calibration.map.numpy()
    again = calibrate(tagger, tagger.sentences, "pos")
    assert "acceptance" not in again
    assert tagger.acceptance.target_value == 0.0  # forgotten
    assert not np.array_equal(tagger.calibration.map.numpy(), rows)
    assert len(half) == 50


def test_a_document_is_in_one_half():
    starts = [True, False, False, True, False, True, False, False, False, True]
    sentences = [Sentence(("a",), ("O",), 1, start) for start in starts]
    unit = independent_units(sentences)
    assert unit.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 2, 3]
    order, half = _halves(unit, 1)
    assert sorted(order) == list(range(10))
    first, second = set(unit[order[:half]]), set(unit[order[half:]])
    assert len(first) == len(second) == 2
    assert not first & second
    # Nothing marked: each sentence by itself.
    alone = [Sentence(("a",), ("O",), 1, False) for _ in range(5)]
    assert independent_units(alone).tolist() == [0, 1, 2, 3, 4]
    assert _halves(independent_units(alone), 1)[1] == 3


CLASSES = ["O", "S-PER", "B-PER", "E-PER", "S-LOC", "S-ORG"]


def answers(size=600):
    """PER is right as often as it says, LOC far less."""
    rng = np.random.default_rng(1)
    confidence = 1.0 - rng.random(size) ** 2 * 0.5
    types = np.array(["PER", "LOC"], object)[(np.arange(size) % 3 == 0).astype(int)]
    chance = np.where(types == "PER", confidence, 0.4)
    right = rng.random(size) < chance
    return AnswerGroup(confidence, right, 1 - confidence, types, *[np.arange(size)] * 2)


@pytest.fixture
def said(monkeypatch):
    said = []
    for level in ("info", "warning"):
        monkeypatch.setattr(
            confidence_fit.logging, level, lambda text, *values: said.append(text % values)
        )
    return said


def fake_tagger(classes=CLASSES, scheme="IOB2"):
    return SimpleNamespace(
        class_names=classes, label_scheme=scheme, acceptance=Acceptance(len(classes))
    )


def test_one_threshold_for_all_types(said):
    model, given = fake_tagger(), answers()
    report = accept(model, given, target=0.5, by_type=False)
    expected = accept_from(*given[:2], given.sentences, target=0.5)
    assert expected.reached
    assert report["all"] == expected._asdict()
    np.testing.assert_allclose(
        model.acceptance.thresholds, [NEVER] + [expected.threshold] * 5, rtol=1e-6
    )
    assert model.acceptance.target_value == 0.5
    assert len(said) == 1
    assert f"all types: accepted from confidence {expected.threshold:.3f} on" in said[0]


def test_a_threshold_for_each_type(said):
    model, given = fake_tagger(), answers()
    report = accept(model, given, target=0.8, by_type=True)
    assert set(report["types"]) == {"LOC", "PER"}
    assert not report["types"]["LOC"]["reached"]
    threshold = report["types"]["PER"]["threshold"]
    assert 0.4 < threshold < 1.0
    # Of ORG nothing is known.
    expected = [NEVER, threshold, threshold, threshold, NEVER, NEVER]
    np.testing.assert_allclose(model.acceptance.thresholds, expected, rtol=1e-6)
    assert "precision 0.8, LOC: cannot be promised with a probability of 0.9" in said[0]
    assert f"{report['types']['LOC']['best']:.2f}" in said[0]


def test_where_labels_are_no_chunks_o_is_a_label_too(said):
    model = fake_tagger(["O", "NN"], None)
    types = np.array(["O", "NN"])[np.arange(400) % 2]
    given = AnswerGroup(
        np.ones(400), np.ones(400, bool), np.zeros(400), types, *[np.arange(400)] * 2
    )
    accept(model, given, target=0.9, by_type=True)
    assert (model.acceptance.thresholds.numpy() < 1.0).all()


def test_without_answers_nothing_is_accepted(said):
    model = fake_tagger()
    nothing = AnswerGroup(*(np.zeros(0, kind) for kind in (float, bool, float, object, int, int)))
    report = accept(model, nothing, target=0.9, by_type=False)
    assert report["types"] == {}
    assert (model.acceptance.thresholds.numpy() == NEVER).all()
    assert "from 0 answers" in said[0]


@pytest.mark.parametrize("by_type", [False, True])
def test_a_recall_that_one_type_cannot_have_is_promised_of_all_together_only(by_type):
    score = np.linspace(0.1, 0.9, 400)
    types = np.array(["PER"] * 380 + ["LOC"] * 20, object)
    score[-15:] = 0.0  # most places are no candidates
    shown = Shown(score, types, np.arange(400), score, types, np.zeros(400, bool), 4_000)
    layer = Candidates(["O", *(f"{p}-{t}" for t in ("PER", "LOC") for p in "BIES")], 3)
    options = {"target": 0.9, "error": 0.1, "accepts": False}
    report = include(layer, shown, by_type=by_type, **options)
    assert layer.target_value == (0.0 if by_type else 0.9)
    assert ("cost" in report) == (not by_type)
    if by_type:
        with pytest.raises(SentencesError, match=r"^a recall of 0\.9 of LOC cannot be promised"):
            _check_recall({"candidates": report})
    else:
        assert layer.thresholds.numpy() == pytest.approx([report["all"]["threshold"]] * 2)
        _check_recall({"candidates": report})
