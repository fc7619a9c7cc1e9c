"""One pass beside samples, for a model of a few lines and fixed divergences."""

import pytest

from tests.tagging.fake_model import FakeModel, FakeWeight
from uanet_tf.data.columns_file import Sentence
from uanet_tf.evaluation import distilled_report
from uanet_tf.evaluation.distilled_report import distilled_rows, distilled_scores, has_trained_head
from uanet_tf.metrics import nearness
from uanet_tf.tagging.sentence_stream import tag

NEARNESS = {"kl": 0.001, "kl_of_samples": 0.002, "kl_of_one_pass": 0.003}
NEARNESS |= {"same_labels": 0.99, "same_labels_not_o": 0.9, "same_gate": 0.8}
NEARNESS["as_reference"] = {
    name: {"same_labels": 0.99 - less, "same_labels_not_o": 0.91 - less, "same_gate": 0.81 - less}
    for name, less in {"distilled": 0.0, "exact": 0.01, "one_pass": 0.02}.items()
}
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
    assert read == [distilled_report.COMPARED]
    return found


def test_scores(scores):
    assert scores.items() >= NEARNESS.items()
    assert (scores["compared"], scores["num_samples"]) == (2, 8)
    # Gold: 4 entities. Without refinement 2 are found, both right; refined 3, of which 2 are right.
    assert scores["score"]["distilled"] == pytest.approx(100 * 2 * 2 / (4 + 2))
    assert scores["score"]["exact"] == pytest.approx(100 * 2 * 2 / (4 + 3))
    # Wrong as draft: X2 (1 nat) and o4 (0.1). Right: P3 (1 nat) and three of 0.1.
    assert scores["auroc"]["exact"] == pytest.approx(100 * (0.5 + 3 + 0 + 1.5) / 8)
    assert scores["auroc"]["one_pass"] == 50.0  # all of 0.1 nats


def test_rows(scores):
    rows = distilled_rows(scores, "ner")
    assert rows[0] == ["one pass for M", "distilled", "M = 8", "softmax"]
    assert rows[1] == ["KL to 32 samples", "0.00100", "0.00200", "0.00300"]
    assert rows[2] == ["F1", "66.67", "57.14", "66.67"]
    assert rows[3] == ["AUROC of drafts", "62.50", "62.50", "50.00"]
    assert rows[4:7] == [
        ["labels as by 32", "99.00", "98.00", "97.00"],
        ["those not O as by 32", "91.00", "90.00", "89.00"],
        ["gate as by 32", "81.00", "80.00", "79.00"],
    ]
    assert [row[:2] for row in rows[7:]] == [
        ["labels as by M", "99.00"],
        ["those not O as by M", "90.00"],
        ["gate as by M", "80.00"],
    ]
    del scores["same_gate"]
    assert len(distilled_rows(scores, "pos")) == 8


def test_only_a_trained_head_counts():
    model = FakeModel()
    assert not has_trained_head(model)
    model.drafter.distilled = FakeWeight(0.0)
    model.drafter.distilled.was_trained = FakeWeight(0.0)
    assert not has_trained_head(model)
    model.drafter.distilled.was_trained.assign(1.0)
    assert has_trained_head(model)
