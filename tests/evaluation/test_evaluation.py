"""Evaluation of a tagger on a labelled corpus: numbers and tables."""

import dataclasses
import re

import numpy as np
import pytest

from tests.tagging.fake_model import FakeModel, FakeWeight
from uanet_lite.sentence import Sentence
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.evaluation import evaluation
from uanet_tf.evaluation.evaluation import (
    distilled_scores,
    evaluate_tagged,
    evaluation_table,
    has_trained_head,
    trust_groups,
)
from uanet_tf.metrics.scoring import unknown_labels
from uanet_tf.models import nearness
from uanet_tf.tagging.streams import tag

GOLD = [["B-PER", "I-PER"], ["B-LOC", "O", "B-PER"]]
TOKENS = [["p0", "q1"], ["X2", "x", "P3"]]
_SHARES = {"same_labels": 1.0, "same_labels_not_o": 1.0, "same_gate": 1.0}
_SYSTEMS = ("distilled", "exact", "one_pass")
DISTILLED = {"kl": 0.1, "kl_of_samples": 0.2, "kl_of_one_pass": 0.3, "num_samples": 8, **_SHARES}
DISTILLED |= {"score": dict.fromkeys(_SYSTEMS, 1.0)}


def evaluate(gold, tokens, task="ner", seconds=0.5, known=None, one_pass=None):
    model = FakeModel(label_scheme="IOB2" if task == "ner" else None)
    return evaluate_tagged(
        gold,
        tag(model, tokens),
        task=task,
        threshold=model.threshold,
        seconds=seconds,
        known_labels=model.label_names,
        known=known,
        one_pass=one_pass,
    )


def test_table_of_entities():
    text = evaluation_table(evaluate(GOLD, TOKENS), "dev.conll")
    assert evaluate(GOLD, TOKENS)._repr_html_().startswith("<pre>")
    assert text == (
        "dev.conll: 2 sentences, 5 tokens, 4 sentences/s\n"
        "\n"
        "seqeval, strict   precision     recall         F1   accuracy\n"
        "draft                100.00      66.67      80.00      80.00\n"
        "refined               66.67      66.67      66.67      80.00\n"
        "gated                 66.67      66.67      66.67      80.00\n"
        "\n"
        "by type           precision     recall         F1      count\n"
        "PER                  100.00      50.00      66.67          2\n"
        "LOC                   50.00     100.00      66.67          1\n"
        "\n"
        "finding errors      wrong  AUROC by nats   AUPR   AURC E-AURC  Brier    ECE\n"
        "tokens              20.00  50.00   87.50  20.00  20.00  16.00 0.1625   5.00\n"
        "tokens not O        25.00  50.00   83.33  25.00  25.00  18.75 0.1875   0.00\n"
        "tokens above Gamma  50.00  50.00   50.00  50.00  50.00  25.00 0.3125  25.00\n"
        "entities            33.33  50.00   75.00  33.33  33.33  22.22 0.2292   8.33\n"
        "\n"
        "uncertainty   0.3250 nats where the draft is right,\n"
        "              1.0000 nats where it is wrong (3.1 times as much)\n"
        "gate          40.00 % of tokens above 0.35 nats took the refined label\n"
        "              1 wrong -> right, 1 right -> wrong"
    )


def test_a_table_fits_a_terminal():
    """Of 80 columns, also where `uanet demo` indents it by two; no line ends in blanks."""
    # All answers wrong: the widest numbers, 100.00.
    evaluation = evaluate([["B-LOC", "B-LOC"], ["O", "B-LOC", "O"]], TOKENS)
    trust = evaluation.trust | {"one_pass": evaluation.trust["tagger"]}
    evaluation = dataclasses.replace(evaluation, trust=trust, distilled=DISTILLED)
    lines = evaluation_table(evaluation, "dev.conll").split("\n")
    assert any("100.00" in line for line in lines)
    assert any(line.startswith("gate as by M") for line in lines)
    assert [line for line in lines if len(line) > 78] == []
    assert [line for line in lines if line != line.rstrip()] == []


