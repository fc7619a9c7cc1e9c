"""Downloads against a server on this machine: cut off, resumed, wrong, refused, no space."""

import errno
from pathlib import Path

import pytest

from tests.resources.served_file import CONTENT, SUM
from uanet_tf.errors import InputError
from uanet_tf.resources import download as module
from uanet_tf.resources.download import download


def test_whole_and_not_again(server, tmp_path):
    path = tmp_path / "deep" / "file"
    seen = []
    assert download(server.url, path, advance=lambda *state: seen.append(state)) == SUM
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert download(server.url, path, sha256=SUM) == SUM
    assert server.asked == [None]
    assert [each.name for each in path.parent.iterdir()] == ["file"]


def test_goes_on_where_it_was_cut_off(server, tmp_path):
    server.plan = [100_000, 50_000]
    assert download(server.url, tmp_path / "file", sha256=SUM) == SUM
    assert server.asked == [None, "bytes=100000-", "bytes=150000-"]


def test_goes_on_in_a_later_call(server, tmp_path):
    server.plan = [1_000, 0, 0, 0]
    with pytest.raises(InputError, match="the same command continues where it stopped"):
        download(server.url, tmp_path / "file")
    assert (tmp_path / "file.part").read_bytes() == CONTENT[:1_000]
    assert download(server.url, tmp_path / "file") == SUM
    assert server.asked[-1] == "bytes=1000-"


@pytest.mark.parametrize(
    ("marks", "changed"),
    [
        ({"ETag": '"1"', "Last-Modified": "Mon"}, {"ETag": '"2"', "Last-Modified": "Mon"}),
        ({"ETag": 'W/"1"', "Last-Modified": "Mon"}, {"ETag": 'W/"1"', "Last-Modified": "Tue"}),
    ],
)
def test_a_file_that_changed_in_between_is_fetched_anew(server, tmp_path, marks, changed):
    """Else its first half would be of the old file, and the second of the new one."""
    server.plan, server.marks = [1_000, 0, 0, 0], marks
    with pytest.raises(InputError, match="continues where it stopped"):
        download(server.url, tmp_path / "file")
    (tmp_path / "file.part").write_bytes(b"x" * 1_000)  # what the file began with then
    server.marks = changed
    assert download(server.url, tmp_path / "file") == SUM
    mark = marks["ETag"] if marks["ETag"].startswith('"') else "Mon"
    assert server.asked_if == [None, mark, mark, mark, mark]
    assert server.asked[-1] == "bytes=1000-"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_server_that_cannot_go_on_begins_anew(server, tmp_path):
    server.plan, server.resumes = [100_000], False
    assert download(server.url, tmp_path / "file") == SUM


@pytest.mark.parametrize("size", [len(CONTENT), len(CONTENT) + 5])
def test_a_part_that_is_whole_or_too_long(server, tmp_path, size):
    (tmp_path / "file.part").write_bytes((CONTENT + b"12345")[:size])
    assert download(server.url, tmp_path / "file") == SUM


def test_a_wrong_checksum_leaves_nothing(server, tmp_path):
    with pytest.raises(InputError, match=f"has the SHA-256 {SUM}, not abc"):
        download(server.url, tmp_path / "file", sha256="abc")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("other")
    with pytest.raises(InputError, match="not abc: damaged, or changed at its home"):
        download(server.url, tmp_path / "file", sha256="abc")
    assert (tmp_path / "file").read_text() == "other"


def test_refused(server, tmp_path):
    server.status = 404
    with pytest.raises(InputError, match="the server answers 404 Client Error: Not Found"):
        download(server.url, tmp_path / "file")
    assert len(server.asked) == 1


def test_no_server(tmp_path):
    with pytest.raises(InputError, match=r"the connection failed \(ConnectionError\)"):
        download("http://127.0.0.1:1/file", tmp_path / "file")


def test_a_full_disk_keeps_what_is_there(server, tmp_path, monkeypatch):
    real_open, left = Path.open, [1]

    class Full:
        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.stream.close()

        def write(self, block):
            if not left:
                raise OSError(errno.ENOSPC, "No space left on device")
            left.pop()
            return self.stream.write(block)

    def limited(path, mode="r", *args, **kwargs):
        stream = real_open(path, mode, *args, **kwargs)
        return Full(stream) if "w" in mode or "a" in mode else stream

    monkeypatch.setattr(Path, "open", limited)
    with pytest.raises(InputError, match=r"file.part: cannot be written \(No space left.*is kept"):
        download(server.url, tmp_path / "file")
    monkeypatch.undo()
    assert (tmp_path / "file.part").stat().st_size == module.CHUNK_BYTES
    assert download(server.url, tmp_path / "file", sha256=SUM) == SUM
    assert server.asked[-1] == f"bytes={module.CHUNK_BYTES}-"
