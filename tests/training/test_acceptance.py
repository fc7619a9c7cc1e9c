"""From which confidence answers are accepted, and what is said about it."""

from types import SimpleNamespace

import numpy as np
import pytest

from uanet_tf.metrics.answer_group import AnswerGroup
from uanet_tf.metrics.target_precision import NEVER, accept_from
from uanet_tf.models.confidence import Acceptance
from uanet_tf.training import confidence_fit
from uanet_tf.training.confidence_fit import accept

CLASSES = ["O", "S-PER", "B-PER", "E-PER", "S-LOC", "S-ORG"]


def answers(size=600):
    """PER is right as often as it says, LOC far less."""
    rng = np.random.default_rng(1)
    confidence = 1.0 - rng.random(size) ** 2 * 0.5
    types = np.array(["PER", "LOC"], object)[(np.arange(size) % 3 == 0).astype(int)]
    chance = np.where(types == "PER", confidence, 0.4)
    right = rng.random(size) < chance
    return AnswerGroup(confidence, right, 1 - confidence, types, np.arange(size))


@pytest.fixture
def said(monkeypatch):
    said = []
    for level in ("info", "warning"):
        monkeypatch.setattr(
            confidence_fit.logging, level, lambda text, *values: said.append(text % values)
        )
    return said


def tagger(classes=CLASSES, scheme="IOB2"):
    return SimpleNamespace(
        class_names=classes, label_scheme=scheme, acceptance=Acceptance(len(classes))
    )


def test_one_threshold_for_all_types(said):
    model, given = tagger(), answers()
    report = accept(model, given, target=0.5, by_type=False)
    expected = accept_from(*given[:2], given.sentences, target=0.5, calibrated=True)
    assert expected.reached
    assert report["all"] == expected._asdict()
    np.testing.assert_allclose(
        model.acceptance.thresholds, [NEVER] + [expected.threshold] * 5, rtol=1e-6
    )
    assert model.acceptance.target_precision == 0.5
    assert len(said) == 1
    assert f"all types: accepted from confidence {expected.threshold:.3f} on" in said[0]


def test_answers_of_a_sentence_tell_less(said):
    model, given = tagger(), answers()
    together = given._replace(sentences=np.repeat(np.arange(20), 30))
    same = np.repeat(np.arange(20) % 5 > 0, 30)  # a sentence is right or wrong as a whole
    reports = [
        accept(model, each._replace(right=same), target=0.7, by_type=False)["all"]
        for each in (given, together)
    ]
    assert [report["reached"] for report in reports] == [True, False]
    assert reports[1]["best"] < 0.7
    assert reports[1]["design_effect"] > 5


def test_a_threshold_for_each_type(said):
    model, given = tagger(), answers()
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
    model = tagger(["O", "NN"], None)
    types = np.array(["O", "NN"])[np.arange(400) % 2]
    given = AnswerGroup(np.ones(400), np.ones(400, bool), np.zeros(400), types, np.arange(400))
    accept(model, given, target=0.9, by_type=True)
    assert (model.acceptance.thresholds.numpy() < 1.0).all()


def test_without_answers_nothing_is_accepted(said):
    model = tagger()
    nothing = AnswerGroup(*(np.zeros(0, kind) for kind in (float, bool, float, object, int)))
    report = accept(model, nothing, target=0.9, by_type=False)
    assert report["types"] == {}
    assert (model.acceptance.thresholds.numpy() == NEVER).all()
    assert "from 0 answers" in said[0]


def test_a_single_answer_is_told_as_one(said):
    accept(tagger(), answers(1), target=0.8, by_type=False)
    assert "with a probability of 0.9 from 1 answer of dev: nothing is accepted" in said[0]