def test_entities_with_and_without_an_unseen_word():
    """p0 q1 and P3 against X2: the second word of the first entity and X2 are unseen."""
    whole = evaluate(GOLD, TOKENS)
    known = [[True, False], [False, True, True]]
    found = evaluate(GOLD, TOKENS, known=known)
    entities = [entity for answer in tag(FakeModel(), TOKENS) for entity in answer.entities]
    assert [entity.text for entity in entities] == ["p0 q1", "X2", "P3"]
    seen, unseen = found.words["words of training"], found.words["an unseen word"]
    assert (seen.score, seen.size, unseen.score, unseen.size) == (0.0, 1, 1.0, 2)
    assert seen.uncertainty == pytest.approx(entities[2].uncertainty)
    assert unseen.uncertainty == pytest.approx(np.mean([e.uncertainty for e in entities[:2]]))
    assert seen.ece == pytest.approx(entities[2].confidence)  # it is wrong
    assert found.to_dict()["words"]["an unseen word"] == unseen._asdict()
    lines = [line.split("  ")[0] for line in evaluation_table(found).split("\n")]
    assert lines.count("by word") == lines.count("an unseen word") == 1
    assert "by word" not in evaluation_table(whole)


def test_tokens_with_and_without_an_unseen_word():
    known = [[True, False], [False, True, True]]
    found = evaluate([["A", "B"], ["A", "B", "A"]], TOKENS, task="pos", known=known)
    seen, unseen = found.words["words of training"], found.words["an unseen word"]
    assert seen.size + unseen.size == found.tokens == 5
    right = (seen.score * seen.size + unseen.score * unseen.size) / 5
    assert right == pytest.approx(found.metrics["accuracy"])


def test_a_file_without_entities():
    tokens = [["x", "y"], ["z"]]
    plain = tag(FakeModel(label_scheme="IOB2"), tokens)
    plain = [dataclasses.replace(each, uncertainty=[0.2] * len(each.tokens)) for each in plain]
    evaluation = evaluate([["O", "O"], ["O"]], tokens, one_pass=plain)
    text = evaluation_table(evaluation)
    assert "M = 0                     -          -          -     100.00\n" in text
    assert "draft                     -          -          -     100.00\n" in text
    assert "gated                     -          -          -     100.00\n" in text
    assert "\n(the file has no entities, and none was found)\n" in text
    assert "by type" not in text
    text = evaluation_table(dataclasses.replace(evaluation, distilled=DISTILLED))
    assert "KL to 32 samples" in text
    assert "\nF1 " not in text
    assert evaluation.metrics["f1"] == evaluation.to_dict()["f1"] == 0.0  # as conlleval


def test_entities_found_in_a_file_without_any():
    """P3: an entity, whatever the gate does."""
    text = evaluation_table(evaluate([["O", "O"]], [["x", "P3"]]))
    assert "gated                  0.00       0.00       0.00      50.00\n" in text
    assert "no entities" not in text
    assert "by type" in text


def test_one_sentence_of_one_token():
    text = evaluation_table(evaluate([["B-PER"]], [["p0"]]))
    assert text.startswith("1 sentence, 1 token, 2 sentences/s\n")


def test_no_wrong_draft():
    text = evaluation_table(evaluate([["B-PER", "O"]], [["p0", "x"]]))
    assert "- nats where it is wrong\n" in text
    assert "times as much" not in text


def test_many_labels_show_those_most_often_missed():
    gold = [[f"T{i:02d}"] * (i + 1) for i in range(20)] + [["B-PER"] * 100]
    tokens = [["x"] * len(row) for row in gold[:-1]] + [["p"] * 100]
    evaluation = evaluate(gold, tokens, task="pos")
    text = evaluation_table(evaluation)
    names = re.findall(r"^(T\d\d|O|B-PER) ", text, re.MULTILINE)
    assert names == [f"T{i:02d}" for i in range(19, 7, -1)]  # not B-PER, though it is largest
    assert "(10 labels missed less often are not shown)" in text


