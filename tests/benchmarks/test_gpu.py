"""The table of a GPU beside a processor, and of the released code."""

import argparse
import sys

import pytest

from benchmarks import gpu

FAKE = """
import sys
flags = dict(argument.split("=", 1) for argument in sys.argv[1:])
assert len(open(flags["--train_dir"]).read().strip().split("\\n\\n")) == 5
assert flags["--train_dir"] == flags["--dev_dir"] and flags["--save_model"] == "False"
for epoch in range(int(flags["--iteration"])):
    speed = int(flags["--batch_size"]) * (10 + epoch)
    print(f"Epoch: {epoch} training finished. Time: 1.00 s, speed: {speed}.40 doc/s,  total loss")
    print(f"dev: time: 1.00 s, speed: {2 * speed}.00 doc/s; acc: 0.5, p: 0.5, r: 0.5, f: 0.5; ")
"""


def test_the_table_says_where_devices_differ():
    answers = {"one pass": ([["O", "B-PER"]], [[0.25, 0.5]])}
    others = {"one pass": ([["O", "O"]], [[0.25, 0.75]])}
    card = gpu.Measured("NVIDIA H100", {"tagging": "9 (8 to 10)"}, {"tagging": 1234.0}, others)
    cores = gpu.Measured("2 cores", {"tagging": "3 (2 to 4)", "other": "1"}, {}, answers)
    text = gpu.report(card, cores)
    assert text.startswith("Processor: 2 cores. GPU: NVIDIA H100.\n")
    assert "| tagging | 9 (8 to 10) | 3 (2 to 4) | 1,234 |" in text
    assert "| other | - | 1 | - |" in text
    assert "| one pass | 50.00 % | 2.5e-01 |" in text


def test_the_released_code_is_timed_after_an_epoch(tmp_path):
    (tmp_path / "main.py").write_text(FAKE)
    how = {"released": str(tmp_path), "released_python": sys.executable, "count": 5, "repeats": 3}
    rows = gpu.released(argparse.Namespace(**how)).splitlines()[2:]
    assert rows == ["| batch 10 | 120 | 240 |", "| batch 100 | 1,200 | 2,400 |"]


@pytest.mark.process
def test_without_a_gpu_the_processor_is_measured(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["gpu", "--count=10", "--tagged=10", "--repeats=1"])
    gpu.main()
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].endswith("GPU: none found.")
    assert sum(row.startswith("| tagging, exact, M = 8") for row in rows) == 3
