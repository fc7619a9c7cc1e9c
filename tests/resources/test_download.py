"""Downloads against a server on this machine: cut off, resumed, wrong, refused, no space."""

import errno
from pathlib import Path

import pytest

from tests.resources.served_file import CONTENT, SUM
from uanet_tf.errors import InputError
from uanet_tf.resources.public_corpora import download


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


MARK = {"ETag": '"1"', "Last-Modified": "Mon"}


def test_goes_on_where_it_was_cut_off(server, tmp_path):
    server.plan, server.marks = [100_000, 50_000], MARK
    assert download(server.url, tmp_path / "file", sha256=SUM) == SUM
    assert server.asked == [None, "bytes=100000-", "bytes=150000-"]
    assert server.asked_if == [None, '"1"', '"1"']


@pytest.mark.parametrize("marks", [{}, MARK])
def test_a_server_that_cannot_go_on_begins_anew(server, tmp_path, marks):
    server.plan, server.resumes, server.marks = [100_000], False, marks
    assert download(server.url, tmp_path / "file") == SUM


def test_what_is_cut_off_again_and_again_leaves_nothing(server, tmp_path):
    server.plan = [1_000, 0, 0, 0]
    with pytest.raises(InputError, match=r"the connection failed \(cut off after 0 of 256,000"):
        download(server.url, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


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


def test_a_full_disk(server, tmp_path, monkeypatch):
    def full(path, mode="r", *args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(InputError, match=r"file: cannot be written \(No space left on device\)"):
        download(server.url, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []
