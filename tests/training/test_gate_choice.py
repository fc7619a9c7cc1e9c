"""Gamma from the development set; what is said of a gate that costs."""

import math
from types import SimpleNamespace

import pytest

from uanet_tf.training import gate_choice
from uanet_tf.training.gate_choice import choose_threshold, warn_of_cost, warn_of_empty

GOLD = ["B-PER", "O", "B-LOC", "O"]
NATS = [0.9, 0.4, 0.6, 0.1]


@pytest.fixture
def warnings(monkeypatch):
    said = []
    monkeypatch.setattr(
        gate_choice.logging, "warning", lambda text, *values: said.append(text % values)
    )
    return said


def choose(monkeypatch, draft, refined, *, costs=(), threshold=0.35) -> float:
    """What is chosen for one sentence; ``costs``: what the model loses from some Gamma on."""
    tagger = SimpleNamespace(threshold=threshold, class_names=["O", "S-PER", "S-LOC"])
    answer = SimpleNamespace(draft_labels=draft, refined_labels=refined, uncertainty=NATS)
    sentence = SimpleNamespace(labels=GOLD)
    monkeypatch.setattr(gate_choice, "tag_in_context", lambda *_: [(sentence, answer)])

    def score_corpus(tagger, *_):
        def right(labels):
            return 25.0 * sum(a == b for a, b in zip(labels, GOLD, strict=True))

        gated = [
            r if u > tagger.threshold else d for d, r, u in zip(draft, refined, NATS, strict=True)
        ]
        lost = sum(points for least, points in costs if tagger.threshold >= least)
        return {"f1": right(gated) - lost, "draft_f1": right(draft)}

    monkeypatch.setattr(gate_choice, "score_corpus", score_corpus)
    assert choose_threshold(tagger, [sentence], "ner") == tagger.threshold
    return tagger.threshold


# The refiner is right at 0.9 nats and wrong at 0.6 and 0.4.
DRAFT, REFINED = ["O", "O", "B-LOC", "O"], ["B-PER", "B-PER", "O", "O"]
SHUT = math.ceil(1000 * math.log(3)) / 1000


def test_the_best_threshold_is_taken(monkeypatch, warnings):
    assert 0.6 <= choose(monkeypatch, DRAFT, REFINED) < 0.9
    assert not warnings


@pytest.mark.parametrize(("lost", "chosen"), [(0.04, 0.7), (0.06, 0.35)])
def test_the_larger_of_two_that_are_as_good(monkeypatch, lost, chosen):
    """0.35 and 0.7 refine the same; the model loses a little at 0.7 and much at the swept one."""
    monkeypatch.setattr(gate_choice, "tune_threshold", lambda *_, **__: 0.8)
    costs = [(0.7, lost), (0.8, 5.0)]
    refined = ["B-PER", "O", "B-LOC", "O"]
    assert choose(monkeypatch, DRAFT, refined, costs=costs) == chosen


def test_a_refiner_that_only_spoils_shuts_the_gate(monkeypatch, warnings):
    assert choose(monkeypatch, GOLD, ["O"] * 4) == SHUT
    assert len(warnings) == 1
    assert "the gate stays shut (--threshold=1.099, ln C)" in warnings[0]


def test_the_gate_is_shut_if_the_model_loses_by_it_after_all(monkeypatch, warnings):
    assert choose(monkeypatch, DRAFT, REFINED, costs=[(0.0, 25.1)]) == SHUT
    assert len(warnings) == 1


def test_a_gamma_that_no_token_reaches_is_not_scored(monkeypatch, warnings):
    assert 0.6 <= choose(monkeypatch, DRAFT, REFINED, threshold=2.0) < 0.9
    assert not warnings


def test_without_disagreement_nothing_changes(monkeypatch, warnings):
    assert choose(monkeypatch, GOLD, GOLD) == 0.35
    assert not warnings


@pytest.mark.parametrize(("gated", "said"), [(79.9, 1), (79.96, 0), (81.0, 0)])
def test_a_gate_that_costs_is_spoken_of(warnings, gated, said):
    warn_of_cost({"accuracy": gated, "draft_accuracy": 80.0, "threshold": 0.35}, "pos")
    assert len(warnings) == said
    assert not said or "costs 0.10 points on dev at --threshold=0.35" in warnings[0]


@pytest.mark.parametrize(("found", "said"), [(0.0, 1), (0.5, 0)])
def test_no_entity_at_all_is_spoken_of(warnings, found, said):
    scores = {"f1": 0.0, "draft_f1": 0.0, "refined_f1": found}
    warn_of_empty(scores, "ner", 40)
    assert len(warnings) == said
    assert not said or warnings[0].startswith("after 40 steps no entity of dev is found")
