import pytest

import uanet_tf
from benchmarks import trained
from uanet_tf.data.conll import read_corpus
from uanet_tf.training.corpus_scorer import score_corpus


@pytest.fixture(scope="module")
def rows(runs):
    lines = trained.table(runs.uanet, runs.data, baseline=runs.crf, repeats=2).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    head, _, *body = cells
    return {row[0]: dict(zip(head, row, strict=True)) for row in body}


def test_a_row_for_each_way(rows):
    names = ["naive", "in batches of ten", "exact", "exact, M = 1", "adaptive", "baseline: crf"]
    assert list(rows) == names


def test_naive_tagging_gives_the_same_labels(rows):
    assert rows["naive"]["labels as exact"] == rows["exact"]["labels as exact"] == "100.00 %"
    assert rows["in batches of ten"]["labels as exact"] == "100.00 %"
    assert rows["naive"]["score"] == rows["exact"]["score"]
    assert rows["baseline: crf"]["labels as exact"] != "100.00 %"


def test_ratios_are_to_the_named_row(rows):
    for name in ("naive", "exact", "baseline: crf"):
        assert rows[name][f"times {name}"] == "1.00"
    rates = {
        name: float(row["sentences/s"].split()[0].replace(",", "")) for name, row in rows.items()
    }
    ratio = float(rows["exact"]["times naive"])
    assert ratio == pytest.approx(rates["exact"] / rates["naive"], rel=0.5)


def test_scores_are_those_of_evaluation(rows, runs):
    model, sentences = uanet_tf.load_model(runs.uanet), read_corpus(runs.data)
    scores = score_corpus(model, sentences, "ner")
    assert rows["exact"]["score"] == f"{scores['f1']:.2f}"
    assert rows["exact"]["refined tokens"] == f"{100 * scores['refined_fraction']:.1f} %"
