"""What a training run leaves behind, early stopping, and what the seed decides."""

import collections
import dataclasses
import json
import os

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework.config import disable_op_determinism

import uanet_tf
from tests.quick_params import quick_params
from tests.training.killing import Killed
from tests.training.tiny_run import LIGHT, WORDS, assert_same_weights, metrics, tiny_config
from uanet_lite.columns_file import read_corpus
from uanet_tf.commands.setting_flags import settings_of
from uanet_tf.config import load_config
from uanet_tf.training import fit as fit_module
from uanet_tf.training.fit import fit

SCORES = {
    *("f1", "precision", "recall", "accuracy", "draft_f1", "refined_f1", "threshold"),
    *("refined_fraction", "right_to_wrong", "wrong_to_right", "calibration_error"),
    *("uncertainty_correct", "uncertainty_wrong", "sentences_per_second"),
}

RATES = ("draft", "refined")  # parts with a loss and a rate of their own

ALL = WORDS | {"output_dropout": 0.25, "tune_threshold": True, "distill_samples": 4}


@pytest.fixture(scope="module")
def run_dir(corpus, tmp_path_factory):
    """A run with all that can be in one."""
    path = tmp_path_factory.mktemp("run") / "a"
    before = os.umask(0o027)
    try:
        returned = fit(tiny_config(corpus, **ALL), path)
    finally:
        os.umask(before)
    assert returned == metrics(path)
    return path


def test_files(run_dir, corpus):
    config = tiny_config(corpus, **ALL)
    assert load_config(run_dir) == config
    vocabulary = json.loads((run_dir / "vocabulary.json").read_text())
    assert "Holmfield" in vocabulary["words"] or vocabulary["words"]
    assert (run_dir / "checkpoints" / "best.weights.npz").exists()
    assert list((run_dir / "checkpoints").glob("ckpt-*.index"))
    assert list((run_dir / "tensorboard").glob("events.out.tfevents.*"))
    modes = {path: path.stat().st_mode & 0o777 for path in run_dir.rglob("*") if path.is_file()}
    assert set(modes.values()) == {0o640}, modes
    assert not [path for path in modes if ".part" in path.name]

    assert settings_of([f"--flagfile={run_dir / 'flags.txt'}"]).config == config


def test_metrics(run_dir):
    found = metrics(run_dir)
    parts = {"distilled", "calibration", "monitoring", "dev", "test"}
    assert set(found) == {"task", "epochs", "best_epoch"} | parts
    assert found["task"] == "ner"
    assert [entry["epoch"] for entry in found["epochs"]] == [1, 2, 3]
    of_parts = {f"{what}_{part}" for what in ("loss", "learning_rate") for part in RATES}
    for entry in found["epochs"]:
        keys = {"epoch", "seconds", "sentences_per_second", "loss", "dev"}
        assert set(entry) == keys | of_parts
        assert entry["loss_draft"] + entry["loss_refined"] == pytest.approx(entry["loss"])
        assert set(entry["dev"]) == SCORES
    assert set(found["dev"]) == set(found["test"]) == SCORES | {"types"}
    losses = [entry["loss"] for entry in found["epochs"]]
    assert losses == sorted(losses, reverse=True)


def test_calibration_is_part_of_the_model(run_dir, corpus):
    """Loaded with it or without: other confidence, the same of everything else."""
    found = metrics(run_dir)["calibration"]
    assert set(found) == {"tokens", "entities", "candidates"}
    sentences = [list(s.tokens) for s in read_corpus(corpus.test)]
    model = uanet_tf.load_model(run_dir)
    assert model.calibration.is_fitted
    calibrated = uanet_tf.tag(model, sentences)
    model.calibrated = False
    plain = uanet_tf.tag(model, sentences)
    for one, other in zip(calibrated, plain, strict=True):
        assert one.confidence != other.confidence
        assert dataclasses.replace(one, confidence=other.confidence) == other


def test_tensorboard_has_the_curves(run_dir):
    (path,) = (run_dir / "tensorboard").glob("events.out.tfevents.*")
    seen: dict[str, list[float]] = {}
    for event in tf.compat.v1.train.summary_iterator(str(path)):
        for value in event.summary.value:
            seen.setdefault(value.tag, []).append(float(tf.make_ndarray(value.tensor)))
    assert {"train/loss", "dev/f1", "dev/draft_f1", "dev/uncertainty_wrong"} <= set(seen)
    expected = [entry["loss"] for entry in metrics(run_dir)["epochs"]]
    np.testing.assert_allclose(seen["train/loss"], expected, rtol=1e-6)
    stored = json.loads((run_dir / "metrics.json").read_text())["epochs"]
    for name in ("f1", "calibration_error", "refined_fraction"):
        expected = [entry["dev"][name] for entry in stored]  # fractions
        np.testing.assert_allclose(seen[f"dev/{name}"], expected, rtol=1e-6)
        assert max(expected) <= 1.0


