"""The notebook runs from its first cell to its last, and what is stored of it is fit to be read."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "notebooks" / "quickstart.ipynb"
SECONDS = 300  # for a cell, on a busy machine; all of it takes half a minute on two idle cores


@pytest.mark.process
def test_runs():
    pytest.importorskip("nbmake")
    arguments = ["--nbmake", f"--nbmake-timeout={SECONDS}", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, str(NOTEBOOK)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},  # this package, not an installed one
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.fixture(scope="module")
def cells():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def test_stored_outputs_are_complete_small_and_without_a_machines_paths(cells):
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert not [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    assert len(pictures) == 3
    assert NOTEBOOK.stat().st_size < 400_000
    for path in ("/tmp/", "/home/", "/root/", str(ROOT)):
        assert path not in json.dumps([o for o in outputs if o not in pictures])
