"""The arithmetic of ``benchmarks.replicas``."""

import numpy as np

from benchmarks import replicas
from tests.training.tiny_run import tiny_config, write_corpus
from uanet_lite.columns_file import read_corpus


def test_loss_and_tokens_of_each_step():
    # Two epochs of two steps; the sums begin again with each.
    sums = [(0, 6.0, 3.0), (1, 8.0, 4.0), (0, 2.0, 4.0), (1, 5.0, 5.0)]
    losses, tokens = replicas.steps_of(sums)
    np.testing.assert_array_equal(losses, [6, 2, 2, 3])
    np.testing.assert_array_equal(tokens, [3, 1, 4, 1])


def test_rows():
    tokens = np.full(101, 2.0)
    one = replicas.Run(np.full(101, 4.0), tokens, 60.0, 61.234)
    two = replicas.Run(np.array([3.0, *[4.0] * 98, 6.0, 99.0]), tokens, 59.5, 60.0)
    lines = replicas.rows(3, {replicas.ONE: one, replicas.TWO: two})
    assert lines == [
        "| 3 | one device |  |  |  | 60.00 | 61.23 |",
        "| 3 | two devices | 0.005 | 1 |  | 59.50 | 60.00 |",
    ]
    longer = [
        run._replace(losses=np.tile(run.losses, 10), tokens=np.tile(tokens, 10))
        for run in (one, two)
    ]
    lines = replicas.rows(3, dict(zip((replicas.ONE, replicas.TWO), longer, strict=True)))
    assert lines[1] == "| 3 | two devices | 0.005 | 1 | 5e+01 | 59.50 | 60.00 |"


def test_each_seed_is_trained_on_the_first_sentences(tmp_path, monkeypatch):
    config = tiny_config(write_corpus(tmp_path / "data"))
    given = []

    def compare(config, folder, floatx):
        assert floatx == "float64"
        given.append((config.training.seed, len(read_corpus(config.data.train_path)), folder.name))
        return {replicas.ONE: replicas.Run(np.ones(1), np.ones(1), 50.0, 40.0)}

    monkeypatch.setattr(replicas, "compare", compare)
    lines = []
    given_to_all = {"sentences": 30, "floatx": "float64", "write": lines.append}
    replicas.main(config, tmp_path / "data", seeds=[1, 4], **given_to_all)
    assert given == [(1, 30, "1"), (4, 30, "4")]
    assert [line[:16] for line in lines[2:]] == ["| 1 | one device", "| 4 | one device"]