def test_tuned_threshold_is_in_the_model(run_dir):
    found, model = metrics(run_dir), uanet_tf.load_model(run_dir)
    assert model.threshold == pytest.approx(found["dev"]["threshold"])
    assert found["test"]["threshold"] == found["dev"]["threshold"]


def test_another_seed_another_start_and_another_order(corpus, tmp_path, monkeypatch):
    """One seed, one result: test_resume.py shows it."""
    begun = {}

    def train(self, bar):
        weights = [variable.numpy() for variable in self.tagger.trainable_variables]
        begun[self.config.training.seed] = weights, np.concatenate(self._plan(0))
        raise Killed

    monkeypatch.setattr(fit_module._Training, "_train_epoch", train)
    for seed in (1, 2):
        with pytest.raises(Killed):
            fit(tiny_config(corpus, seed=seed), tmp_path / str(seed))
    (mine, my_plan), (other, other_plan) = begun[1], begun[2]
    assert my_plan.tolist() != other_plan.tolist()
    drawn = [pair for pair in zip(mine, other, strict=True) if len(np.unique(pair[0])) > 2]
    assert len(drawn) > 10
    assert not [one for one, two in drawn if np.array_equal(one, two)]


@pytest.mark.process
def test_deterministic(corpus, tmp_path):
    """Also where the word table is updated row by row."""
    config = tiny_config(corpus, deterministic=True, word_width=400, epochs=1)
    try:
        for name in ("a", "b"):
            fit(config, tmp_path / name)
    finally:
        disable_op_determinism()
    assert_same_weights(tmp_path / "a", tmp_path / "b")


def test_steps_may_be_in_tf32_and_what_is_scored_is_not(corpus, tmp_path, monkeypatch):
    allowed = tf.config.experimental.tensor_float_32_execution_enabled
    seen = collections.defaultdict(set)

    def spy(name):
        original = getattr(fit_module._Training, name)

        def call(self, *given, **named):
            seen[name].add(allowed())
            return original(self, *given, **named)

        monkeypatch.setattr(fit_module._Training, name, call)

    for name in ("_train_epoch", "_score", "_finish"):
        spy(name)
    fit(tiny_config(corpus, **LIGHT | {"epochs": 1, "min_epochs": 1}), tmp_path)
    assert seen == {"_train_epoch": {True}, "_score": {False}, "_finish": {False}}


def test_patience_and_the_best_epoch(corpus, tmp_path, monkeypatch):
    """The weights saved are those of the best epoch, scored with the average."""
    scores, seen = iter([10.0, 30.0, 30.0, 20.0, 0.0, 0.0]), []
    original = fit_module.score_corpus

    def score(tagger, sentences, task, **kwargs):
        seen.append([v.numpy() for v in tagger.trainable_variables])
        return original(tagger, sentences, task) | {"f1": next(scores)}

    monkeypatch.setattr(fit_module, "score_corpus", score)
    config = tiny_config(corpus, epochs=9, min_epochs=1, patience=2, test_path="", **LIGHT)
    found = fit(config, tmp_path)
    assert found["best_epoch"] == 2
    assert len(found["epochs"]) == 4
    assert "test" not in found
    saved = uanet_tf.load_model(tmp_path).trainable_variables
    for before, after, final in zip(seen[1], saved, seen[4], strict=True):
        np.testing.assert_array_equal(before, after.numpy())
        np.testing.assert_array_equal(before, final)
    assert any(np.any(a != b) for a, b in zip(seen[1], seen[3], strict=True))


def test_a_small_file_is_read_until_an_epoch_has_enough_steps(corpus, tmp_path):
    config = tiny_config(corpus, epochs=2, min_epochs=1, min_steps=11, test_path="", **LIGHT)
    run = fit_module.RunDirectory(tmp_path)
    run.claim(config)
    training = fit_module._Training(config, run, fit_module.prepare(config), fit_module.Replicas())
    assert len(training._plan(0)) == 20  # 40 sentences are 10 batches of 4
    training.run(resume=False)
    assert int(training.trainer.global_step) == 40
    assert int(training.trainer.optimizers["draft"].iterations) == 40


@pytest.mark.parametrize("decoder", quick_params(["uanet", "softmax"], ["softmax"]))
def test_single_labels(corpus, tmp_path, decoder):
    settings = {"task": "pos", "epochs": 1, "average_decay": 0.0, **LIGHT, "decoder": decoder}
    found = fit(tiny_config(corpus, **settings), tmp_path)
    assert found["task"] == "pos"
    gated = {"draft_accuracy", "refined_accuracy", "threshold", "refined_fraction"}
    assert "accuracy" in found["dev"]
    assert gated & set(found["dev"]) == (gated if decoder == "uanet" else set())
    assert "f1" not in found["test"]
