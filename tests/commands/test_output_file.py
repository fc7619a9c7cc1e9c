import gzip
import os
import sys

import pytest

from uanet_tf.commands import output_file
from uanet_tf.commands.output_file import check_other_file, open_output
from uanet_tf.errors import InputError


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
        monkeypatch.setattr(output_file, "_create", lambda *_, **__: full)
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


def test_what_is_read_is_not_replaced_by_something_of_another_kind(tmp_path):
    data, run = tmp_path / "data.conll", tmp_path / "run"
    run.mkdir()
    for path in (data, run / "model.keras", run / "notes.json"):
        path.write_text("x")
    link = tmp_path / "link"
    link.symlink_to(data)
    for path, said in (
        (data, "is the file that is read"),
        (link, "is the file that is read"),
        (run / "model.keras", "is a file of the run"),
    ):
        with pytest.raises(InputError, match=f"--output={path} {said}: name another one."):
            check_other_file(str(path), [str(data), "-"], str(run))
    for path in ("-", run / "notes.json", tmp_path / "model.keras", run / "metrics.json"):
        check_other_file(str(path), [str(data)], str(run))
