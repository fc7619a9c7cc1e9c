import json
from types import SimpleNamespace

import numpy as np
import pytest

from tests.evaluation.test_evaluation import NEARNESS
from tests.tagging.fake_model import FakeWeight
from uanet_tf.commands.evaluate_command import evaluate
from uanet_tf.config import Config
from uanet_tf.models import nearness

# X2 is wrong as draft (O) and right when refined (B-LOC); P3 the other way round.
DATA = "p0 B-PER\nq1 I-PER\n\nX2 B-LOC\nx O\nP3 B-PER\n"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.conll"
    path.write_text(DATA)
    return path


def test_json(run_dir, data, model, call, capsys):
    assert call(evaluate, f"--run_dir={run_dir}", f"--input={data}", "--json") == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert result.pop("sentences_per_second") > 0
    assert result.pop("types").keys() == {"PER", "LOC"}
    words = result.pop("words")
    assert sum(scores["size"] for scores in words.values()) == 3
    systems = result.pop("trust")
    assert list(systems) == ["tagger", "one_pass"]
    # What the draft of this model gets wrong is X2 alone; the tagger takes P3 wrongly as well.
    assert systems["tagger"]["labelled_tokens"]["wrong"] == pytest.approx(0.25)
    assert systems["one_pass"]["labelled_tokens"]["wrong"] == 0.0
    assert systems["one_pass"]["uncertain_tokens"]["size"] == 2
    assert 0 < result.pop("calibration_error") < 1
    assert result == {
        "f1": pytest.approx(2 / 3),
        "precision": pytest.approx(2 / 3),
        "recall": pytest.approx(2 / 3),
        "accuracy": 0.8,
        "draft_f1": pytest.approx(0.8),
        "refined_f1": pytest.approx(2 / 3),
        "threshold": 0.35,
        "refined_fraction": pytest.approx(0.4),
        "right_to_wrong": 1,
        "wrong_to_right": 1,
        "uncertainty_correct": pytest.approx(1.3 / 4),
        "uncertainty_wrong": pytest.approx(1.0),
        "sentences": 2,
        "tokens": 5,
        "unknown_labels": {},
    }
    assert err == ""


def test_table(run_dir, data, model, call, capsys):
    assert call(evaluate, f"--run_dir={run_dir}", f"--input={data}") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0][:5] == ["data.conll:", "2", "sentences,", "5", "tokens,"]
    assert ["seqeval,", "strict", "precision", "recall", "F1", "accuracy"] in lines
    assert ["draft", "100.00", "66.67", "80.00", "80.00"] in lines
    assert ["gated", "66.67", "66.67", "66.67", "80.00"] in lines


def test_samples_have_their_baseline_beside_them(run_dir, data, model, call, capsys, monkeypatch):
    """M = 0, where it answers otherwise; a tagger without samples is its own baseline."""
    tag_batch = model.tag_batch

    def tag_as(tokens, lengths):
        found = tag_batch(tokens, lengths)
        if not model.num_samples:
            found["labels"] = np.zeros_like(found["labels"])
            found["uncertainty"] = found["uncertainty"] / 2
        return found

    assert call(evaluate, f"--run_dir={run_dir}", f"--input={data}") == 0
    assert "M = 0" not in capsys.readouterr().out
    monkeypatch.setattr(model, "tag_batch", tag_as)
    assert call(evaluate, f"--run_dir={run_dir}", f"--input={data}") == 0
    out = capsys.readouterr().out
    assert ["M", "=", "0", "0.00", "0.00", "0.00", "20.00"] in list(
        map(str.split, out.splitlines())
    )
    assert "M = 1 would be one pass with dropout, a single draw" in out


