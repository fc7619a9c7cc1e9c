"""A run that reads documents is scored, evaluated and tagged the same way."""

import json

import numpy as np
import pytest

import uanet_tf
from tests.training.killing import Moment, fit_with_copies
from tests.training.tiny_run import LIGHT, WORDS, assert_same_weights, tiny_config, write_corpus
from uanet_lite.columns_file import read_corpus
from uanet_tf.commands import runner
from uanet_tf.commands.evaluate_command import evaluate
from uanet_tf.tagging.streams import tag_in_context
from uanet_tf.training.fit import fit
from uanet_tf.training.saved_state import Progress


def mark_documents(path):
    """Puts a mark before every third sentence."""
    parts = [text for text in path.read_text().split("\n\n") if text.strip()]
    parts = [("-DOCSTART- O\n\n" if k % 3 == 0 else "") + part for k, part in enumerate(parts)]
    path.write_text("\n\n".join(parts) + "\n")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    corpus = write_corpus(folder)
    for path in folder.glob("*.conll"):
        mark_documents(path)
    parts = LIGHT | {"encoder": "id_cnn", "context": "document", "num_samples": 0, "epochs": 1}
    config = tiny_config(corpus, **parts, min_epochs=1, max_tokens=60)
    return corpus, folder / "run", fit(config, folder / "run")


def test_neighbours_are_read(trained):
    corpus, run_dir, _ = trained
    model = uanet_tf.load_model(run_dir)
    assert model.context == "document"
    sentences = read_corpus(corpus.dev)
    together = [answer.uncertainty for _, answer in tag_in_context(model, sentences)]
    alone = [answer.uncertainty for _, answer in tag_in_context(model, sentences, alone=True)]
    assert together != alone
    assert [len(row) for row in together] == [len(row) for row in alone]


@pytest.fixture(scope="module")
def refined(trained, tmp_path_factory):
    """Runs of two epochs whose refiner reads the document, and the sentence."""
    folder = tmp_path_factory.mktemp("refined")
    # A kill in the second epoch, when the drafts of the first are read.
    moment = Moment(Progress, "advance", 14)
    config = reading(trained[0], "document")
    fit_with_copies(config, folder / "document", {folder / "killed": moment})
    fit(reading(trained[0], "sentence"), folder / "sentence")
    return trained[0], folder


def reading(corpus, context):
    """A light one, which saves its state after each step."""
    parts = WORDS | {"refiner_context": context, "calibrated": False, "num_samples": 0}
    parts |= {"min_epochs": 2}
    return tiny_config(corpus, **parts, epochs=2, save_seconds=0, max_tokens=60)


def test_the_drafter_is_trained_as_without_documents(refined):
    """To the last bit: batches, masks and losses are the same."""
    _, folder = refined
    one, other = (uanet_tf.load_model(folder / name) for name in ("document", "sentence"))
    for left, right in zip(one.drafter.weights, other.drafter.weights, strict=True):
        assert (left.numpy() == right.numpy()).all(), left.name


def test_evaluation_reads_the_documents_too(refined, capsys):
    corpus, folder = refined
    metrics = json.loads((folder / "document" / "metrics.json").read_text())
    argv = ["evaluate", f"--run_dir={folder / 'document'}", f"--input={corpus.test}", "--json"]
    capsys.readouterr()
    assert runner.exit_code(evaluate, argv) == 0
    scores = json.loads(capsys.readouterr().out)
    for name in ("f1", "refined_f1", "accuracy", "calibration_error", "wrong_to_right"):
        assert scores[name] == pytest.approx(metrics["test"][name], abs=1e-9)
    model = uanet_tf.load_model(folder / "document")
    model.refine_all = model.return_probabilities = True
    pairs = [
        [
            np.asarray(a.probabilities)
            for _, a in tag_in_context(model, read_corpus(corpus.test), alone=alone)
        ]
        for alone in (False, True)
    ]
    assert any(abs(left - right).max() > 1e-4 for left, right in zip(*pairs, strict=True))


@pytest.mark.process
def test_a_resumed_run_remembers_the_drafts(refined):
    corpus, folder = refined
    fit(reading(corpus, "document"), folder / "killed")
    assert_same_weights(folder / "document", folder / "killed")
