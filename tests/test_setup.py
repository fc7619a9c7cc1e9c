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
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
STAMP = Path(".venv", "uanet_tf.stamp")
REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements.lock")
PYTHONS = ("3.11", "3.12", "3.13")


def outside_environment() -> dict[str, str]:
    """Without what a ``make`` that runs the tests hands down, such as its VENV."""
    dropped = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PYTHON", "VENV")
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
    for name in REQUIREMENTS:
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
    [("3.14", "is Python 3.14"), ("2.7", "is Python 2.7"), (None, "is not a Python that runs")],
)
def test_a_wrong_python_gets_one_sentence(tree, version, said):
    stub = stub_python(tree / "stubs", "mypython", version)
    code, out, err = make_venv(tree, f"PYTHON={stub}")
    assert code != 0
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("uanet_tf needs Python 3.11, 3.12 or 3.13, but")
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


def find_python(wanted: str, path: str, home: Path, environment: str = "none"):
    """Runs the search of ``make``; returns (exit code, stdout, stderr)."""
    done = subprocess.run(
        [shutil.which("sh"), ROOT / "tools" / "find_python.sh", wanted, environment],
        env={"PATH": f"{path}:/usr/bin:/bin" if path else "/nowhere", "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=30,
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


@pytest.mark.parametrize("version", PYTHONS)
def test_a_python_is_named_by_its_version(tmp_path, version):
    """On PATH; where only a launcher that does not run is there, among pyenv's versions."""
    name = f"python{version}"
    stub = stub_python(tmp_path / "stubs", name, version)
    assert find_python(name, str(stub.parent), tmp_path) == (0, str(stub), "")
    shim = stub_python(tmp_path / "shims", name, None)
    installed = tmp_path / ".pyenv" / "versions" / f"{version}.7" / "bin"
    installed.parent.mkdir(parents=True)
    own = stub_python(installed, name, version)
    code, found, _ = find_python(name, str(shim.parent), tmp_path)
    assert code == 0
    # This machine may have one of its own behind the launcher, in /usr/bin.
    assert found == str(own) or found == f"/usr/bin/{name}"


def test_without_a_python_of_that_version(tmp_path):
    stub = stub_python(tmp_path / "stubs", "python3", "3.9")
    code, out, err = find_python("", "", tmp_path)
    assert (code, out) == (2, "")
    assert "no Python was found" in err
    os.symlink("/bin/sh", tmp_path / "stubs" / "sh")
    code, out, err = find_python("python3.14", str(stub.parent), tmp_path)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "PYTHON=python3.14 is not a Python that runs" in err


def test_an_environment_keeps_the_python_that_it_was_made_with(built, tmp_path):
    """After ``make venv PYTHON=...`` a plain ``make test`` does not make another one."""
    for version in PYTHONS:
        stub_python(tmp_path, f"python{version}", version)
    stamp = (built / STAMP).read_text(encoding="utf-8")
    assert make_venv(built, path=f"{tmp_path}:{os.environ['PATH']}") == (0, "", "")
    assert (built / STAMP).read_text(encoding="utf-8") == stamp


@pytest.mark.parametrize("python", PYTHONS)
def test_every_direct_requirement_is_pinned_and_locked(python):
    def read(name):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        found = [Requirement(line) for line in lines if line and not line.startswith("#")]
        machine = {"python_version": python, "python_full_version": f"{python}.7"}
        return [one for one in found if one.marker is None or one.marker.evaluate(machine)]

    locked = {canonicalize_name(one.name): str(one.specifier) for one in read("requirements.lock")}
    assert len(locked) == len(read("requirements.lock"))
    assert all(pin.startswith("==") for pin in locked.values())
    for one in (*read("requirements.txt"), *read("requirements-dev.txt")):
        assert locked[canonicalize_name(one.name)] == str(one.specifier), one
    tensorflow = "==2.15.1" if python == "3.11" else "==2.21.0"
    assert locked["tensorflow"] == tensorflow
    assert ("tensorflow-addons" in locked) == (python == "3.11")
