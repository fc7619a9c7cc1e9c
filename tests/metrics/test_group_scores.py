from uanet_tf.metrics.group_scores import (
    GroupScore,
    scores_by_entity_length,
    scores_by_known_words,
    scores_by_sentence_length,
)

GOLD = [["B-PER", "I-PER"], ["B-LOC", "O", "B-PER", "O", "O", "O"]]
GIVEN = [["B-PER", "I-PER"], ["B-LOC", "O", "B-LOC", "O", "O", "O"]]


def test_by_length_of_sentences():
    assert scores_by_sentence_length(GOLD, GIVEN, task="ner") == [
        GroupScore("1-5", 100.0, 1),
        GroupScore("6-10", 50.0, 2),
    ]
    tokens = scores_by_sentence_length(GOLD, GIVEN, task="pos")
    assert tokens == [GroupScore("1-5", 100.0, 2), GroupScore("6-10", 100.0 * (5 / 6), 6)]


def test_by_length_of_entities():
    assert scores_by_entity_length(GOLD, GIVEN) == [
        GroupScore("1", 50.0, 2),
        GroupScore("2", 100.0, 1),
    ]


def test_by_known_words():
    known = [[True, False], [True] * 6]
    assert scores_by_known_words(GOLD, GIVEN, known, task="ner") == [
        GroupScore("known words", 50.0, 2),
        GroupScore("an unknown word", 100.0, 1),
    ]
    tokens = scores_by_known_words(GOLD, GIVEN, known, task="pos")
    assert [each.size for each in tokens] == [7, 1]
