"""``uanet find_label_errors``, with taggers of a few lines."""

import json
import pathlib

import numpy as np
import pytest

import uanet_tf
from tests.tagging.fake_model import LABELS, FakeModel
from uanet_lite.columns_file import read_corpus
from uanet_tf.commands import training_runs
from uanet_tf.commands.find_label_errors_command import find_label_errors
from uanet_tf.commands.setting_flags import settings_of

# The fake tagger: "p" is B-PER, "q" is I-PER, "l" is B-LOC, all else O.
BLOCKS = [f"p{k} B-PER\nx{k} O\nl{k} B-LOC\n" for k in range(40)]
WRONG = "p77 B-LOC\nq77 I-LOC\nx O\n"
MISSED = "x O\nx O\np78 O\n"


class Sure(FakeModel):
    class_names = (*LABELS, "S-PER", "E-PER", "S-LOC", "E-LOC")
    labels_of_classes = (*LABELS, "B-PER", "I-PER", "B-LOC", "I-LOC")

    def tag_batch(self, tokens, lengths):
        answers = super().tag_batch(tokens, lengths)
        p = np.full([*tokens.shape, len(self.class_names)], 0.001, np.float32)
        for letter, name in (("p", "S-PER"), ("p", "B-PER"), ("q", "E-PER"), ("l", "S-LOC")):
            p[np.char.startswith(tokens.astype(str), letter), self.class_names.index(name)] = 0.4
        return {**answers, "probabilities": p}


@pytest.fixture
def trained(monkeypatch):
    """Training that writes nothing; its arguments by directory, and the models' options."""
    runs = {}

    def train_run(run_dir, arguments, said):
        runs[run_dir.name] = (settings_of(arguments).config, arguments)

    def load_model(run_dir, **options):
        assert options == {"return_probabilities": True}
        return Sure()

    monkeypatch.setattr(training_runs, "train_run", train_run)
    monkeypatch.setattr(uanet_tf, "load_model", load_model, raising=False)
    return runs


@pytest.fixture
def find(tmp_path, call, monkeypatch):
    path = tmp_path / "train.conll"
    path.write_text("\n".join([*BLOCKS[:20], WRONG, *BLOCKS[20:]]))

    def find(*arguments):
        arguments = [f"--train_path={path}", f"--run_dir={tmp_path / 'runs'}", *arguments]
        monkeypatch.setattr("sys.argv", ["uanet", *arguments])
        return call(find_label_errors, *arguments)

    return find


def test_the_wrong_label_is_found(find, trained, tmp_path, capsys):
    out, page = tmp_path / "doubts.jsonl", tmp_path / "doubts.html"
    assert find("--folds=3", f"--output={out}", f"--html={page}") == 0
    (record,) = map(json.loads, out.read_text().splitlines())
    assert record["rank"] == 1
    assert record["line"] == 81
    assert record["given"] == [{"type": "LOC", "start": 0, "end": 2}]
    assert record["predicted"] == [{"type": "PER", "start": 0, "end": 2}]
    assert record["given_probability"] == 0.001
    shown = capsys.readouterr().out.splitlines()
    assert record["kind"] == "mislabelled"
    assert shown[0].startswith("1 places of ")
    assert shown[0].endswith("differ (likeliest: 1 mislabelled).")
    assert shown[2].split() == ["1", "0.001", "81:", "[LOC", "p77", "q77]", "x"]
    assert shown[3].split() == ["0.4", "[PER", "p77", "q77]", "x"]
    assert "p77" in page.read_text()


def test_missed_entities_have_a_list_of_their_own(find, trained, tmp_path, capsys):
    path, out = tmp_path / "more.conll", tmp_path / "doubts.jsonl"
    path.write_text("\n".join([*BLOCKS, WRONG, MISSED]))
    for arguments, kinds in (
        ([], ["mislabelled", "missed"]),
        (["--kinds=missed"], ["missed"]),
        (["--kinds=spurious,mislabelled"], ["mislabelled"]),
    ):
        assert find("--folds=3", f"--train_path={path}", f"--output={out}", *arguments) == 0
        assert [json.loads(line)["kind"] for line in out.read_text().splitlines()] == kinds
    capsys.readouterr()
    assert find("--kinds=other") != 0
    assert "must be of mislabelled, missed, spurious" in capsys.readouterr().err


