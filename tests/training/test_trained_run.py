"""``uanet_tf.train``: data of any kind in, a model with its history and scores out."""

import csv
import io
import json

import numpy as np
import pytest

import uanet_tf
from tests.training.tiny_run import (
    LIGHT,
    TINY,
    assert_same_weights,
    metrics,
    timeless,
    write_corpus,
)
from tools import make_metrics_page
from uanet_lite.columns_file import read_corpus
from uanet_tf.errors import InputError
from uanet_tf.metrics.run_metrics import KEYS, SCORES, metrics_text, read_run_metrics

NOT_READ = ("refiner", "char", "hidden", "threshold")
SETTINGS = {name: value for name, value in TINY.items() if not name.startswith(NOT_READ)}
SETTINGS |= LIGHT | {"epochs": 2, "min_epochs": 1, "recipe": None}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"))


def pairs(path):
    return [(list(each.tokens), list(each.labels)) for each in read_corpus(path)]


class Table:
    """As a DataFrame of pandas, as far as it is looked at."""

    ndim = 2

    def __init__(self, path):
        self.columns = ["Sentence #", "Word", "Tag"]
        self.rows = [
            (f"s{number}", token, label)
            for number, (tokens, labels) in enumerate(pairs(path))
            for token, label in zip(tokens, labels, strict=True)
        ]

    def to_csv(self, index, lineterminator):
        assert index is False
        stream = io.StringIO()
        csv.writer(stream, lineterminator=lineterminator).writerows([self.columns, *self.rows])
        return stream.getvalue()


@pytest.fixture(scope="module")
def of_files(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "files"
    files = {"train": corpus.train, "dev": corpus.dev, "test": corpus.test}
    return uanet_tf.train(**files, run_dir=folder, verbose=0, **SETTINGS)


def test_model_history_and_scores(of_files):
    saved = json.loads((of_files.run_dir / "metrics.json").read_text())
    assert of_files.scores == {"dev": saved["dev"], "test": saved["test"]}
    assert of_files.history["epoch"] == [1, 2]
    assert of_files.history["dev_f1"] == [each["dev"]["f1"] for each in saved["epochs"]]
    assert {len(values) for values in of_files.history.values()} == {2}
    assert of_files.best_epoch == saved["best_epoch"]
    assert uanet_tf.tag(of_files.model, [["Anna", "met", "Bo"]])[0].labels
    percent = metrics(of_files.run_dir)["dev"]["f1"]
    assert percent == pytest.approx(100 * of_files.scores["dev"]["f1"])
    assert f"dev f1 {percent:.2f} %, test f1" in repr(of_files)


WHOLE = ("epochs.dev", "monitoring", "calibration.acceptance", "calibration.candidates")


def test_every_key_of_metrics_json_is_on_the_page(of_files):
    """And every key of the page is one of a run with a gate, a target and a pretrained encoder."""
    assert make_metrics_page.PAGE.read_text(encoding="utf-8") == make_metrics_page.page()
    saved = json.loads((of_files.run_dir / "metrics.json").read_text())
    assert saved["scores"] == "fractions"

    def names(values, before=""):
        for key, value in values.items():
            parent = before.rstrip(".").rpartition(".")[2]
            key = "GROUP" if key in ("tokens", "entities") else key
            key = "TYPE" if parent == "types" else key
            yield f"{before}{key}"
            inside = value[0] if key == "epochs" else value
            if isinstance(inside, dict) and f"{before}{key}" not in WHOLE:
                yield from names(inside, f"{before}{key}.")

    found = {name.replace("test.", "dev.", 1) for name in names(saved)}
    found -= {"calibration.GROUP", "dev.types.TYPE"}
    assert found <= set(KEYS)
    epoch, dev = saved["epochs"][0], saved["dev"]
    assert set(epoch["dev"]) <= set(SCORES)
    assert 0 < epoch["loss_draft"] == pytest.approx(epoch["loss"])  # there is no refiner
    assert epoch["learning_rate_draft"] > saved["epochs"][1]["learning_rate_draft"] >= 0
    shares = [dev[name] for name, key in SCORES.items() if key.unit == "fraction" and name in dev]
    assert len(shares) >= 5
    assert max(shares) <= 1
    support = sum(each["support"] for each in dev["types"].values())
    right = sum(each["recall"] * each["support"] for each in dev["types"].values())
    assert right / support == pytest.approx(dev["recall"])


def test_metrics_are_fractions_in_the_file(tmp_path):
    old = {"task": "ner", "epochs": [], "best_epoch": None}
    old["dev"] = dict.fromkeys(("uncertainty_correct", "uncertainty_wrong"))
    old["dev"] |= {"f1": 63.26, "sentences_per_second": 9.0, "types": {"LOC": {"f1": 50.0}}}
    path = tmp_path / "metrics.json"
    path.write_text(metrics_text(old))
    assert json.loads(path.read_text())["dev"]["f1"] == 0.6326
    assert json.loads(path.read_text())["dev"]["types"]["LOC"] == {"f1": 0.5}
    assert read_run_metrics(path) == old


def test_lists_and_a_table_in_a_folder_that_is_removed(corpus, of_files, capfd):
    """The same weights as of files; the bar has the scores of each epoch."""
    run = uanet_tf.train(pairs(corpus.train), Table(corpus.dev), **SETTINGS)
    said = capfd.readouterr().err
    for epoch, score in enumerate(run.history["dev_f1"], 1):
        assert f"epoch {epoch}/2" in said
        assert f"dev f1={100 * score:.2f}" in said
    assert_same_weights(run.run_dir, of_files.run_dir)
    assert timeless(run.scores["dev"]) == timeless(of_files.scores["dev"])
    folder = run.run_dir
    del run
    assert not folder.exists()


def test_a_kept_run_of_lists_is_silent_goes_on_and_refuses_other_data(corpus, tmp_path, capfd):
    data = {"train": pairs(corpus.train), "dev": pairs(corpus.dev)}
    options = SETTINGS | {"run_dir": tmp_path / "run", "epochs": 1, "verbose": 0}
    run = uanet_tf.train(**data, **options)
    assert "epoch " not in capfd.readouterr().err  # warnings alone are told
    assert pairs(tmp_path / "run" / "data" / "dev.conll") == data["dev"]
    assert uanet_tf.train(**data, **options).scores == run.scores
    with pytest.raises(InputError, match="is not what the run"):
        uanet_tf.train(**(data | {"dev": data["dev"][1:]}), **options)
    assert pairs(tmp_path / "run" / "data" / "dev.conll") == data["dev"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (None, r"^dev must be a path, a list of \(tokens, labels\), or a DataFrame"),
        (7, "^dev must be a path"),
        ([], "^dev must be .* has no sentence"),
        ([(["a"], ["O"]), "text"], r"^dev\[1\] must be \(tokens, labels\)"),
        ([(["a"],)], r"^dev\[0\] must be \(tokens, labels\)"),
        ([(["a", "b"], ["O"])], r"^dev\[0\] has 2 tokens and 1 labels"),
        ([([], [])], r"^dev\[0\] is empty"),
        ([(["a"], [3])], r"^dev\[0\]: label 0 must be a string"),
        ([(["a\tb"], ["O"])], r"^dev: 'a\\tb' cannot be written in columns"),
        ("nowhere.conll", "^nowhere.conll: no such file"),
    ],
)
def test_something_else_is_an_input_error(wrong, said, corpus, tmp_path):
    with pytest.raises(InputError, match=said):
        uanet_tf.train(corpus.train, wrong, run_dir=tmp_path / "run", **SETTINGS)
    assert not (tmp_path / "run").exists()


