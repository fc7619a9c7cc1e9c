"""The table of ``benchmarks.document_reading``."""

import types

from benchmarks import document_reading
from benchmarks.document_reading import Scored
from tests.tagging.fake_model import FakeModel


def test_both_ways_of_each_run(tmp_path, monkeypatch):
    """The draft of the fake tagger finds no entity."""
    path = tmp_path / "dev.conll"
    path.write_text("X B-LOC\ny O\n\nX B-PER\n")
    monkeypatch.setattr(document_reading, "load_model", lambda run_dir: FakeModel())
    lines = []
    arguments = types.SimpleNamespace(run_dirs=["R", "S"], data=[str(path)])
    document_reading.main(arguments, lines.append)
    assert "".join(lines).splitlines()[2:] == [
        f"| dev | {way} | 50.00, 50.00 | 50.00 ± 0.00 | +50.00, +50.00 | +50.00 ± 0.00 |"
        for way in ("document", "sentence")
    ]


def test_gains_are_taken_run_by_run():
    (row,) = document_reading.rows("dev", {"document": [Scored(70.0, 68.0), Scored(71.0, 72.0)]})
    assert row == "| dev | document | 70.00, 71.00 | 70.50 ± 0.71 | +2.00, -1.00 | +0.50 ± 2.12 |"
