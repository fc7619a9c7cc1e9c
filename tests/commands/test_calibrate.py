"""``uanet calibrate``: its arguments and what it prints."""

import pytest

from uanet_tf.commands.calibrate_command import calibrate
from uanet_tf.errors import InputError, SentencesError
from uanet_tf.training import confidence_fit

FOUND = {
    "tokens": {"size": 5, "ece_before": 12.345, "ece_after": 1.0, "brier_after": 0.04},
    "acceptance": {
        "target": 0.95,
        "error": 0.1,
        "by_type": True,
        "all": {},
        "types": {
            "LOC": {"reached": False, "answers": 7, "best": 0.62, "target": 0.95},
            "PER": {
                "reached": True,
                "answers": 1000,
                "threshold": 0.875,
                "accepted": 0.5,
                "precision": 0.9625,
                "target": 0.95,
            },
        },
    },
}


TARGETS = {"target_precision": 0.95, "target_recall": 0.0, "target_by_type": True}
COST = {"recall": 0.96, "taken": 0.7, "per_1000": 12.34, "per_entity": 0.456}
PART = {"target": 0.95, "error": 0.1, "entities": 300, "design_effect": 1.0}
CANDIDATES = {
    "accepts": True,
    "costs": [
        {"target": 0.8, "threshold": 0.05, **COST},
        {"target": 0.98, "threshold": None, **dict.fromkeys(COST)},
    ],
    "curve": [],
    "target": 0.95,
    "by_type": True,
    "cost": COST,
    "types": {
        "LOC": {**PART, "threshold": 0.125, "best": 0.95, "recall": 0.96},
        "PER": {**PART, "threshold": 0.0625, "best": 0.95, "recall": 0.975},
    },
}


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.conll"
    path.write_text("p0 B-PER\nq1 I-PER\n\nX2 B-LOC\nx O\nP3 B-PER\n")
    return path


def test_what_it_prints(run_dir, data, call, capsys, monkeypatch):
    asked = []

    def recalibrate(folder, sentences, **options):
        asked.append((folder, len(sentences), options))
        return {**FOUND, "unknown_labels": {"B-X": 1}, "targets_before": {}}

    monkeypatch.setattr(confidence_fit, "recalibrate", recalibrate)
    arguments = ["--target_precision=0.95", "--target_by_type"]
    assert call(calibrate, f"--run_dir={run_dir}", f"--input={data}", *arguments) == 0
    assert asked == [(str(run_dir), 2, TARGETS)]
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith(
        "tokens: ECE 12.35 % uncalibrated, 1.00 % now, Brier score 0.0400 (5 tokens of "
    )
    assert lines[1].startswith("ECE: mean distance of the confidence")
    assert lines[2] == f"Of the half of {data} that the confidence was not fitted to:"
    assert '"LOC": cannot be promised from 7 tokens found' in lines[3]
    assert lines[3].endswith("; the highest that can: 0.62")
    assert '"PER": from confidence 0.875 on, 50.0 % of 1,000 tokens found, 96.2 %' in lines[4]
    assert lines[5].startswith(f"{run_dir} is rewritten (model.keras, metrics.json)")
    assert err == f"{data}: labels unknown to the model, counted as errors: B-X (1)\n"


def test_what_it_prints_of_candidates(run_dir, data, call, capsys, monkeypatch):
    found = {"candidates": CANDIDATES, "unknown_labels": {}, "targets_before": {}}
    monkeypatch.setattr(confidence_fit, "recalibrate", lambda *_, **__: dict(found))
    assert call(calibrate, f"--run_dir={run_dir}", f"--input={data}", "--target_recall=0.95") == 0
    loc, per, cost, head, first, last, _ = capsys.readouterr().out.splitlines()
    assert '"LOC": candidates from probability 0.1250 on, 96.0 % of 300 entities' in loc
    assert cost == (
        "all types: 96.0 % of the entities are shown, 12.3 spans are to be looked at per 1,000 "
        "tokens, 0.46 per entity; with one threshold for all types:"
    )
    assert '"PER": candidates from probability 0.0625 on, 97.5 % of 300 entities' in per
    assert " ".join(head.split()).endswith("accepted to be looked at rest")
    assert first.split() == [
        "0.8",
        "96.0",
        "%",
        "12.3",
        "0.46",
        "70.0",
        "%",
        "26.0",
        "%",
        "4.0",
        "%",
    ]
    assert last.split() == ["0.98", *"------"]