def test_files_are_arguments(corpus):
    with pytest.raises(InputError, match="test_path is no setting here: give the file as `test`"):
        uanet_tf.train(corpus.train, corpus.dev, test_path="nowhere.conll", **SETTINGS)


def test_columns_of_a_table(corpus, tmp_path):
    table = Table(corpus.dev)
    table.columns = ["Sentence #", "Word", "POS"]
    with pytest.raises(InputError, match=r"^dev: no column is called as one of labels is"):
        uanet_tf.train(corpus.train, table, run_dir=tmp_path / "run", **SETTINGS)
    with pytest.raises(InputError, match="label_column cannot be of a file and of a table"):
        uanet_tf.train(corpus.train, table, label_column="POS", **SETTINGS)
    table.columns = ["number", "Word", "Tag"]
    with pytest.raises(InputError, match=r"^dev must be .* Its columns are number, Word, Tag"):
        uanet_tf.train(corpus.train, table, **SETTINGS)


def test_a_dataframe_of_pandas(corpus):
    pandas = pytest.importorskip("pandas")
    from uanet_tf.formats.labelled_data import labelled_sentences

    table = Table(corpus.dev)
    frame = pandas.DataFrame(table.rows, columns=table.columns)
    first = frame["Sentence #"].duplicated()
    frame.loc[first, "Sentence #"] = np.nan  # as Kaggle's file has it
    found = labelled_sentences(frame, "dev")
    assert [(list(s.tokens), list(s.labels)) for s in found] == pairs(corpus.dev)


def test_verbose_is_0_or_1(corpus):
    with pytest.raises(InputError, match="verbose must be 0 or 1"):
        uanet_tf.train(corpus.train, corpus.dev, verbose="yes")


def test_a_corpus_without_entities():
    """It warns, trains and tags."""
    sentences = [(["a", "b"], ["O", "O"])] * 4
    run = uanet_tf.train(sentences, sentences, verbose=0, **SETTINGS)
    run.model.return_candidates = True
    (answer,) = uanet_tf.tag(run.model, ["a b"])
    assert (answer.labels, list(answer.entities), list(answer.candidates)) == (["O", "O"], [], [])


@pytest.mark.parametrize("recipe", [3, ["fast"]])
def test_a_recipe_that_is_no_name(corpus, recipe):
    with pytest.raises(InputError, match="`recipe` must be the name of a recipe"):
        uanet_tf.train(corpus.train, corpus.dev, recipe=recipe)
