import re

import pytest

from tests.tagging.fake_model import FakeModel
from uanet_tf.evaluation.report import evaluate_tagged, evaluation_table
from uanet_tf.metrics.unknown_labels import unknown_labels
from uanet_tf.tagging.sentence_stream import tag

GOLD = [["B-PER", "I-PER"], ["B-LOC", "O", "B-PER"]]
TOKENS = [["p0", "q1"], ["X2", "x", "P3"]]


def evaluate(gold, tokens, task="ner", seconds=0.5):
    model = FakeModel(label_scheme="IOB2" if task == "ner" else None)
    return evaluate_tagged(
        gold,
        tag(model, tokens),
        task=task,
        threshold=model.threshold,
        seconds=seconds,
        known_labels=model.label_names,
    )


def test_table_of_entities():
    text = evaluation_table(evaluate(GOLD, TOKENS), "dev.conll")
    assert text == (
        "dev.conll: 2 sentences, 5 tokens, 4 sentences/s\n"
        "\n"
        "                  precision     recall         F1   accuracy\n"
        "draft                100.00      66.67      80.00      80.00\n"
        "refined               66.67      66.67      66.67      80.00\n"
        "gated                 66.67      66.67      66.67      80.00\n"
        "\n"
        "by type           precision     recall         F1      count\n"
        "PER                  100.00      50.00      66.67          2\n"
        "LOC                   50.00     100.00      66.67          1\n"
        "\n"
        "finding errors        wrong    AUROC  by nats     AU"
        "PR     AURC   E-AURC    Brier      ECE\n"
        "tokens                20.00    50.00    87.50    20."
        "00    20.00    16.00   0.1625     5.00\n"
        "tokens not O          25.00    50.00    83.33    25."
        "00    25.00    18.75   0.1875     0.00\n"
        "tokens above Gamma    50.00    50.00    50.00    50."
        "00    50.00    25.00   0.3125    25.00\n"
        "entities              33.33    50.00    75.00    33."
        "33    33.33    22.22   0.2292     8.33\n"
        "\n"
        "uncertainty   0.3250 nats where the draft is right, 1.0000 nats where it is wrong "
        "(3.1 times as much)\n"
        "gate          40.00 % of tokens above 0.35 nats took the refined label\n"
        "              1 wrong -> right, 1 right -> wrong"
    )


def test_metrics_have_the_keys_of_metrics_json():
    evaluation = evaluate(GOLD, TOKENS)
    assert set(evaluation.metrics) == {
        *("f1", "precision", "recall", "accuracy", "draft_f1", "refined_f1", "threshold"),
        *("refined_fraction", "right_to_wrong", "wrong_to_right", "calibration_error"),
        *("uncertainty_correct", "uncertainty_wrong", "sentences_per_second"),
    }
    assert evaluation.metrics["sentences_per_second"] == pytest.approx(4.0)


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
