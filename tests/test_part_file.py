"""A file that grows under a hidden name, and what killed processes leave of it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from uanet_lite import part_file as part_file_of_lite
from uanet_tf import part_file as part_file_of_uanet_tf

ROOT = Path(__file__).resolve().parent.parent
WRITER = """
import sys, time
from {package}.part_file import part_file
with part_file(sys.argv[1]) as part:
    print(part, flush=True)
    time.sleep(60)
"""


@pytest.fixture(params=["uanet_tf", "uanet_lite"])
def package(request):
    return request.param


@pytest.fixture
def part_file(package):
    modules = {"uanet_tf": part_file_of_uanet_tf, "uanet_lite": part_file_of_lite}
    return modules[package].part_file


def test_it_takes_its_name_or_goes_away(part_file, tmp_path):
    path = tmp_path / "out.txt"
    with part_file(path) as part:
        Path(part).write_text("new")
        assert os.listdir(tmp_path) == [os.path.basename(part)]
        os.replace(part, path)
    assert os.listdir(tmp_path) == ["out.txt"]
    with pytest.raises(KeyboardInterrupt), part_file(path):
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["out.txt"]
    assert path.read_text() == "new"


def test_what_a_killed_process_left_is_swept_and_nothing_else(package, part_file, tmp_path):
    path = tmp_path / "out[1].txt"
    kept = [".out[1].txt.part", ".out[1].txt.0123456x.part", ".other.txt.01234567.part"]
    for name in kept:
        (tmp_path / name).touch()
    command = [sys.executable, "-c", WRITER.format(package=package), str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        left = Path(process.stdout.readline().strip())
        with part_file(path) as part:
            assert Path(part) != left
            assert left.exists()  # another process is writing it
        os.kill(process.pid, signal.SIGKILL)
    assert left.exists()
    with part_file(path) as part:
        assert sorted(os.listdir(tmp_path)) == sorted([*kept, os.path.basename(part)])
    assert sorted(os.listdir(tmp_path)) == sorted(kept)