def test_a_trained_head_is_compared_with_samples(run_dir, data, model, call, capsys, monkeypatch):
    seen, tag_batch = [], model.tag_batch

    def tag_as(tokens, lengths):
        seen.append((model.sampling, model.num_samples))
        found = tag_batch(tokens, lengths)
        if model.sampling == "distilled":
            found["draft_labels"] = found["labels"] = np.zeros_like(found["labels"])
        return found

    monkeypatch.setattr(model, "tag_batch", tag_as)
    monkeypatch.setattr(nearness, "compare_with_samples", lambda *_, **__: NEARNESS)
    model.drafter.distilled = SimpleNamespace(was_trained=FakeWeight(1.0))
    for sampling in ("exact", "distilled"):
        seen.clear()
        arguments = [f"--run_dir={run_dir}", f"--input={data}", f"--sampling={sampling}"]
        assert call(evaluate, *arguments, "--json") == 0
        result = json.loads(capsys.readouterr().out)
        assert result["distilled"]["score"]["distilled"] == 0.0
        assert result["distilled"]["score"]["exact"] == pytest.approx(2 / 3)
        assert result["f1"] == result["distilled"]["score"][sampling]
        assert set(seen) == {("exact", 8), ("exact", 0), ("distilled", 8)}
        assert model.sampling == sampling
    assert call(evaluate, f"--run_dir={run_dir}", f"--input={data}") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["KL", "to", "32", "samples", "0.00100", "0.00200", "0.00300"] in lines
    assert ["gate", "as", "by", "M", "80.00"] in lines


def test_out_holds_what_json_prints(run_dir, data, model, call, capsys, tmp_path):
    out = tmp_path / "scores.json"
    arguments = [f"--run_dir={run_dir}", f"--input={data}", "--json", f"--output={out}"]
    assert call(evaluate, *arguments) == 0
    assert out.read_text() == capsys.readouterr().out
    assert call(evaluate, *arguments[:-1], f"--output={tmp_path}/none/x.json") == 2
    assert "cannot be written" in capsys.readouterr().err


def test_threshold_is_reported(run_dir, data, model, call, capsys):
    arguments = [f"--run_dir={run_dir}", f"--input={data}", "--json", "--threshold=1.5"]
    assert call(evaluate, *arguments) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["threshold"], result["refined_fraction"]) == (1.5, 0.0)
    assert result["f1"] == result["draft_f1"]


def test_labels_without_spans_are_scored_by_accuracy(run_dir, tmp_path, model, call, capsys):
    model.label_scheme = None
    path = tmp_path / "pos.conll"
    path.write_text("p0 B-PER\nx NN\n")
    assert call(evaluate, f"--run_dir={run_dir}", f"--input={path}", "--json") == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert result["accuracy"] == 0.5
    assert "f1" not in result
    assert err == f"{path}: labels unknown to the model, scored as errors: NN (1)\n"


def test_columns_default_to_those_of_the_run(run_dir, tmp_path, model, call, capsys):
    config = Config().replace(token_column=1, label_column=0)
    (run_dir / "config.json").write_text(json.dumps(config.to_dict()))
    path = tmp_path / "data.conll"
    path.write_text("B-PER p0 x\n")
    assert call(evaluate, f"--run_dir={run_dir}", f"--input={path}", "--json") == 0
    assert json.loads(capsys.readouterr().out)["f1"] == 1.0
    path.write_text("p0 x B-PER\n")
    columns = ["--token_column=0", "--label_column=-1"]
    assert call(evaluate, f"--run_dir={run_dir}", f"--input={path}", "--json", *columns) == 0
    assert json.loads(capsys.readouterr().out)["f1"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--run_dir={run}"], "--input is required"),
        (["--run_dir={run}", "--input=/no/such"], "/no/such: no such file."),
        (["--run_dir={run}", "--input={data}", "--label_column=5"], "{data}:1: too few columns"),
        (
            ["--run_dir={run}", "--input={data}", "--label_column=0"],
            "token_column and label_column",
        ),
    ],
)
def test_bad_arguments(run_dir, data, call, capsys, arguments, message):
    names = {"run": run_dir, "data": data}
    assert call(evaluate, *(argument.format(**names) for argument in arguments)) == 2
    assert capsys.readouterr().err.startswith(message.format(**names))


def test_labels_that_are_no_chunk_labels_name_the_file(run_dir, tmp_path, model, call, capsys):
    path = tmp_path / "pos.conll"
    path.write_text("p0 O\n\np1 O\np0 NN\n")
    assert call(evaluate, f"--run_dir={run_dir}", f"--input={path}") == 2
    assert capsys.readouterr().err.startswith(
        f"{path}:3: in the sentence that begins here: not a chunk label"
    )
    assert model.batches == []  # found before it tags
