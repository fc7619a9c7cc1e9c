"""The arithmetic of ``benchmarks.rank``."""

import types

import numpy as np
import pytest

from benchmarks import rank
from tests.tagging.fake_model import FakeModel


def test_wrong_tokens_of_the_first_sentences():
    wrong, lengths = np.array([1, 3, 0, 4]), np.array([10, 5, 5, 20])
    scores = np.array([0.1, 0.9, 0.5, 0.4])
    for share, expected in ((0.125, 3), (0.25, 3), (0.5, 5), (0.75, 7), (1.0, 8)):
        found = rank.found_percent(wrong, lengths, scores, share)
        assert found == pytest.approx(100 * expected / 8)


def test_the_table(tmp_path, monkeypatch):
    path = tmp_path / "a.conll"
    # Of the fake tagger: upper case is B-LOC with 1.0 nats, lower case O with 0.1.
    path.write_text("X B-LOC\nY B-PER\n\nx O\ny O\nz O\na B-PER\nb O\nc O\nd O\ne O\n")
    model = FakeModel()
    data = types.SimpleNamespace(
        dev_path=str(path), test_path=str(path), token_column=0, label_column=-1
    )
    model.settings = types.SimpleNamespace(data=data)
    monkeypatch.setattr(rank, "load_model", lambda run_dir: model)
    lines = []
    rank.main(["R", "S"], 0.2, lines.append)
    table = dict(line.strip("| \n").split(" | ", 1) for line in lines[1:])
    assert table["mean"] == "50.0 ± 0.0 | 50.0 ± 0.0"
    assert table["mutual_information"] == table["mean"]
    assert table[rank.BEST] == table["mean"]
