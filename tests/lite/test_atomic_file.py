"""Files that appear complete or not at all, and what killed processes leave of them."""

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from uanet_lite import atomic_file as atomic_file_module
from uanet_lite.atomic_file import atomic_file, open_output
from uanet_lite.input_error import InputError

ROOT = Path(__file__).resolve().parents[2]
WRITER = """
import sys, time
from uanet_lite.atomic_file import atomic_file
with atomic_file(sys.argv[1]) as part:
    print(part, flush=True)
    time.sleep(60)
"""


def test_it_takes_its_name_or_goes_away(tmp_path):
    path = tmp_path / "out.txt"
    with atomic_file(path) as part:
        Path(part).write_text("new")
        assert os.listdir(tmp_path) == [os.path.basename(part)]
    assert os.listdir(tmp_path) == ["out.txt"]
    with pytest.raises(KeyboardInterrupt), atomic_file(path):
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["out.txt"]
    assert path.read_text() == "new"


def test_what_a_killed_process_left_is_swept_and_nothing_else(tmp_path):
    path = tmp_path / "out[1].txt"
    kept = [".part.out[1].txt", ".0123456x.part.out[1].txt", ".01234567.part.other.txt"]
    for name in kept:
        (tmp_path / name).touch()
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        left = Path(process.stdout.readline().strip())
        with atomic_file(path) as part:
            assert Path(part) != left
            assert left.exists()  # another process is writing it
        os.kill(process.pid, signal.SIGKILL)
    assert left.exists()
    with atomic_file(path) as part:
        assert sorted(os.listdir(tmp_path)) == sorted([*kept, path.name, os.path.basename(part)])
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, path.name])


def test_file_appears_when_all_is_written(tmp_path):
    path = tmp_path / "out.txt"
    with open_output(str(path)) as stream:
        stream.write("é\n")
        assert not path.exists()
    assert path.read_bytes() == "é\n".encode()
    assert os.listdir(tmp_path) == ["out.txt"]


def test_gz_is_packed(tmp_path):
    path = tmp_path / "out.conll.gz"
    with open_output(str(path)) as stream:
        stream.write("é\n" * 1000)
    assert gzip.decompress(path.read_bytes()) == "é\n".encode() * 1000
    assert path.stat().st_size < 1000
    assert os.listdir(tmp_path) == ["out.conll.gz"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, InputError])
def test_failure_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def fail():
        with open_output(str(path)) as stream:
            stream.write("half")
            raise error("x")

    with pytest.raises(error):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_mode_and_link_of_an_older_file_are_kept(tmp_path):
    path, link = tmp_path / "out.txt", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    with open_output(str(link)) as stream:
        stream.write("new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_devices_are_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with open_output(str(pipe)) as stream:
        stream.write("through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert os.listdir(tmp_path) == ["pipe"]


def test_bad_paths(tmp_path):
    with pytest.raises(InputError, match="is a directory"), open_output(str(tmp_path)):
        pass
    missing = str(tmp_path / "no" / "out.txt")
    with (
        pytest.raises(InputError, match=r"no/out.txt: cannot be written \(No such file"),
        open_output(missing),
    ):
        pass


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path, monkeypatch):
    path = tmp_path / "out.txt"
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(atomic_file_module, "_create", lambda *_, **__: full)
        with (
            pytest.raises(InputError, match=r"out.txt: cannot be written \(No space left"),
            open_output(str(path)) as stream,
        ):
            stream.write("x" * 100_000)
    assert os.listdir(tmp_path) == []


def test_an_empty_name():
    with pytest.raises(InputError, match=r"^'': an output needs a name"), open_output(""):
        pass


def test_standard_output_that_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(InputError, match="<stdout>: is closed"), open_output("-"):
        pass
