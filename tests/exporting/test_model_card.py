"""The card says what the run measured, how it was exported, and how to call it."""

import pytest

import uanet_tf
from uanet_tf.exporting.model_card import FILE, model_card, read_metrics
from uanet_tf.metrics.run_metrics import read_run_metrics
from uanet_tf.serving.rest_api.loaded_model import read_gate


@pytest.fixture(scope="module")
def card(exported):
    return (exported.path / "assets.extra" / FILE).read_text("utf-8")


def test_gamma_stands_beside_the_card(exported, run_dir):
    gamma = uanet_tf.load_model(run_dir).threshold
    assert gamma > 0
    assert read_gate(exported.path) == gamma
    assert read_gate(exported.text_path) == gamma


def test_scores_and_calibration_are_the_run_s(card, run_dir):
    scores = read_run_metrics(run_dir / "metrics.json")["dev"]
    assert f"| dev | {scores['f1']:.2f} | {scores['precision']:.2f} |" in card


def test_uncertainty_of_right_and_wrong_drafts(model):
    scores = {
        "f1": 50.0,
        "uncertainty_correct": 0.25,
        "uncertainty_wrong": 0.75,
        "calibration_error": 1.234,
    }
    card = model_card(model, {"dev": scores}, {}, title="x")
    said = "dev: mean uncertainty 0.250 nats where the draft is right, 0.750 where it is wrong"
    assert f"{said}.\n" in card
    assert "calibration error of the confidence 1.23 %" in card
    perfect = model_card(model, {"dev": {**scores, "uncertainty_wrong": None}}, {}, title="x")
    assert "mean uncertainty" not in perfect
    assert "calibration error of the confidence 1.23 %" in perfect


def test_gate_samples_and_labels(card, model):
    assert card.startswith("# tiny, version 1\n")
    assert f"M = {model.num_samples} Monte Carlo samples" in card
    assert f"Gamma = {model.threshold:g} nats" in card
    assert "`B-PER`" in card
    assert "in IOB2" in card


def test_no_path_of_the_machine_is_told(card, run_dir):
    assert "- train: `train.conll`" in card
    assert str(run_dir.parent) not in card


def test_the_names_of_signatures(card, exported):
    assert "`draft`, `ids`, `serving_default`, `with_threshold`. `saved_model_cli" in card
    assert "no other package is needed" in card
    text = (exported.text_path / "assets.extra" / FILE).read_text("utf-8")
    assert "Needs the operations of tensorflow-text (RegexSplitWithOffsets)" in text
    assert "`entities`, `serving_default`, `with_threshold`. `saved_model_cli" in text


def test_a_run_without_metrics_has_a_card(model, tmp_path):
    assert read_metrics(tmp_path) == {}
    (tmp_path / "metrics.json").write_text("[")
    card = model_card(model, read_metrics(tmp_path), {}, title="x, version 2")
    assert "The run holds no scores." in card
    assert card.startswith("# x, version 2\n")
