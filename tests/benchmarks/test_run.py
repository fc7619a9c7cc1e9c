"""Benchmarks run, on small models, and measure what they say."""

import sys

import numpy as np
import pytest

import uanet_tf
from benchmarks import (
    decoding,
    inference,
    kept_rows,
    latency,
    lite_server,
    operations,
    parts,
    raw_text,
    refined_together,
    resources,
    samples,
    scaling,
    stages,
    sweeps,
    trained,
    training,
)
from benchmarks.systems import sentences_like, tagger_for
from tests.benchmarks.conftest import Runs
from uanet_lite.columns_file import read_corpus
from uanet_tf.config import Config
from uanet_tf.training.development import score_corpus

OF_CONFIG = {
    "decoding": lambda config: decoding.table(decoding.measure(config, repeats=2)),
    "inference": lambda config: inference.table(config, count=4, repeats=1),
    "kept rows": lambda config: kept_rows.table(config, sentences=2, tokens=3, repeats=1),
    **{
        stage: lambda config, stage=stage: operations.table(config, stage, rows=4, repeats=1)
        for stage in operations.STAGES
    },
    "scaling": lambda config: scaling.table(scaling.measure(config, repeats=1, counts=(5, 10))),
    "stages": lambda config: stages.table(config, repeats=2),
    "training": lambda config: training.table({"small": config}, count=20, repeats=1),
}
OF_RUNS = {
    "latency": lambda runs: latency.table(
        runs.uanet, runs.data, baselines=[runs.crf], tokens=5, batch=3, repeats=2
    ),
    "lite server": lambda runs: lite_server.table(
        runs.uanet, sys.executable, tokens=5, starts=1, sentences=50
    ),
    "parts": lambda runs: parts.table(runs.uanet, runs.data, repeats=2),
    "raw text": lambda runs: raw_text.table(runs.crf, runs.data),
    "refined together": lambda runs: refined_together.table(runs.uanet, runs.data, repeats=2),
    "resources": lambda runs: resources.table(runs.uanet, count=3, length=4, repeats=1),
    "samples": lambda runs: samples.table([runs.uanet], runs.data, most=20, gammas=[0.35]),
    "sweeps": lambda runs: sweeps.sweep(runs.uanet, runs.data)[0],
}


def cells(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for name, value in (
        ("inference.TYPES", (2,)),
        ("inference.LENGTHS", (3, 5)),
        ("decoding.SENTENCE_LENGTHS", (2, 6)),
        ("decoding.BATCH", 4),
        ("stages.MATMUL_SIZE", 64),
        ("stages.BATCH", 4),
        ("scaling.LENGTHS", (4, 8)),
        ("scaling.TOKENS", 64),
        ("samples.COUNTS", (2, 8)),
        ("samples._MANY", 64),
        ("sweeps.GAMMAS", (0.0, 0.35, 5.0)),
        ("sweeps.SAMPLES", (1, 8)),
    ):
        monkeypatch.setattr(f"benchmarks.{name}", value)


@pytest.mark.parametrize("name", OF_CONFIG)
def test_of_untrained_models(config: Config, name: str):
    assert min(map(len, cells(OF_CONFIG[name](config.replace(lan_heads=4)))[2:])) > 1


@pytest.mark.parametrize("name", OF_RUNS)
def test_of_runs(runs: Runs, name: str):
    assert min(map(len, cells(OF_RUNS[name](runs))[2:])) > 1


def test_scores_are_those_of_evaluation(runs):
    head, _, *rows = cells(trained.table(runs.uanet, runs.data, baselines=[runs.crf], repeats=2))
    table = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
    scores = score_corpus(uanet_tf.load_model(runs.uanet), read_corpus(runs.data), "ner")
    assert table["exact"]["score"] == f"{scores['f1']:.2f}"
    assert table["exact"]["refined tokens"] == f"{100 * scores['refined_fraction']:.1f} %"
    for way in ("naive", "in batches of ten"):
        assert table[way]["labels as exact"] == "100.00 %"


def test_work_is_that_of_the_weights(config):
    """Two operations, multiply and add, for each weight of a matrix."""
    tagger = tagger_for(config, sentences_like(4, 5, 10))
    weights = [v for v in tagger.drafter.encoder.trainable_variables if v.shape.rank == 2]
    assert stages.encoder_flops(tagger) == 2 * sum(v.shape.num_elements() for v in weights)


def test_work_of_training_is_in_the_weights_that_tokens_meet(config):
    small = config.replace(word_width=4, char_filters=3, hidden_width=8, num_samples=2)
    small = small.replace(refiner_layers=1, refiner_heads=2, refiner_head_width=5)
    tagger = tagger_for(small, sentences_like(2, 5, 10))
    classes = len(tagger.vocabulary.labels)
    encoder = 2 * (7 + 4) * 16  # input and state of both directions, to four gates of 4 units
    refiner = 7 * 10 + 10 * 10  # words and labels to the width of the refiner
    refiner += 10 * (30 + 10 + 20 + 20) + 10 * (10 + 20 + 10 + 20 + 20)  # its two streams
    refiner += 20 * classes
    assert training.token_flops(tagger) == 6 * (encoder + 8 * classes + refiner)


def test_equal_gates():
    one, other = (
        samples.Drafts(np.array(p), np.zeros(3))
        for p in ([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]], [[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]])
    )
    np.testing.assert_allclose(one.uncertainty, [np.log(2), np.log(2), 0], atol=1e-6)
    for gamma, percent in ((0.5, 50.0), (0.2, 100.0), (0.9, 100.0)):
        assert samples.equal_gates(one, other, gamma) == percent
