"""The environment that ``make`` builds: which Python it takes, and what it touches."""

import shutil
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import make_venv

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13")


def stub_python(folder: Path, name: str, version: str | None) -> Path:
    """An executable that says it is Python ``version``; None: one that does not run."""
    folder.mkdir(exist_ok=True, parents=True)
    stub = folder / name
    action = "exit 127" if version is None else f"echo {version}"
    stub.write_text(f"#!/bin/sh\n{action}\n", encoding="utf-8")
    stub.chmod(0o755)
    return stub


def find_python(wanted: str, path: Path | None, home: Path, environment: str = "none"):
    """Runs the search of ``make``; returns (exit code, stdout, stderr)."""
    done = subprocess.run(
        [shutil.which("sh"), ROOT / "tools" / "find_python.sh", wanted, environment],
        env={"PATH": f"{path}:/usr/bin:/bin" if path else "/nowhere", "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=30,
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


@pytest.mark.parametrize(
    ("version", "said"),
    [("3.14", "is Python 3.14"), ("2.7", "is Python 2.7"), (None, "is not a Python that runs")],
)
def test_a_wrong_python_gets_one_sentence(tmp_path, version, said):
    stub = stub_python(tmp_path, "mypython", version)
    code, out, err = find_python(str(stub), tmp_path, tmp_path)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("uanet_tf needs Python 3.11, 3.12 or 3.13, but")
    assert f"PYTHON={stub} {said}" in err


def test_without_a_python():
    code, out, err = find_python("", None, Path("/nowhere"))
    assert (code, out) == (2, "")
    assert "no Python was found" in err


@pytest.mark.parametrize("version", PYTHONS)
def test_a_python_is_named_by_its_version(tmp_path, version):
    """On PATH; where only a launcher that does not run is there, among pyenv's versions."""
    name = f"python{version}"
    stub = stub_python(tmp_path / "stubs", name, version)
    assert find_python(name, stub.parent, tmp_path) == (0, str(stub), "")
    shim = stub_python(tmp_path / "shims", name, None)
    own = stub_python(tmp_path / ".pyenv" / "versions" / f"{version}.7" / "bin", name, version)
    code, found, _ = find_python(name, shim.parent, tmp_path)
    assert code == 0
    # This machine may have one of its own behind the launcher, in /usr/bin.
    assert found in (str(own), f"/usr/bin/{name}")


def test_an_environment_keeps_the_python_that_it_was_made_with(tmp_path):
    """After ``make venv PYTHON=...`` a plain ``make test`` does not make another one."""
    stub = stub_python(tmp_path / "stubs", "python3.11", "3.11")
    own = stub_python(tmp_path / "env" / "bin", "python", "3.13")
    assert find_python("", stub.parent, tmp_path, str(tmp_path / "env")) == (0, str(own), "")


def test_what_make_did_not_build_to_the_end_is_cleared_and_nothing_else(tmp_path):
    precious = tmp_path / "mine" / "precious.txt"
    leftover = tmp_path / ".venv" / "lib" / "half.py"
    for path in (precious, leftover):
        path.parent.mkdir(parents=True)
        path.touch()
    stamp = tmp_path / ".venv" / make_venv.STAMP
    stamp.write_text(make_venv.UNFINISHED, encoding="utf-8")
    with pytest.raises(SystemExit, match="was not made by make"):
        make_venv.check_ownership(precious.parent)
    make_venv.check_ownership(tmp_path / ".venv")
    assert not make_venv.is_up_to_date(tmp_path / ".venv")
    make_venv.clear(tmp_path / ".venv")
    assert list((tmp_path / ".venv").iterdir()) == [stamp]
    stub_python(tmp_path / ".venv" / "bin", "python", "3.11")
    stamp.write_text(make_venv.fingerprint(tmp_path / ".venv"), encoding="utf-8")
    assert make_venv.is_up_to_date(tmp_path / ".venv")


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
