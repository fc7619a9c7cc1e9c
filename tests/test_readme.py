"""README's commands and its Python, run one after another in an empty folder with a tiny corpus."""

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
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SMALL = [f"--{name}={value}" for name, value in (TINY | {"epochs": 1, "min_epochs": 1}).items()]
TRAINING = ("uanet demo", "uanet train", "uanet find_label_errors")


def blocks(title: str, language: str) -> list[str]:
    """The code blocks of a section."""
    section = TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


def commands(title: str) -> list[str]:
    """The commands of a section's only block of commands, continued lines joined."""
    (block,) = blocks(title, "sh")
    return [line.strip() for line in block.replace("\\\n", " ").splitlines() if line.strip()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An empty folder with a corpus, and with a command ``uanet`` that runs this source."""
    folder = tmp_path_factory.mktemp("readme")
    for path in write_corpus(folder):
        os.rename(path, folder / Path(path).name)
    command = folder / "bin" / "uanet"
    command.parent.mkdir()
    python = shlex.quote(sys.executable)
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {python} -m uanet_tf "$@"\n')
    command.chmod(0o755)
    return folder


def run(command: str | list[str], folder: Path) -> str:
    environment = os.environ | {
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONPATH": str(ROOT),
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
    }
    if isinstance(command, str) and command.startswith(TRAINING):
        command = shlex.join([*shlex.split(command), *SMALL])
    done = subprocess.run(
        command if isinstance(command, list) else ["sh", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.process
def test_from_the_demo_to_a_served_model(folder):
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    first, demo, tag = commands("Tag")
    assert "VBD" in run(first, folder)
    assert "4/4  Tagging" in run(demo, folder)
    assert "Riverton" in run(tag, folder)
    (loaded,), (uncertain,) = blocks("Tag", "python"), blocks("Use the uncertainty", "python")
    # A limit that a model of one epoch is above.
    uncertain = uncertain.replace("nats > 0.35", "nats > 0.0")
    printed = run([sys.executable, "-c", loaded + uncertain], folder).splitlines()
    assert "Riverton" in printed[0]
    assert sorted(line.split()[0] for line in printed if line.endswith(" nats")) == sorted(
        ["Riverton", "beat", "Marlow", "Nobody", "was", "surprised"]
    )
    check, train, evaluate = commands("Train")
    assert "IOB2" in run(check, folder)
    run(train, folder)
    assert "uncertainty" in run(evaluate, folder)
    use(folder)
    serve(folder)


def use(folder: Path) -> None:
    """What follows from the uncertainty: what to annotate, what is wrong, what to accept."""
    rank, find_label_errors, calibrate = commands("Use the uncertainty")
    text = "Riverton beat Marlow 2-1.\nNobody was surprised.\n"
    (folder / "raw.txt").write_text(text, encoding="utf-8")
    run(rank, folder)
    tasks = json.loads((folder / "todo.json").read_text(encoding="utf-8"))
    assert {task["data"]["text"] for task in tasks} == {*text.splitlines()}
    run(f"{find_label_errors} --folds=2", folder)
    assert "<html" in (folder / "doubts.html").read_text(encoding="utf-8")
    assert run(calibrate, folder).startswith("tokens: ECE")


def serve(folder: Path) -> None:
    export, docker, by_row, by_column, client = commands("Serve")
    assert "uanet/1" in run(export, folder)
    assert docker.startswith("EXPORT_DIR=$PWD/exports docker compose -f serving/docker-compose.yml")
    # What README says to do without Docker.
    (local,) = re.findall(r"`uanet serve (.*?)`", TEXT)
    with ServerProcess(local.replace("exports", str(folder / "exports"))) as server:
        url = server.wait_until_ready()
        row = run(by_row.replace("http://127.0.0.1:8501", url), folder)
        (prediction,) = json.loads(row)["predictions"]
        assert len(prediction["labels"]) == len(prediction["uncertainty"]) == 3
        column = run(by_column.replace("http://127.0.0.1:8501", url), folder)
        outputs = json.loads(column)["outputs"]
        assert outputs["tokens"] == [["Riverton", "beat", "Marlow", "2-1", "."]]
        assert outputs["ends"] == [[8, 13, 20, 24, 25]]
        answer = run(f"{client} --url={url}", folder)
        assert "Riverton" in answer
        assert answer.splitlines()[1].split() == ["token", "label", "nats", "confidence"]
        assert server.stop() == 0


def test_every_command_of_the_page_exists():
    """Also those in the text: an option that is renamed has to be renamed here."""
    from uanet_tf.commands.uanet import COMMANDS

    used = {line.split()[0] for line in re.findall(r"(?:^|`)uanet ([a-z_ ]+)", TEXT, re.MULTILINE)}
    assert used >= {"demo", "tag", "check", "train", "evaluate", "export", "serve", "client"}
    assert used <= set(COMMANDS)


def test_words_are_explained_before_they_are_used():
    explained = TEXT.split("\n## Install\n")[0]
    for word in ("Gamma", "nats", "draft", "refined", "confidence", "uncertainty"):
        assert word in explained
    assert re.search(r"^\| M \|", explained, re.MULTILINE)


def test_every_link_leads_to_a_file():
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", TEXT)
    assert len(links) > 15
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []
