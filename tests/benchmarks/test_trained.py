import types

import pytest

import uanet_tf
from benchmarks import trained
from uanet_lite.columns_file import read_corpus
from uanet_tf.training.corpus_scorer import score_corpus


@pytest.fixture(scope="module")
def rows(runs):
    lines = trained.table(runs.uanet, runs.data, baselines=[runs.crf], repeats=2).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    head, _, *body = cells
    return {row[0]: dict(zip(head, row, strict=True)) for row in body}


def test_a_row_for_each_way(rows):
    names = ["naive", "in batches of ten", "exact", "exact, M = 1", "distilled", "baseline: crf"]
    assert list(rows) == names


def test_naive_tagging_gives_the_same_labels(rows):
    assert rows["naive"]["labels as exact"] == rows["exact"]["labels as exact"] == "100.00 %"
    assert rows["in batches of ten"]["labels as exact"] == "100.00 %"
    assert rows["naive"]["score"] == rows["exact"]["score"]
    assert rows["baseline: crf"]["labels as exact"] != "100.00 %"


def test_ratios_are_of_the_same_round():
    """A round in which all is slow changes no ratio; rates are at the median."""
    tagged = [types.SimpleNamespace(labels=["O"], refined=[False])]
    seconds = {
        "naive": [4.0, 40.0, 6.0],
        "exact": [2.0, 20.0, 2.0],
        "baseline: crf": [1.0, 10.0, 1.0],
    }
    rows = [trained.Row(name, list, times, tagged) for name, times in seconds.items()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trained, "_score", lambda *_: 50.0)
        lines = trained._lines(rows, ["a sentence"] * 12)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0][1:5] == ["sentences/s", "times naive", "times exact", "times baseline: crf"]
    assert cells[2][1:5] == ["2 (0 to 3)", "1.00", "0.50", "0.25"]
    assert cells[3][1:5] == ["6 (1 to 6)", "2.00", "1.00", "0.50"]
    assert cells[4][1:5] == ["12 (1 to 12)", "4.00", "2.00", "1.00"]


def test_scores_are_those_of_evaluation(rows, runs):
    model, sentences = uanet_tf.load_model(runs.uanet), read_corpus(runs.data)
    scores = score_corpus(model, sentences, "ner")
    assert rows["exact"]["score"] == f"{scores['f1']:.2f}"
    assert rows["exact"]["refined tokens"] == f"{100 * scores['refined_fraction']:.1f} %"
