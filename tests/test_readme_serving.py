"""The commands of README's section on serving, run one after another on a tiny corpus."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serving.servers import ServerProcess
from tests.training.tiny_run import TINY, write_corpus

ROOT = Path(__file__).resolve().parent.parent
SECTION = (ROOT / "README.md").read_text(encoding="utf-8").split("## Serve\n")[1].split("\n## ")[0]
SMALL = TINY | {"epochs": 1, "min_epochs": 1}


def commands():
    """The commands of the block, continued lines joined."""
    block = re.search(r"```sh\n(.*?)```", SECTION, re.DOTALL).group(1)
    return [line.strip() for line in block.replace("\\\n", " ").splitlines() if line.strip()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme")
    corpus = write_corpus(folder)
    os.rename(corpus.train, folder / "train.conll")
    os.rename(corpus.dev, folder / "dev.conll")
    return folder


def run(command, folder, url=""):
    """Runs a command in the repository, with its own paths moved into ``folder``."""
    parts = []
    for part in shlex.split(command):
        part = re.sub(r"(?<==)(train\.conll|dev\.conll|runs/|exports\b)", rf"{folder}/\1", part)
        parts.append(part.replace("http://127.0.0.1:8501", url))
    if parts[0] == ".venv/bin/python":
        parts[0] = sys.executable
    if "train.py" in parts:
        parts += [f"--{name}={value}" for name, value in SMALL.items()]
    if "serving.client" in parts:
        parts.append(f"--url={url}")
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        parts, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.process
def test_train_export_serve_ask(folder):
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    train, export, docker, by_row, by_column, client = commands()
    run(train, folder)
    assert "uanet/1" in run(export, folder)
    assert docker.startswith("EXPORT_DIR=$PWD/exports docker compose -f serving/docker-compose.yml")
    # What README says to do without Docker.
    local = re.search(r"`\.venv/bin/python -m serving\.local_server (.*?)`", SECTION).group(1)
    with ServerProcess(local.replace("exports", str(folder / "exports"))) as server:
        url = server.wait_until_ready()
        (prediction,) = json.loads(run(by_row, folder, url))["predictions"]
        assert len(prediction["labels"]) == len(prediction["uncertainty"]) == 3
        outputs = json.loads(run(by_column, folder, url))["outputs"]
        assert outputs["tokens"] == [["Riverton", "beat", "Marlow", "2-1", "."]]
        assert outputs["ends"] == [[8, 13, 20, 24, 25]]
        answer = run(client, folder, url)
        assert "Riverton" in answer
        assert answer.splitlines()[1].split() == ["token", "label", "nats", "confidence"]
        assert server.stop() == 0


def test_the_section_fits_a_screen():
    assert len(SECTION.splitlines()) <= 24
