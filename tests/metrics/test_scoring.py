import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uanet_lite.tag_schemes import decode_spans, encode_spans
from uanet_tf.metrics.scoring import final_scores, score, score_systems
from uanet_tf.metrics.threshold_sweep import sweep_thresholds, tune_threshold

GOLD = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-ORG"]]
DRAFT = [["B-PER", "I-PER", "O", "B-ORG"], ["O", "B-ORG"]]
REFINED = [["B-PER", "O", "O", "B-LOC"], ["B-LOC", "B-ORG"]]
NATS = [[0.1, 0.5, 0.0, 0.9], [0.2, 0.3]]
FINAL = [["B-PER", "O", "O", "B-LOC"], ["O", "B-ORG"]]  # gate at 0.35

MAX_EXAMPLES = 100


def test_ner_by_hand():
    scores = score(GOLD, DRAFT, REFINED, FINAL, NATS, task="ner", threshold=0.35)
    # final: spans PER 0-1 (wrong end), LOC 3-4, ORG 1-2; gold has 3: two of three are right.
    assert scores == {
        "f1": pytest.approx(200 / 3),
        "precision": pytest.approx(200 / 3),
        "recall": pytest.approx(200 / 3),
        "accuracy": pytest.approx(500 / 6),
        "draft_f1": pytest.approx(200 / 3),
        "refined_f1": pytest.approx(100 * 2 * 2 / (4 + 3)),
        "threshold": 0.35,
        "refined_fraction": pytest.approx(2 / 6),
        "right_to_wrong": 1,
        "wrong_to_right": 1,
        "uncertainty_correct": pytest.approx((0.1 + 0.5 + 0.0 + 0.2 + 0.3) / 5),
        "uncertainty_wrong": pytest.approx(0.9),
    }


def test_pos_by_hand():
    scores = score(GOLD, DRAFT, REFINED, FINAL, NATS, task="pos", threshold=0.35)
    assert list(scores)[:3] == ["accuracy", "draft_accuracy", "refined_accuracy"]
    assert "f1" not in scores
    assert scores["draft_accuracy"] == pytest.approx(500 / 6)
    assert scores["refined_accuracy"] == pytest.approx(400 / 6)


def test_no_wrong_draft_gives_no_uncertainty_of_wrong_drafts():
    scores = score(GOLD, GOLD, GOLD, GOLD, NATS, task="ner", threshold=0.35)
    assert scores["uncertainty_wrong"] is None
    assert scores["f1"] == 100.0


def test_threshold_is_strict_and_compared_as_the_model_does():
    # The float32 next to 0.1 is larger than the double 0.1, but not larger than itself.
    exact = [[0.10000000149011612] * 4, [0.2, 0.2]]
    scores = score(GOLD, DRAFT, REFINED, FINAL, exact, task="ner", threshold=0.1)
    assert scores["refined_fraction"] == pytest.approx(2 / 6)


def test_schemes_may_differ_and_sequences_be_invalid():
    bioes = [["B-PER", "E-PER", "O", "S-LOC"], ["O", "I-ORG"]]
    systems = score_systems(GOLD, task="ner", other=bioes)
    assert systems["other"] == {"precision": 100.0, "recall": 100.0, "f1": 100.0, "accuracy": 100.0}


def test_unknown_gold_labels_are_errors():
    gold = [["B-EVENT", "I-EVENT", "O", "B-LOC"], ["O", "B-ORG"]]
    assert score_systems(gold, task="ner", final=FINAL)["final"]["recall"] == pytest.approx(200 / 3)
    assert final_scores(gold, FINAL, task="ner").types["EVENT"]["recall"] == 0.0


def test_final_scores_by_hand():
    total, types = final_scores(GOLD, DRAFT, task="ner")
    assert total == score_systems(GOLD, task="ner", draft=DRAFT)["draft"]
    assert types == {
        "LOC": {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 1},
        "ORG": {"precision": 50.0, "recall": 100.0, "f1": pytest.approx(200 / 3), "support": 1},
        "PER": {"precision": 100.0, "recall": 100.0, "f1": 100.0, "support": 1},
    }
    total, labels = final_scores([["A", "B", "B"]], [["B", "B", "C"]], task="pos")
    assert total == {"accuracy": pytest.approx(100 / 3)}
    assert labels["B"] == {"precision": 50.0, "recall": 50.0, "f1": 50.0, "support": 2}
    assert labels["C"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 0}


@pytest.mark.parametrize("name", ["", "-X-", "_", "micro avg", "0"])
def test_types_of_any_name(name):
    labels = [["B-" + name if name else "B", "O", "B-Y"]]
    total, types = final_scores(labels, labels, task="ner")
    assert total["f1"] == 100.0
    assert list(types) == sorted([name, "Y"])
    assert all(scores["support"] == 1 for scores in types.values())