def test_no_tagger_sees_what_it_judges(find, trained, tmp_path):
    assert find("--folds=3", "--epochs=7") == 0
    everything = {s.tokens for s in read_corpus(tmp_path / "train.conll")}
    seen = []
    for config, arguments in trained.values():
        assert config.training.epochs == 7
        assert "--epochs=7" in arguments  # typed: refused, if it has no effect
        train, dev = (
            {s.tokens for s in read_corpus(path)}
            for path in (config.data.train_path, config.data.dev_path)
        )
        assert train
        assert dev
        assert not train & dev
        seen.append(train | dev)
    assert list(trained) == ["fold1", "fold2", "fold3"]
    missing = [everything - part for part in seen]
    assert sum(map(len, missing)) == len(everything)
    assert set.union(*missing) == everything


def test_a_development_file_of_ones_own(find, trained, tmp_path):
    dev = tmp_path / "dev.txt"
    dev.write_text("0 p1 B-PER\n1 x O\n")
    train = tmp_path / "numbered.conll"
    train.write_text("\n".join(f"0 p{k} B-PER\n1 x O\n" for k in range(9)))
    arguments = ["--token_column=1", f"--train_path={train}", f"--dev_path={dev}", "--folds=2"]
    assert find(*arguments) == 0
    for config, _ in trained.values():
        assert [s.tokens for s in read_corpus(config.data.dev_path)] == [("p1", "x")]
        assert config.data.token_column == "0"


def test_a_file_that_cannot_be_written_is_said_before_training(find, trained, tmp_path, capsys):
    assert find(f"--html={tmp_path / 'no' / 'doubts.html'}") == 2
    assert "doubts.html: cannot be written" in capsys.readouterr().err
    assert not trained


def test_two_outputs_are_two_files(find, trained, tmp_path, capsys):
    out = tmp_path / "same"
    (tmp_path / "link").symlink_to(out)
    for output, page in ((out, out), (out, tmp_path / "link"), ("-", "-")):
        assert find(f"--output={output}", f"--html={page}") == 2
        assert "--output and --html must be different files" in capsys.readouterr().err
    assert not trained


def test_outputs_may_be_in_the_directory_of_the_runs(find, trained, tmp_path):
    runs = tmp_path / "runs"
    runs.mkdir()
    out, page = runs / "doubts.jsonl", runs / "doubts.html"
    for _ in range(2):
        assert find("--folds=3", f"--output={out}", f"--html={page}") == 0
        assert json.loads(out.read_text())["rank"] == 1


def test_too_little_for_development_data_says_what_helps(find, trained, tmp_path, capsys):
    path = tmp_path / "small.conll"
    path.write_text("\n".join(BLOCKS[:8]))
    assert find(f"--train_path={path}", "--folds=2") == 2
    err = capsys.readouterr().err
    assert "Without --dev_path" in err
    assert "4 different sentences cannot be parted into 10 folds. Give --dev_path=FILE." in err
    assert not trained


def test_bad_arguments(find, trained, capsys):
    for arguments, message in (
        (["--train_path="], "--train_path is required."),
        (["--run_dir="], "--run_dir is required."),
        (["--test_path=A"], "--test_path is not read. Received: A"),
        (["--folds=1"], "folds"),
        (["--folds=60"], "41 different sentences cannot be parted into 60 folds."),
        ([f"--run_dir={pathlib.Path('/proc/none')}"], "cannot be written"),
    ):
        assert find(*arguments) == 2
        assert message in capsys.readouterr().err
    assert not trained
