"""``make venv``: which Python it takes, when it installs, what an interruption leaves.

Run in a copy whose requirements are empty, so that pip has nothing to fetch.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11),
    reason="the default environment, which these tests make, needs Python 3.11",
)

ROOT = Path(__file__).resolve().parent.parent
STAMP = Path(".venv", "uanet_tf.stamp")
REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements.lock")
NEXT_REQUIREMENTS = ("requirements-next.txt", "requirements-next.lock")


def outside_environment() -> dict[str, str]:
    """Without what a ``make`` that runs the tests hands down, such as its NEXT=1."""
    dropped = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PYTHON", "VENV", "NEXT", "ALL")
    return {key: value for key, value in os.environ.items() if key not in dropped}


def run_make(folder: Path, *arguments: str, path: str | None = None):
    # What an outer make hands down (its flags, PYTHON, VENV) is not what is tested here.
    environment = outside_environment()
    if path is not None:
        environment["PATH"] = path
    elif not arguments:
        arguments = (f"PYTHON={sys.executable}",)
    return subprocess.Popen(
        [shutil.which("make"), "venv", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def make_venv(folder: Path, *arguments: str, path: str | None = None):
    """Runs ``make venv``; returns (exit code, stdout, stderr less make's own line)."""
    process = run_make(folder, *arguments, path=path)
    out, err = process.communicate(timeout=120)
    said = [line for line in err.splitlines() if not line.startswith("make")]
    return process.returncode, out, "\n".join(said)


def copy_set_up(folder: Path) -> Path:
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copytree(ROOT / "tools", folder / "tools")
    for name in (*REQUIREMENTS, *NEXT_REQUIREMENTS):
        (folder / name).write_text("# nothing\n", encoding="utf-8")
    return folder


def stub_python(folder: Path, name: str, version: str | None) -> Path:
    """An executable that says it is Python ``version``; None: one that does not run."""
    folder.mkdir(exist_ok=True)
    stub = folder / name
    action = "exit 127" if version is None else f"echo {version}"
    stub.write_text(f"#!/bin/sh\n{action}\n", encoding="utf-8")
    stub.chmod(0o755)
    return stub


@pytest.fixture
def tree(tmp_path):
    return copy_set_up(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A copy in which ``make venv`` has been run once, at a path with a blank."""
    folder = copy_set_up(tmp_path_factory.mktemp("built here"))
    code, out, err = make_venv(folder)
    assert code == 0, err
    assert out.startswith("Installing TensorFlow")
    return folder


@pytest.mark.parametrize(
    ("version", "said"),
    [("3.12", "is Python 3.12"), ("2.7", "is Python 2.7"), (None, "is not a Python that runs")],
)
def test_a_wrong_python_gets_one_sentence(tree, version, said):
    stub = stub_python(tree / "stubs", "mypython", version)
    code, out, err = make_venv(tree, f"PYTHON={stub}")
    assert code != 0
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("uanet_tf needs Python 3.11")
    assert f"PYTHON={stub} {said}" in err
    assert not (tree / ".venv").exists()


def test_nothing_is_done_when_up_to_date(built):
    before = {path: path.stat().st_mtime_ns for path in built.rglob("*")}
    assert make_venv(built) == (0, "", "")
    assert {path: path.stat().st_mtime_ns for path in built.rglob("*")} == before


def test_an_unfinished_environment_is_built_afresh_by_one_of_two_makes(tree):
    leftover = tree / ".venv" / "lib" / "half.py"
    leftover.parent.mkdir(parents=True)
    leftover.touch()
    (tree / STAMP).write_text("unfinished\n", encoding="utf-8")
    both = [run_make(tree) for _ in range(2)]
    said = "".join(process.communicate(timeout=120)[0] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert said.count("Installed in") == 1
    assert not leftover.exists()
    assert (tree / ".venv" / "bin" / "pip").exists()


def test_a_killed_install_does_not_count(tree):
    process = run_make(tree)
    while not (tree / ".venv" / "pyvenv.cfg").exists():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=120)
    assert process.returncode != 0
    assert (tree / STAMP).read_text(encoding="utf-8") == "unfinished\n"


def test_a_folder_of_others_is_left_alone(tree):
    precious = tree / ".venv" / "precious.txt"
    precious.parent.mkdir()
    precious.write_text("mine", encoding="utf-8")
    code, out, err = make_venv(tree)
    assert code != 0
    assert "was not made by make" in err
    assert out == ""
    assert precious.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("which", ["requirements", "requirements-next"])
def test_every_direct_requirement_is_pinned_and_locked(which):
    lines = (ROOT / f"{which}.lock").read_text(encoding="utf-8").splitlines()
    locked = {line.split("==")[0].lower(): line for line in lines if not line.startswith("#")}
    assert all("==" in line for line in locked.values())
    for name in (f"{which}.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
            requirement = line.partition(";")[0].strip()
            if requirement and not requirement.startswith("#"):
                assert locked[requirement.split("==")[0].lower()] == requirement
