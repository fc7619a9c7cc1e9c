"""Scores of parts of a corpus."""

import pytest

from uanet_tf.metrics.breakdown import (
    OTHER,
    GroupScore,
    confusion,
    scores_by_entity_length,
    scores_by_known_words,
    scores_by_sentence_length,
)

GOLD = [["B-PER", "I-PER"], ["B-LOC", "O", "B-PER", "O", "O", "O"]]
GIVEN = [["B-PER", "I-PER"], ["B-LOC", "O", "B-LOC", "O", "O", "O"]]


def of_one_sentence(name: str, score: float, size: int) -> GroupScore:
    """A score whose interval is a point, since there is nothing to draw from."""
    return GroupScore(name, score, size, score, score)


def test_by_length_of_sentences():
    assert scores_by_sentence_length(GOLD, GIVEN, task="ner") == [
        of_one_sentence("1-5", 100.0, 1),
        of_one_sentence("6-10", 50.0, 2),
    ]
    tokens = scores_by_sentence_length(GOLD, GIVEN, task="pos")
    assert [each.name for each in tokens] == ["1-5", "6-10"]
    assert [each.score for each in tokens] == pytest.approx([100.0, 100.0 * (5 / 6)])
    assert [each.size for each in tokens] == [2, 6]


def test_by_length_of_entities():
    assert scores_by_entity_length(GOLD, GIVEN) == [
        of_one_sentence("1", 50.0, 2),
        of_one_sentence("2", 100.0, 1),
    ]


def test_by_known_words():
    known = [[True, False], [True] * 6]
    assert scores_by_known_words(GOLD, GIVEN, known, task="ner") == [
        of_one_sentence("words of training", 50.0, 2),
        of_one_sentence("an unseen word", 100.0, 1),
    ]
    tokens = scores_by_known_words(GOLD, GIVEN, known, task="pos")
    assert [each.size for each in tokens] == [7, 1]


CONFUSED_GOLD = [["B-PER", "I-PER", "O"], ["B-LOC"]]
CONFUSED_GIVEN = [["B-PER", "B-LOC", "O"], ["O"]]


def test_types_without_letters():
    found = confusion(CONFUSED_GOLD, CONFUSED_GIVEN, task="ner")
    counts = {
        (a, b): found.counts[i][j]
        for i, a in enumerate(found.names)
        for j, b in enumerate(found.names)
        if found.counts[i][j]
    }
    assert counts == {("PER", "PER"): 1, ("PER", "LOC"): 1, ("O", "O"): 1, ("LOC", "O"): 1}


def test_rare_labels_are_counted_together():
    found = confusion([["a", "a", "b", "c"]], [["a", "a", "c", "b"]], task="pos", most=2)
    assert found == (["a", OTHER], [[2, 0], [0, 2]])
