import numpy as np
import pytest

from uanet_tf.evaluation.trust_report import trust_groups, trust_rows
from uanet_tf.tagging.tagged_sentence import TaggedSentence

GOLD = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-ORG"]]
TAGGED = [
    TaggedSentence(
        ["a", "b", "c", "d"],
        ["B-PER", "I-PER", "O", "B-ORG"],  # the last is wrong
        ["O"] * 4,
        ["O"] * 4,
        [0.1, 0.5, 0.0, 0.9],
        [0.9, 0.7, 0.99, 0.6],
        [False, True, False, True],
        "IOB2",
    ),
    TaggedSentence(
        ["e", "f"],
        ["B-LOC", "B-ORG"],  # the first is wrong
        ["O"] * 2,
        ["O"] * 2,
        [0.2, 0.3],
        [0.65, 0.8],
        [False, False],
        "IOB2",
    ),
]
UNCERTAIN = np.array([False, True, False, True, False, False])


def test_groups_by_hand():
    groups = trust_groups(GOLD, TAGGED, task="ner", uncertain=UNCERTAIN)
    sizes = {name: (group.size, group.wrong) for name, group in groups.items()}
    assert sizes == {
        "tokens": (6, pytest.approx(100 / 3)),
        "labelled_tokens": (5, pytest.approx(40.0)),
        "uncertain_tokens": (2, pytest.approx(50.0)),
        "entities": (4, pytest.approx(50.0)),
    }
    # An entity's confidence is that of its least confident token, its nats the most uncertain's.
    assert groups["entities"].mean_confidence == pytest.approx(100 * (0.7 + 0.6 + 0.65 + 0.8) / 4)
    assert groups["entities"].auroc == 100.0
    assert groups["entities"].auroc_uncertainty == pytest.approx(50.0)
    assert groups["tokens"].auroc == 100.0
    assert groups["tokens"].auroc_uncertainty == pytest.approx(100 * 6 / 8)


def test_labels_without_spans_have_no_entities():
    groups = trust_groups([["A", "B"]], [TAGGED[1]], task="pos", uncertain=UNCERTAIN[4:])
    assert list(groups) == ["tokens"]  # none of them above Gamma


def test_rows():
    groups = trust_groups(GOLD, TAGGED, task="ner", uncertain=UNCERTAIN)
    rows = trust_rows({"tagger": groups, "one_pass": {"tokens": groups["tokens"]}})
    assert [row[0] for row in rows] == [
        "finding errors",
        "tokens",
        "  one pass",
        "tokens not O",
        "tokens above Gamma",
        "entities",
    ]
    assert len({len(row) for row in rows}) == 1
    assert rows[1][1:] == rows[2][1:]
    assert rows[1][1:4] == ["33.33", "100.00", "75.00"]
