"""``uanet data sample``: three files, told by name; nothing is replaced."""

import pytest

from uanet_lite.columns_file import read_corpus
from uanet_tf.commands import runner
from uanet_tf.commands.data_command import sample

SMALL = ("--train_sentences=5", "--dev_sentences=3", "--test_sentences=2")


@pytest.fixture
def call(capsys):
    def call(*arguments):
        argv = ["uanet data sample", *map(str, arguments)]
        code = runner.exit_code(sample, argv)
        return code, *capsys.readouterr()

    return call


def test_writes_three_files(call, tmp_path):
    code, out, err = call(tmp_path / "x", "--seed=9", *SMALL)
    assert (code, err) == (0, "")
    names = ["train.conll", "dev.conll", "test.conll"]
    assert out.splitlines() == [str(tmp_path / "x" / name) for name in names]
    assert [len(read_corpus(tmp_path / "x" / name)) for name in names] == [5, 3, 2]


def test_refusals(call, tmp_path):
    (tmp_path / "file").write_text("")
    assert call(tmp_path / "file", *SMALL)[0] == 2
    code, _, err = call(tmp_path / "y", "--dev_sentences=0")
    assert (code, err) == (2, "dev_sentences must be at least 1. Received: 0.\n")
    assert not (tmp_path / "y").exists()
    assert call()[0] == call("a", "b")[0] == 2


def test_other_files_are_not_replaced(call, tmp_path):
    (tmp_path / "dev.conll").write_text("mine")
    code, _, err = call(tmp_path, *SMALL)
    assert code == 2
    assert "dev.conll: exists and holds something else" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dev.conll"]