def test_final_scores_of_nothing():
    total, types = final_scores([["O"]], [["O"]], task="ner")
    assert total == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "accuracy": 100.0}
    assert types == {}


@pytest.mark.parametrize(
    ("gold", "draft", "nats", "message"),
    [
        (GOLD, DRAFT[:1], NATS, "`gold` and `draft` differ"),
        (GOLD, [DRAFT[1], DRAFT[0]], NATS, "`gold` and `draft` differ"),
        (GOLD, DRAFT, NATS[:1], "4 uncertainties for 6 tokens"),
        ([], [], [], "no token"),
    ],
)
def test_arguments_that_do_not_fit(gold, draft, nats, message):
    others = (REFINED, FINAL) if gold else ([], [])
    with pytest.raises(ValueError, match=message):
        score(gold, draft, *others, nats, task="ner", threshold=0.35)


def test_unknown_task():
    with pytest.raises(ValueError, match="'chunk'"):
        score_systems(GOLD, task="chunk", final=FINAL)


labels = st.sampled_from(["O", "B-A", "I-A", "B-B-C", "I-B-C", "E-A", "S-A", "O", "O"])


@st.composite
def corpora(draw, systems):
    lengths = draw(st.lists(st.integers(1, 7), min_size=1, max_size=5))
    return [
        [draw(st.lists(labels, min_size=n, max_size=n)) for n in lengths] for _ in range(systems)
    ]


@settings(max_examples=MAX_EXAMPLES, deadline=None)
@given(corpora(2))
def test_the_own_count_equals_seqeval(corpus):
    """To the last bit, in its strict mode, of all entities and of one type alone."""
    gold, predicted = corpus
    total, types = final_scores(gold, predicted, task="ner")
    assert score_systems(gold, task="ner", given=predicted)["given"] == total
    for name, expected in types.items():
        rows = [[only(name, row) for row in rows] for rows in corpus]
        found = score_systems(rows[0], task="ner", given=rows[1])["given"]
        assert {key: found[key] for key in ("precision", "recall", "f1")} == {
            key: expected[key] for key in ("precision", "recall", "f1")
        }


def only(name, labels):
    spans = [span for span in decode_spans(labels, "BIOES") if span.type == name]
    return encode_spans(spans, len(labels), "IOB2")


def gated(draft, refined, nats, threshold):
    return [
        [r if u > threshold else d for d, r, u in zip(*rows, strict=True)]
        for rows in zip(draft, refined, nats, strict=True)
    ]


@settings(max_examples=MAX_EXAMPLES, deadline=None)
@given(corpora(3), st.sampled_from(["ner", "pos"]), st.data())
def test_sweep_equals_scoring_each_threshold(corpus, task, data):
    gold, draft, refined = corpus
    grid = st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0])
    nats = [data.draw(st.lists(grid, min_size=len(r), max_size=len(r))) for r in gold]
    thresholds = [0.0, 0.125, 0.2, 0.25, 0.5, 1.0, 2.0]
    points = sweep_thresholds(gold, draft, refined, nats, task=task, thresholds=thresholds)
    measure = "f1" if task == "ner" else "accuracy"
    tokens = [u for row in nats for u in row]
    for threshold, point in zip(thresholds, points, strict=True):
        final = gated(draft, refined, nats, threshold)
        expected = score_systems(gold, task=task, final=final)["final"][measure]
        assert point.threshold == threshold
        assert point.score == pytest.approx(expected)
        assert point.refined_fraction == pytest.approx(
            sum(u > threshold for u in tokens) / len(tokens)
        )
    best = tune_threshold(gold, draft, refined, nats, task=task, thresholds=thresholds)
    top = max(point.score for point in points)
    assert best == max(point.threshold for point in points if point.score == top)


def test_calibration_is_that_of_the_final_labels():
    certain = [[1.0] * len(row) for row in GOLD]
    scores = score(
        GOLD, DRAFT, REFINED, FINAL, NATS, task="ner", threshold=0.35, confidence=certain
    )
    assert scores["calibration_error"] == pytest.approx(100.0 - scores["accuracy"])


def test_default_thresholds_span_all_and_nothing():
    points = sweep_thresholds(GOLD, DRAFT, REFINED, NATS, task="ner")
    assert points[0].threshold == 0.0
    assert points[-1].refined_fraction == 0.0
    assert points[-1].score == pytest.approx(200 / 3)  # the draft's
    assert len(points) >= 4
    # Best: refine the token at 0.9, not the one at 0.5.
    assert 0.5 <= tune_threshold(GOLD, DRAFT, REFINED, NATS, task="ner") < 0.9
