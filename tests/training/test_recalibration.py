"""A finished run is calibrated on another file."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

import uanet_tf
from tests.training.tiny_run import LIGHT, metrics, tiny_config
from uanet_lite.columns_file import read_corpus
from uanet_tf.errors import InputError
from uanet_tf.training.confidence_fit import recalibrate
from uanet_tf.training.fit import fit
from uanet_tf.training.run_directory import RunDirectory


@pytest.fixture(scope="module")
def run_dir(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "a"
    # Of single tokens: so small a model finds no entity.
    fit(tiny_config(corpus, **LIGHT, task="pos", target_precision=0.5), path)
    return path


def test_training_finds_the_threshold(run_dir, corpus):
    found = metrics(run_dir)["calibration"]["acceptance"]
    assert (found["target"], found["error"], found["by_type"]) == (0.5, 0.1, False)
    assert found["all"]["reached"]
    model = uanet_tf.load_model(run_dir)
    assert model.acceptance.target_value == 0.5
    thresholds = model.acceptance.thresholds.numpy()
    np.testing.assert_allclose(thresholds, found["all"]["threshold"], rtol=1e-6)
    tokens = sum(len(sentence.tokens) for sentence in read_corpus(corpus.dev))
    assert 0.2 * tokens < found["all"]["answers"] < 0.8 * tokens  # those of half the sentences


def test_the_run_keeps_all_but_its_calibration(run_dir, corpus, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run_dir, copy)
    sentences = read_corpus(corpus.test)
    report = recalibrate(copy, sentences)
    assert report.pop("targets_before") == {"precision": 0.5}
    assert report.pop("unknown_labels") == {}
    before, after = metrics(run_dir), metrics(copy)
    found = after.pop("calibration")
    assert found != before.pop("calibration")
    assert set(report) == set(found)
    for name, scores in found.items():
        assert report[name] == pytest.approx(scores)
    assert "acceptance" not in report
    # What is usual is now what these sentences are like.
    assert before.pop("monitoring") != after.pop("monitoring")
    assert before == after
    old, new = uanet_tf.load_model(run_dir), uanet_tf.load_model(copy)
    assert new.acceptance.target_value == 0.0
    assert (new.calibration.map.numpy() != old.calibration.map.numpy()).any()
    changed = {v.name for v in (*old.calibration.weights, *old.acceptance.weights)}
    for one, other in zip(old.weights, new.weights, strict=True):
        if one.name not in changed:
            assert (one.numpy() == other.numpy()).all()


def test_the_options_of_the_saved_model_stay(run_dir, corpus, tmp_path):
    """To calibrate turns calibration on, to measure it; what was saved with it off stays so."""
    shutil.copytree(run_dir, tmp_path / "copy")
    model = uanet_tf.load_model(run_dir, calibrated=False)
    model.save(tmp_path / "copy" / "model.keras")
    recalibrate(tmp_path / "copy", read_corpus(corpus.test))
    assert uanet_tf.load_model(tmp_path / "copy").options == model.options


def test_a_run_that_is_not_complete_is_refused(run_dir, corpus, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run_dir, copy)
    found = metrics(copy)
    (copy / "metrics.json").write_text(json.dumps({k: v for k, v in found.items() if k != "dev"}))
    with pytest.raises(InputError, match="holds no complete run"):
        recalibrate(copy, read_corpus(corpus.test))


def test_labels_that_the_model_does_not_give(run_dir, corpus, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run_dir, copy)
    sentences = read_corpus(corpus.test)
    other = [dataclasses.replace(s, labels=("X",) * len(s.labels)) for s in sentences]
    with pytest.raises(InputError, match=r"there is no label that the model gives \(.*\): there"):
        recalibrate(copy, other)
    assert (copy / "model.keras").read_bytes() == (run_dir / "model.keras").read_bytes()
    report = recalibrate(copy, [*sentences, other[0]])
    assert report["unknown_labels"] == {"X": len(other[0].labels)}


def test_one_sentence_is_too_little_for_a_target(run_dir, corpus, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run_dir, copy)
    with pytest.raises(InputError, match="a target precision needs two sentences"):
        recalibrate(copy, read_corpus(corpus.test)[:1], target_precision=0.5)
    assert (copy / "model.keras").read_bytes() == (run_dir / "model.keras").read_bytes()


def test_a_promise_that_other_options_break(run_dir):
    model = uanet_tf.load_model(run_dir)
    own = model.settings.inference
    assert model.broken_promise({"num_samples": own.num_samples, "refine_all": False}) is None
    said = model.broken_promise({"num_samples": 1, "sampling": own.sampling})
    assert said.startswith("The run's target precision of 0.5 was found with its own options, not")
    assert "`num_samples=1`:" in said
    model.calibrated = False
    assert model.broken_promise({"num_samples": 1}) is None


def test_a_target_needs_calibration(corpus, tmp_path):
    with pytest.raises(InputError, match="leave `calibrated=False` out"):
        fit(tiny_config(corpus, target_precision=0.5, calibrated=False), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_that_is_being_changed_is_refused(run_dir, corpus, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run_dir, copy)
    with (
        RunDirectory(copy).changing(),
        pytest.raises(InputError, match=r"copy is being changed by another process\.$"),
    ):
        recalibrate(copy, read_corpus(corpus.test))
    before = metrics(copy)
    assert before == metrics(run_dir)
    with RunDirectory(copy).changing():
        pass  # the lock was given back


def test_model_and_metrics_change_together(run_dir, corpus, tmp_path, monkeypatch):
    copy = tmp_path / "copy"
    shutil.copytree(run_dir, copy)
    before = {path.name: path.read_bytes() for path in copy.iterdir() if path.is_file()}

    def full(run, path, text):
        raise InputError(f"{path} cannot be written: No space left on device.")

    monkeypatch.setattr(RunDirectory, "write", full)
    with pytest.raises(InputError, match=r"metrics\.json cannot be written"):
        recalibrate(copy, read_corpus(corpus.test))
    after = {path.name: path.read_bytes() for path in copy.iterdir() if path.is_file()}
    assert after | {".lock": b""} == before | {".lock": b""}