def test_unknown_labels():
    gold = [["B-PER", "I-X", "O"], ["I-X", "B-X", "S-PER"]]
    assert unknown_labels(gold, ["O", "B-PER", "I-PER"], "ner") == {"I-X": 2, "B-X": 1}
    assert unknown_labels(gold, ["O", "B-PER"], "pos") == {"I-X": 2, "B-X": 1, "S-PER": 1}


TRUST_GOLD = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-ORG"]]
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
    groups = trust_groups(TRUST_GOLD, TAGGED, task="ner", uncertain=UNCERTAIN)
    sizes = {name: (group.size, group.wrong) for name, group in groups.items()}
    assert sizes == {
        "tokens": (6, pytest.approx(1 / 3)),
        "labelled_tokens": (5, pytest.approx(0.4)),
        "uncertain_tokens": (2, pytest.approx(0.5)),
        "entities": (4, pytest.approx(0.5)),
    }
    # An entity's confidence is that of its least confident token, its nats the most uncertain's.
    assert groups["entities"].mean_confidence == pytest.approx((0.7 + 0.6 + 0.65 + 0.8) / 4)
    assert groups["entities"].auroc == 1.0
    assert groups["entities"].auroc_uncertainty == pytest.approx(0.5)
    assert groups["tokens"].auroc == 1.0
    assert groups["tokens"].auroc_uncertainty == pytest.approx(6 / 8)


def test_labels_without_spans_have_no_entities():
    groups = trust_groups([["A", "B"]], [TAGGED[1]], task="pos", uncertain=UNCERTAIN[4:])
    assert list(groups) == ["tokens"]  # none of them above Gamma


NEARNESS = {"kl": 0.001, "kl_of_samples": 0.002, "kl_of_one_pass": 0.003}
NEARNESS |= {"same_labels_not_o": 0.9, "same_gate": 0.8}
# X2 is wrong as draft (O), P3 where it is refined (B-LOC); so is o4 either way.
SENTENCES = [
    Sentence(("p0", "q1"), ("B-PER", "I-PER"), 1, True),
    Sentence(("X2", "x", "P3", "o4"), ("B-LOC", "O", "B-PER", "B-PER"), 4, False),
]


@pytest.fixture
def scores(monkeypatch):
    read = []
    monkeypatch.setattr(
        nearness,
        "compare_with_samples",
        lambda model, sentences, *, most: read.append(most) or NEARNESS,
    )
    shut, open_ = FakeModel(threshold=2.0), FakeModel()
    tokens = [sentence.tokens for sentence in SENTENCES]
    answers = {"exact": tag(open_, tokens), "distilled": tag(shut, tokens)}
    answers["one_pass"] = tag(shut, [[token.lower() for token in row] for row in tokens])
    found = distilled_scores(open_, SENTENCES, answers, task="ner")
    assert read == [evaluation.COMPARED]
    return found


def test_scores(scores):
    assert scores.items() >= NEARNESS.items()
    assert (scores["compared"], scores["num_samples"]) == (2, 8)
    # Gold: 4 entities. Without refinement 2 are found, both right; refined 3, of which 2 are right.
    assert scores["score"]["distilled"] == pytest.approx(2 * 2 / (4 + 2))
    assert scores["score"]["exact"] == pytest.approx(2 * 2 / (4 + 3))


def test_only_a_trained_head_counts():
    model = FakeModel()
    assert not has_trained_head(model)
    model.drafter.distilled = FakeWeight(0.0)
    model.drafter.distilled.was_trained = FakeWeight(0.0)
    assert not has_trained_head(model)
    model.drafter.distilled.was_trained.assign(1.0)
    assert has_trained_head(model)
