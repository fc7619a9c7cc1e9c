"""The test between trained runs, on the sentences of a file."""

import shutil

import pytest

from tests.training.tiny_run import LIGHT, tiny_config, write_corpus
from uanet_tf.evaluation.comparison import differences_from_first
from uanet_tf.training.fit import fit


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A system that learns, the same again, and one that does not."""
    folder = tmp_path_factory.mktemp("compared")
    corpus = write_corpus(folder)
    settings = LIGHT | {"min_epochs": 1, "average_decay": 0.0, "calibrated": False}
    for system, rate, epochs in (("learns", 0.05, 6), ("does_not", 1e-9, 1)):
        config = tiny_config(corpus, **settings, drafter_learning_rate=rate, epochs=epochs)
        fit(config, folder / system / "seed1")
    shutil.copytree(folder / "learns", folder / "again")
    return folder, corpus


def test_differences(runs):
    folder, corpus = runs
    found = differences_from_first(folder, ["learns", "again", "does_not"], 1, corpus.train)
    assert list(found) == ["again", "does_not"]
    assert found["again"] == 1.0
    assert found["does_not"] < 0.01
