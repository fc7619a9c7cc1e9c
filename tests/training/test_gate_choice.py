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


def choose(monkeypatch, draft, refined, gated_f1=100.0, draft_f1=50.0) -> float:
    """What is chosen for one sentence, where the model itself scores ``gated_f1`` in the end."""
    tagger = SimpleNamespace(threshold=0.35, class_names=["O", "S-PER", "S-LOC"])
    answer = SimpleNamespace(draft_labels=draft, refined_labels=refined, uncertainty=NATS)
    sentence = SimpleNamespace(labels=GOLD)
    monkeypatch.setattr(gate_choice, "tag_in_context", lambda *_: [(sentence, answer)])
    scores = {"f1": gated_f1, "draft_f1": draft_f1}
    monkeypatch.setattr(gate_choice, "score_corpus", lambda *_: scores)
    assert choose_threshold(tagger, [sentence], "ner") == tagger.threshold
    return tagger.threshold


def test_the_best_threshold_is_taken(monkeypatch, warnings):
    draft, refined = ["O", "O", "B-LOC", "O"], ["B-PER", "B-PER", "O", "O"]
    assert 0.6 <= choose(monkeypatch, draft, refined) < 0.9
    assert not warnings


def test_a_refiner_that_only_spoils_shuts_the_gate(monkeypatch, warnings):
    assert choose(monkeypatch, GOLD, ["O"] * 4) == math.ceil(1000 * math.log(3)) / 1000
    assert len(warnings) == 1
    assert "the gate stays shut (--threshold=1.099, ln C)" in warnings[0]


def test_the_gate_is_shut_if_the_model_loses_by_it_after_all(monkeypatch, warnings):
    draft, refined = ["O", "O", "B-LOC", "O"], ["B-PER", "B-PER", "O", "O"]
    assert choose(monkeypatch, draft, refined, gated_f1=49.9) == pytest.approx(1.099)
    assert len(warnings) == 1


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
