"""Files that are not what they were when the list of their checksums was written."""

import shutil
import subprocess

import pytest

from uanet_tf.errors import InputError
from uanet_tf.files.checksums import CHECKSUMS, check_checksums, write_checksums


@pytest.fixture
def folder(tmp_path):
    for name in ("saved_model.pb", "variables/a b", "assets.extra/card.md", "assets/é.txt"):
        path = tmp_path / "1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    write_checksums(tmp_path / "1")
    return tmp_path / "1"


def test_a_whole_folder(folder):
    check_checksums(folder)
    assert (folder / CHECKSUMS).read_text().count("\n") == 4
    (folder / "more.txt").write_text("of somebody else")
    check_checksums(folder)
    (folder / CHECKSUMS).unlink()
    (folder / "saved_model.pb").unlink()
    check_checksums(folder)  # as of other tools, which write no list


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="no sha256sum")
def test_sha256sum_reads_it(folder):
    command = ["sha256sum", "--quiet", "--strict", "-c", CHECKSUMS]
    assert subprocess.run(command, cwd=folder, check=False).returncode == 0
    (folder / "variables" / "a b").write_text("other")
    assert subprocess.run(command, cwd=folder, check=False, capture_output=True).returncode == 1


@pytest.mark.parametrize("name", ["saved_model.pb", "variables/a b", "assets/é.txt"])
def test_each_byte_counts(folder, name):
    path = folder / name
    content = bytearray(path.read_bytes())
    for position in range(len(content)):
        content[position] ^= 1
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"{name}: is not what was exported"):
            check_checksums(folder)
        content[position] ^= 1
    path.unlink()
    with pytest.raises(InputError, match=f"lacks '{name}'"):
        check_checksums(folder)


@pytest.mark.parametrize(
    "content", [b"abc", b"\xff", b"0" * 63 + b"  a\n", b"0" * 64 + b"  \n", b"\0" * 100]
)
def test_a_damaged_list(folder, content):
    (folder / CHECKSUMS).write_bytes(content)
    with pytest.raises(InputError, match=f"{CHECKSUMS}: is damaged"):
        check_checksums(folder)


def test_a_list_leads_to_no_other_file(folder):
    """Nor to a pipe, which would never end."""
    (folder.parent / "secret").write_text("x")
    for name in ("../secret", str(folder.parent / "secret"), "assets/../../secret"):
        (folder / CHECKSUMS).write_text(f"{'0' * 64}  {name}\n")
        with pytest.raises(InputError, match="lacks "):
            check_checksums(folder)
