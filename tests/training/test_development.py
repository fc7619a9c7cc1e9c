"""Gamma from the development set; what is said of a gate that costs."""

import math
from types import SimpleNamespace

import pytest

from uanet_lite.sentence import Sentence
from uanet_tf.training import development
from uanet_tf.training.development import choose_threshold, warn_of_cost, warn_of_empty

# Of each token: gold, draft and refined label, nats.
RIGHT = ("B-PER", "B-PER", "B-PER", 0.1)
MENDED = ("B-PER", "O", "B-PER", 0.9)
SPOILT = ("B-PER", "B-PER", "O", 0.6)
MENDED_BELOW = ("B-PER", "O", "B-PER", 0.3)
SHUT = math.ceil(1000 * math.log(3)) / 1000


@pytest.fixture
def warnings(monkeypatch):
    said = []
    monkeypatch.setattr(
        development.logging, "warning", lambda text, *values: said.append(text % values)
    )
    return said


def choose(monkeypatch, *tokens, threshold=0.35, spoils_from=math.inf, document=0) -> float:
    """What is chosen for sentences of one token: pairs of a token and how many of it.

    document: sentences of a document; 0: none are marked.
    spoils_from: from this Gamma on the model itself, whose gate decides before contradictions are
    resolved, labels everything as nothing.
    """
    rows = [token for token, times in tokens for _ in range(times)]
    tagger = SimpleNamespace(threshold=threshold, class_names=["O", "S-PER", "S-LOC"])

    def tag_in_context(tagger, sentences):
        for sentence, (_, draft, refined, nats) in zip(sentences, rows, strict=True):
            label = refined if nats > tagger.threshold else draft
            yield (
                sentence,
                SimpleNamespace(
                    labels=["O"] if tagger.threshold >= spoils_from else [label],
                    draft_labels=[draft],
                    refined_labels=[refined],
                    uncertainty=[nats],
                ),
            )

    monkeypatch.setattr(development, "tag_in_context", tag_in_context)
    sentences = [
        SimpleNamespace(labels=[gold], new_document=document and index % document == 0)
        for index, (gold, *_) in enumerate(rows)
    ]
    assert choose_threshold(tagger, sentences, "ner") == tagger.threshold
    return tagger.threshold


def test_a_better_gamma_is_taken_where_the_difference_is_clear(monkeypatch, warnings):
    """Wrong at 0.6 nats, right at 0.9: thirty times each of a hundred tokens is no chance."""
    chosen = choose(monkeypatch, (RIGHT, 40), (MENDED, 30), (SPOILT, 30))
    assert 0.6 <= chosen < 0.9
    assert not warnings


def test_a_document_may_be_chance_where_its_sentences_are_not(monkeypatch):
    """All spoilt tokens are of one document in ten, and none of the others."""
    tokens = (MENDED, 90), (SPOILT, 10)
    assert choose(monkeypatch, *tokens) > 0.35
    assert choose(monkeypatch, *tokens, document=10) == 0.35


def test_gamma_stays_where_the_difference_may_be_chance(monkeypatch, warnings):
    """1 of 100 tokens spoilt at 0.6 nats has a standard error as large as itself."""
    assert choose(monkeypatch, (RIGHT, 69), (MENDED, 30), (SPOILT, 1)) == 0.35
    assert not warnings


def test_a_smaller_gamma_is_taken_where_it_is_clearly_better(monkeypatch):
    assert choose(monkeypatch, (RIGHT, 50), (MENDED_BELOW, 30), (MENDED, 20)) < 0.3


@pytest.mark.parametrize(("mended", "chosen"), [(3, 0.35), (12, 0.0)])
def test_the_difference_has_to_be_two_standard_errors(monkeypatch, mended, chosen):
    """3 of 100 have an error of 1.7, 12 of 100 one of 3.2."""
    tokens = (RIGHT, 100 - mended), (MENDED_BELOW, mended)
    assert choose(monkeypatch, *tokens) == chosen


def test_the_gate_is_shut_where_an_open_one_is_hardly_better(monkeypatch, warnings):
    """Wrong at 0.6 nats, right at 0.9: two tokens are mended above 0.7, which may be chance."""
    assert choose(monkeypatch, (RIGHT, 95), (MENDED, 2), (SPOILT, 3)) == SHUT
    assert len(warnings) == 1


def test_a_gamma_that_costs_is_not_kept_however_little_is_known(monkeypatch, warnings):
    """One token of 100 spoilt is within chance, but more than 0.05 points."""
    assert choose(monkeypatch, (RIGHT, 99), (SPOILT, 1)) == SHUT
    assert len(warnings) == 1
    assert "clearly better on dev than the draft's: the gate is shut" in warnings[0]
    assert "(`threshold=1.099`, ln C)" in warnings[0]


def test_the_model_itself_is_scored(monkeypatch):
    """A sweep of single tokens cannot see what the model loses at 0.6 nats and above."""
    tokens = (RIGHT, 40), (MENDED, 30), (SPOILT, 30)
    assert choose(monkeypatch, *tokens, spoils_from=0.6) == 0.35


def test_a_gamma_that_no_token_reaches_is_not_kept(monkeypatch, warnings):
    assert choose(monkeypatch, (RIGHT, 50), (MENDED, 50), threshold=2.0) < 0.9
    assert not warnings


def test_without_disagreement_nothing_changes(monkeypatch, warnings):
    assert choose(monkeypatch, (RIGHT, 3)) == 0.35
    assert not warnings


@pytest.mark.parametrize(("gated", "said"), [(79.9, 1), (79.96, 0), (81.0, 0)])
def test_a_gate_that_costs_is_spoken_of(warnings, gated, said):
    warn_of_cost({"accuracy": gated, "draft_accuracy": 80.0, "threshold": 0.35}, "pos")
    assert len(warnings) == said
    assert not said or "costs 0.10 points on dev at `threshold=0.35`" in warnings[0]


@pytest.mark.parametrize(("found", "said"), [(0.0, 1), (0.5, 0)])
def test_no_entity_at_all_is_spoken_of(warnings, found, said):
    scores = {"f1": 0.0, "draft_f1": 0.0, "refined_f1": found}
    some = [Sentence(("Rio", "met"), ("B-LOC", "O"), 1, True)]
    warn_of_empty(scores, some, "ner", 40)
    assert len(warnings) == said
    warn_of_empty(scores, [Sentence(("met",), ("O",), 1, True)], "ner", 40)  # there is none
    assert len(warnings) == said
    assert not said or warnings[0].startswith("after 40 steps no entity of dev is found")
    assert "--average_decay" not in "".join(warnings)
    warn_of_empty(scores, some, "ner", 40, averaged=True)
    assert not said or warnings[-1].endswith(", or leave out `average_decay`")
