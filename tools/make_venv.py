"""Builds the virtual environment from the pinned requirements, unless it is up to date.

``python tools/make_venv.py [FOLDER]``, run by ``make venv``; requirements.txt holds what to
install, requirements.lock what that needs in turn, for each Python. The stamp in the folder records
what the environment was built from; it is written last, so that an install which was
interrupted is never taken for a finished one. The package itself is linked in, so that ``uanet``
and ``import uanet_tf`` work from any folder. Standard library only.
"""

import fcntl
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ("requirements.txt", "requirements-dev.txt")
LOCK = "requirements.lock"
PROJECT = "pyproject.toml"
PROGRAM = "uanet"
STAMP = "uanet_tf.stamp"
UNFINISHED = "unfinished\n"


def fingerprint(venv: Path) -> str:
    """Everything that the environment depends on, as the text of its stamp."""
    digest = hashlib.sha256()
    for file in (*REQUIREMENTS, LOCK):
        digest.update(file.encode() + b"\0" + (ROOT / file).read_bytes() + b"\0")
    return (
        f"python {platform.python_version()} {platform.machine()}\n"
        f"folder {venv}\n"
        f"requirements {digest.hexdigest()}\n"
    )


def is_up_to_date(venv: Path) -> bool:
    """Whether the environment was built to the end from today's requirements."""
    stamp = venv / STAMP
    if not stamp.is_file() or not (venv / "bin" / "python").exists():
        return False
    return stamp.read_text(encoding="utf-8") == fingerprint(venv)


def is_linked(venv: Path) -> bool:
    """Whether the package is in the environment, or is not there yet (a container's layers)."""
    return (venv / "bin" / PROGRAM).exists() or not (ROOT / PROJECT).exists()


def check_ownership(venv: Path) -> None:
    """Refuses a folder that this script did not make, which has no stamp."""
    if not venv.exists() or (venv / STAMP).exists():
        return
    if not venv.is_dir() or any(venv.iterdir()):
        sys.exit(
            f"{venv} was not made by make, so it is not touched: remove it, "
            "or name another folder with make VENV=FOLDER"
        )


def clear(venv: Path) -> None:
    """Removes everything from the folder except a stamp that says unfinished."""
    stamp = venv / STAMP
    venv.mkdir(parents=True, exist_ok=True)
    stamp.write_text(UNFINISHED, encoding="utf-8")
    for path in venv.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path != stamp:
            path.unlink()


def link(venv: Path, lock_file: int) -> None:
    """Installs the package as a link to this folder, without its requirements."""
    command = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-input"]
    command += ["--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    subprocess.run(
        [*command, "--editable", "."],
        check=True,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        pass_fds=(lock_file,),
    )


def build(venv: Path, lock_file: int) -> None:
    """Makes the environment in a cleared folder and installs the requirements into it.

    Args:
      venv: the folder.
      lock_file: descriptor of the lock, passed on so that an installer which outlives
        this process still keeps others out.
    """
    # The base interpreter: this one may belong to the environment just deleted.
    python = getattr(sys, "_base_executable", sys.executable)
    install = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-input"]
    install += ["--disable-pip-version-check", *(f"-r{file}" for file in REQUIREMENTS)]
    # By environment rather than by option, so that it also holds where pip builds a package
    # from source; relative, since pip would split a path at its blanks.
    environment = {**os.environ, "PIP_CONSTRAINT": LOCK}
    for command in ([python, "-m", "venv", str(venv)], install):
        subprocess.run(
            command,
            check=True,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            pass_fds=(lock_file,),
        )
    finished = venv / f"{STAMP}.new"
    finished.write_text(fingerprint(venv), encoding="utf-8")
    finished.replace(venv / STAMP)


def main(arguments: list[str]) -> None:
    """Brings the environment up to date; returns at once if it is."""
    (shown,) = arguments or [".venv"]
    venv = (ROOT / shown).resolve()
    if is_up_to_date(venv) and is_linked(venv):
        return
    try:
        import ensurepip  # noqa: F401 - only whether it is there
    except ImportError:
        sys.exit(
            f"{sys.executable} cannot make virtual environments, since it lacks ensurepip: "
            f"install it (Debian, Ubuntu: the package python3.{sys.version_info.minor}-venv)"
        )
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    venv.parent.mkdir(parents=True, exist_ok=True)
    with (venv.parent / f"{venv.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"Another make is installing into {shown}: waiting for it ...", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_up_to_date(venv):
            install(venv, shown, lock.fileno())
        if not is_linked(venv):
            link(venv, lock.fileno())


def install(venv: Path, shown: str, lock_file: int) -> None:
    """Builds the environment again, with a message."""
    check_ownership(venv)
    print(
        f"Installing TensorFlow and friends into {shown}: about a minute, longer on a "
        "slow line (0.6 GB to download, 2 to 3 GB on disk) ...",
        flush=True,
    )
    started = time.monotonic()
    clear(venv)
    build(venv, lock_file)
    print(f"Installed in {time.monotonic() - started:.0f} s.", flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("Interrupted: the next make installs afresh.")
    except subprocess.CalledProcessError as error:
        sys.exit(
            f"The install failed (exit code {error.returncode}), for the reason above; "
            "see Troubleshooting in BUILD.md. The next make starts afresh."
        )