def test_a_target_that_is_removed(run_dir, data, call, capsys, monkeypatch):
    none = {"reached": False, "answers": 1, "best": 0.0, "target": 0.95}
    found = {"acceptance": {"by_type": False, "all": none}}
    found |= {"unknown_labels": {}, "targets_before": {"precision": 0.9, "recall": 0.5}}
    monkeypatch.setattr(confidence_fit, "recalibrate", lambda *_, **__: dict(found))
    assert call(calibrate, f"--run_dir={run_dir}", f"--input={data}") == 0
    out, err = capsys.readouterr()
    assert '"all": cannot be promised from 1 tokens found, nothing is accepted\n' in out
    assert err == (
        "The run's target precision of 0.9 is removed: answers have no `accepted`.\n"
        "The run's target recall of 0.5 is removed: none is promised.\n"
    )


def raising(error):
    def recalibrate(*_, **__):
        raise error

    return recalibrate


def test_an_error_names_the_file(run_dir, data, call, capsys, monkeypatch):
    for error, said in (
        (SentencesError("no chunks."), f"{data}: no chunks.\n"),
        (SentencesError("no chunks.", 7), f"{data}:7: no chunks.\n"),
        (InputError("R is not complete."), "R is not complete.\n"),  # not the file's fault
    ):
        monkeypatch.setattr(confidence_fit, "recalibrate", raising(error))
        assert call(calibrate, f"--run_dir={run_dir}", f"--input={data}") == 2
        assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--input=x"], "--run_dir is required"),
        (["--run_dir={run_dir}"], "--input is required"),
        (["--run_dir={run_dir}", "--input={data}", "--target_precision=1"], "must be in [0, 1)"),
        (["--run_dir={run_dir}", "--input={data}", "--target_precision=-0.5"], "must be in [0, 1)"),
        (["--run_dir={run_dir}", "--input={data}", "--target_recall=1.5"], "must be in [0, 1)"),
        (["--run_dir={run_dir}", "--input=no such file"], "no such file"),
        (["--run_dir={run_dir}", "--input={data}", "--target_by_type"], "give --target_precision"),
        (["--run_dir={run_dir}", "--input={data}"], "holds no model.keras"),
        (["--run_dir=en_ner", "--input={data}"], "comes with the package: give --output=DIR"),
    ],
)
def test_wrong_arguments(run_dir, data, call, capsys, arguments, said):
    filled = [argument.format(run_dir=run_dir, data=data) for argument in arguments]
    assert call(calibrate, *filled) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err


def test_beside_the_run(run_dir, data, call, capsys, monkeypatch, tmp_path):
    """A copy of it is calibrated, and is gone where that fails."""
    found = {"unknown_labels": {}, "targets_before": {}}
    asked = []
    monkeypatch.setattr(
        confidence_fit, "recalibrate", lambda folder, *_, **__: asked.append(folder) or dict(found)
    )
    output = tmp_path / "copy"
    arguments = [f"--run_dir={run_dir}", f"--input={data}", f"--output={output}"]
    (run_dir / "checkpoints").mkdir()
    assert call(calibrate, *arguments) == 0
    assert asked == [str(output)]
    assert [path.name for path in output.iterdir()] == ["config.json"]
    assert (
        capsys.readouterr().out.strip() == f"{output} is a copy of {run_dir} with this calibration."
    )
    assert call(calibrate, *arguments) == 2
    assert "is there already" in capsys.readouterr().err
    monkeypatch.setattr(confidence_fit, "recalibrate", raising(SentencesError("it is worse")))
    other = tmp_path / "other"
    assert call(calibrate, *arguments[:2], f"--output={other}") == 2
    assert not other.exists()


def test_what_would_be_worse_is_refused():
    found = {"entities": {"brier_until_now": 0.1, "brier_after": 0.12}, "tokens": {}}
    with pytest.raises(SentencesError, match=r"of its entities is 0\.1000 and would be 0\.1200"):
        confidence_fit._refuse_worse(found)
    found["entities"]["brier_after"] = 0.1
    confidence_fit._refuse_worse(found)
    confidence_fit._refuse_worse({"tokens": {"brier_after": 0.9}})
