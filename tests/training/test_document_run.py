"""A run that reads documents is scored, evaluated and tagged the same way."""

import json

import pytest

import uanet_tf
from tests.training.tiny_run import tiny_config, write_corpus
from uanet_tf.commands import evaluate, runner
from uanet_tf.data.conll import read_corpus
from uanet_tf.tagging.document_context import tag_in_context
from uanet_tf.training.fit import fit


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
    config = tiny_config(
        corpus, encoder="id_cnn", decoder="softmax", context="document", max_tokens=60
    )
    return corpus, folder / "run", fit(config, folder / "run")


def test_evaluation_gives_the_score_of_the_run(trained, capsys):
    corpus, run_dir, metrics = trained
    evaluate.FLAGS.unparse_flags()
    argv = ["evaluate", f"--run_dir={run_dir}", f"--data={corpus.test}", "--json"]
    capsys.readouterr()
    assert runner.exit_code(evaluate.main, evaluate.FLAGS, argv) == 0
    scores = json.loads(capsys.readouterr().out)
    for name in ("f1", "accuracy"):
        assert scores[name] == pytest.approx(metrics["test"][name], abs=1e-9)


def test_neighbours_are_read(trained):
    corpus, run_dir, _ = trained
    model = uanet_tf.load_model(run_dir)
    assert model.context == "document"
    sentences = read_corpus(corpus.dev)
    together = [answer.uncertainty for _, answer in tag_in_context(model, sentences)]
    alone = [answer.uncertainty for _, answer in tag_in_context(model, sentences, alone=True)]
    assert together != alone
    assert [len(row) for row in together] == [len(row) for row in alone]
