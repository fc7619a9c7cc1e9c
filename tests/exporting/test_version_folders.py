"""A version appears whole or not at all, whatever happens to its writer."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from uanet_tf.errors import InputError
from uanet_tf.exporting.version_folders import check_name, choose_version, new_versions

ROOT = Path(__file__).resolve().parents[2]
# Writes two parts slowly, saying how far it is.
WRITER = """
import sys, time
from pathlib import Path
from uanet_tf.exporting import version_folders
folders = [Path(name) for name in sys.argv[1:3]]
rename = version_folders.os.rename
def slow_rename(*paths):
    rename(*paths)
    print("renamed", flush=True)
    time.sleep(0.05)
version_folders.os.rename = slow_rename
with version_folders.new_versions(folders, None) as (version, parts):
    for part in parts:
        part.mkdir()
        for k in range(5):
            (part / str(k)).write_text("x" * 1000)
            print("wrote", flush=True)
            time.sleep(0.01)
"""


@pytest.fixture
def folders(tmp_path):
    return [tmp_path / "models" / "m", tmp_path / "models" / "m_text"]


def write(folders, version=None, **options):
    with new_versions(folders, version, **options) as (number, parts):
        for part in parts:
            part.mkdir()
            (part / "file").write_text(str(number))
    return number


def write_half(folders):
    with new_versions(folders, None) as (_, parts):
        parts[0].mkdir()
        (parts[0] / "file").write_text("half")
        raise ZeroDivisionError


def names(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_versions_are_numbered_together(folders):
    assert [write(folders), write(folders), write(folders, 7), write(folders)] == [1, 2, 7, 8]
    assert names(folders[0]) == names(folders[1]) == ["1", "2", "7", "8"]
    assert (folders[1] / "7" / "file").read_text() == "7"
    # One that only the second has counts too.
    (folders[1] / "00000012").mkdir()
    assert write(folders[:1], shared=folders) == 13
    assert names(folders[1])[-1] == "8"


def test_other_names_are_no_versions(folders):
    for name in ("1.5", "-3", "tmp", ".part", "9x", "٣"):
        (folders[0] / name).mkdir(parents=True)
    assert choose_version(folders, None) == 1
    assert choose_version(folders, 9) == 9


@pytest.mark.parametrize("name", ["4", "0004"])
def test_an_existing_version_is_refused(folders, name):
    path = folders[1] / name
    path.mkdir(parents=True)
    with pytest.raises(InputError, match=f"{path} exists already: name another `version`"):
        write(folders, 4)
    assert names(folders[1]) == [name]


@pytest.mark.parametrize("version", [0, -1, 2**63])
def test_impossible_versions(folders, version):
    with pytest.raises(InputError, match=r"`version` must be an integer from 1 on, below 2\^63"):
        choose_version(folders, version)


def test_no_version_after_the_last(folders):
    write(folders, 2**63 - 1)
    with pytest.raises(InputError, match="has no next version"):
        choose_version(folders, None)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-a", "a b", "ü", "a\n", "x_text"])
def test_bad_names(name):
    with pytest.raises(InputError, match="`name` must"):
        check_name(name, "_text")


def test_after_an_error_nothing_is_left(folders, tmp_path):
    with pytest.raises(ZeroDivisionError):
        write_half(folders)
    assert names(tmp_path) == []  # the folders were its own to make
    write(folders)
    with pytest.raises(ZeroDivisionError):
        write_half(folders)
    assert names(folders[0]) == names(folders[1]) == ["1"]


def test_a_part_is_no_version_of_a_server(folders):
    with new_versions(folders, 3) as (_, parts):
        for part in parts:
            part.mkdir()
            assert not part.name.isdigit()
            assert part.parent in folders  # so on the same file system
        assert choose_version(folders, None) == 1


def test_two_at_once(folders):
    with new_versions(folders, None) as (_, parts):
        with pytest.raises(InputError, match=f"Another process is exporting into {folders[0]}"):
            write(folders)
        for part in parts:
            part.mkdir()
    assert names(folders[0]) == ["1"]


@pytest.mark.parametrize("lines", [1, 3, 5, 6, 9, 10, 11])
def test_killed_at_any_moment(folders, lines):
    """kill -9 after so many steps: each version is whole, and the next export clears up."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, *map(str, folders)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        for _ in range(lines):
            assert process.stdout.readline()
        time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    versions = [[name for name in names(folder) if name.isdigit()] for folder in folders]
    assert versions == {11: [[], ["1"]]}.get(lines, [[], []])
    for folder, found in zip(folders, versions, strict=True):
        for name in found:
            assert names(folder / name) == list("01234")
    assert any(name.startswith(".part-") for name in names(folders[0]))
    assert write(folders) == (2 if lines == 11 else 1)
    # One that was killed between its two renames is completed: no version without the other.
    both = ["1", "2"] if lines == 11 else ["1"]
    assert [[name for name in names(folder) if name.isdigit()] for folder in folders] == [both] * 2
    for folder in folders if lines == 11 else ():
        assert names(folder / "1") == list("01234")
    assert all(not name.startswith(".") for folder in folders for name in names(folder))


def test_a_rename_that_fails_takes_the_other_back(folders, monkeypatch):
    write(folders)
    rename = os.rename

    def fail(source, target):
        if Path(target) == folders[0] / "2":
            raise OSError(28, "No space left on device", str(target))
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(OSError, match="No space left"):
        write(folders)
    assert names(folders[0]) == names(folders[1]) == ["1"]


def test_a_part_is_completed_only_where_the_other_version_stands(folders):
    """A half-written part of the second model is no version, even if the first has that number."""
    write(folders[:1])
    (folders[1] / ".part-1").mkdir(parents=True)
    (folders[0] / ".part-2").mkdir()
    assert write(folders) == 2
    assert names(folders[0]) == ["1", "2"]
    assert names(folders[1]) == ["2"]
    assert names(folders[0] / "2") == ["file"]


@pytest.fixture
def ordinary_user():
    """Root may write anywhere, so that it becomes nobody for the while of a test."""
    root = os.geteuid() == 0
    if root:
        os.setresuid(65534, 65534, 0)
    yield
    if root:
        os.setresuid(0, 0, 0)


@pytest.mark.usefixtures("ordinary_user")
def test_a_folder_that_cannot_be_written():
    # Not pytest's folder, which is closed to others than its owner.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "models"
        folder.mkdir(mode=0o555)
        with pytest.raises(InputError, match=f"{folder} cannot be written"):
            write([folder, Path(name) / "text"])


def test_a_file_in_the_way(folders):
    folders[0].parent.mkdir()
    folders[0].write_text("mine")
    with pytest.raises(InputError, match=f"{folders[0]} cannot be written"):
        write(folders)
    assert folders[0].read_text() == "mine"


def test_a_name_that_is_too_long(tmp_path):
    folder = tmp_path / ("n" * 300)
    with pytest.raises(InputError, match="n cannot be read: File name too long"):
        choose_version([folder], None)


def test_everyone_may_read_a_version(folders):
    write(folders)
    assert (folders[0] / "1").stat().st_mode & 0o777 == 0o777 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
