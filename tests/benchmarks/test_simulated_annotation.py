"""What a simulation of annotating chooses, and what it prints."""

import numpy as np
import pytest

from benchmarks import simulated_annotation as simulated
from uanet_lite.columns_file import read_corpus
from uanet_lite.sentence import Sentence
from uanet_tf.config import Config

CORPUS = [
    Sentence([f"w{k}"] * (1 + k % 3), ["O"] * (1 + k % 3), line=1, new_document=False)
    for k in range(30)
]


def test_where_an_aim_is_reached():
    shares = [0.1, 0.3, 0.5]
    assert simulated.reached(shares, [50.0, 60.0, 70.0], 65.0) == pytest.approx(0.4)
    assert simulated.reached(shares, [50.0, 60.0], 60.0) == pytest.approx(0.3)
    assert simulated.reached(shares, [50.0], 40.0) == 0.1
    assert simulated.reached(shares, [50.0, 60.0, 64.9], 65.0) is None


def test_as_many_sentences_as_hold_the_tokens():
    lengths = np.array([3, 1, 2, 5])
    order = np.array([2, 0, 3, 1])
    assert simulated.up_to(order, lengths, 2).tolist() == [2]
    assert simulated.up_to(order, lengths, 2.5).tolist() == [2, 0]
    assert simulated.up_to(order, lengths, 100).tolist() == [2, 0, 3, 1]


def test_rounds_grow_by_the_highest_scores(tmp_path, monkeypatch):
    """F1 is the share of the corpus that was trained on; long sentences have the high scores."""
    trained = []

    def in_new_process(work, *arguments):
        if work is simulated.scores:
            return np.array([len(tokens) for tokens in arguments[1]])
        path = arguments[1]["train"]
        trained.append([sentence.tokens for sentence in read_corpus(path)])
        return (100 * len(trained[-1]) / len(CORPUS),) * 2

    monkeypatch.setattr(simulated, "in_new_process", in_new_process)
    given = simulated.Simulation(Config(), CORPUS, tmp_path, tmp_path, [0.2, 0.5, 0.8, 0.9], 40)
    lines = []
    simulated.main(given, ["mean", "random"], [1], lines.append)
    full, first, second, *_ = trained
    assert len(full) == 30
    # No sentence is lost or taken twice, and what was annotated stays.
    assert all(tokens in second for tokens in first)
    assert len({tokens[0] for tokens in second}) == len(second)
    added = [len(tokens) for tokens in second if tokens not in first]
    left = [len(tokens) for tokens in full if tokens not in second]
    assert min(added) >= max(left)
    # The first round is trained once, for both.
    shared = [line.split("|") for line in lines if " | 0.2 | " in line]
    assert [cells[2].strip() for cells in shared] == ["mean", "random"]
    assert shared[0][4:] == shared[1][4:]
    assert lines[-1].startswith("| random | 0.")


def test_flags_of_train():
    options, config = simulated.parse(["--data=FOLDER", "--seeds=4", "--recipe=fast", "--epochs=3"])
    assert (options.seeds, config.training.epochs, config.training.average_decay) == (
        "4",
        3,
        0.995,
    )
