import dataclasses
import re

import pytest

from tests.tagging.fake_model import FakeModel
from uanet_tf.evaluation.report import evaluate_tagged, evaluation_table
from uanet_tf.metrics.unknown_labels import unknown_labels
from uanet_tf.tagging.sentence_stream import tag

GOLD = [["B-PER", "I-PER"], ["B-LOC", "O", "B-PER"]]
TOKENS = [["p0", "q1"], ["X2", "x", "P3"]]
_SHARES = {"same_labels": 1.0, "same_labels_not_o": 1.0, "same_gate": 1.0}
_SYSTEMS = ("distilled", "exact", "one_pass")
DISTILLED = {"kl": 0.1, "kl_of_samples": 0.2, "kl_of_one_pass": 0.3, "num_samples": 8, **_SHARES}
DISTILLED |= {"score": dict.fromkeys(_SYSTEMS, 100.0), "auroc": dict.fromkeys(_SYSTEMS, 100.0)}
DISTILLED |= {"as_reference": dict.fromkeys(_SYSTEMS, _SHARES)}


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


def test_a_file_without_entities():
    evaluation = evaluate([["O", "O"], ["O"]], [["x", "y"], ["z"]])
    text = evaluation_table(evaluation)
    assert "draft                     -          -          -     100.00\n" in text
    assert "gated                     -          -          -     100.00\n" in text
    assert "\n(the file has no entities, and none was found)\n" in text
    assert "by type" not in text
    text = evaluation_table(dataclasses.replace(evaluation, distilled=DISTILLED))
    assert "AUROC of drafts" in text
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
