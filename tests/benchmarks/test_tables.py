"""Tables of untrained models, at sizes that take no time."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from benchmarks import (
    decoding,
    inference,
    kept_rows,
    operations,
    resources,
    scaling,
    stages,
    training,
)
from benchmarks.measure import Timing
from benchmarks.systems import ROOT, recipe, sentences_like, tagger_for
from uanet_tf.ops.graphs import graph_function


def cells(text):
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def number(cell):
    return float(cell.split()[0].replace(",", ""))


def test_recipes_are_the_flagfiles():
    assert recipe("uanet_fast").data.batch_size == 16
    assert recipe("uanet").to_dict()["decoder"]["refiner_heads"] == 7


@pytest.mark.parametrize(("types", "mean"), [(4, 13), (18, 24)])
def test_sentences_have_the_shape_they_are_named_for(types, mean):
    sentences = sentences_like(types, mean, 400)
    assert sum(len(s.tokens) for s in sentences) / 400 == pytest.approx(mean, rel=0.1)
    seen = {label[2:] for s in sentences for label in s.labels if label != "O"}
    assert len(seen) == types


def test_inference_has_every_system_and_tag_set(config, monkeypatch):
    monkeypatch.setattr(inference, "TYPES", (2,))
    monkeypatch.setattr(inference, "LENGTHS", (3, 5))
    head, _, *rows = cells(inference.table(config.replace(lan_heads=4), count=4, repeats=1))
    assert head[2:4] == ["3 tokens per sentence", "5 tokens per sentence"]
    assert [row[:2] for row in rows] == [["9", system] for system in inference.SYSTEMS]
    assert all(number(cell) > 0 for row in rows for cell in row[2:4])


@pytest.mark.parametrize(("decoder", "samples"), [("softmax", 0), ("uanet", 4)])
def test_share_of_the_encoder(config, monkeypatch, decoder, samples):
    system = {"one": ("variational_bilstm", decoder, samples)}
    monkeypatch.setattr(inference, "SYSTEMS", system)
    monkeypatch.setattr(inference, "TYPES", (2,))
    monkeypatch.setattr(inference, "LENGTHS", (5,))
    monkeypatch.setattr(inference, "matmul_rate", lambda: 1e6)
    monkeypatch.setattr(inference, "timed", lambda run, repeats: Timing(2.0, 2.0, 2.0))
    _, _, row = cells(inference.table(config, count=4, repeats=1))
    sentences = sentences_like(2, 5, 4)
    work = stages.encoder_flops(tagger_for(config, sentences))
    work *= sum(len(sentence.tokens) for sentence in sentences) * max(samples, 1)
    assert number(row[3]) == round(100 * work / 2.0 / 1e6)


def test_decoding_by_length(config, monkeypatch, tmp_path):
    monkeypatch.setattr(decoding, "SENTENCE_LENGTHS", (2, 6))
    monkeypatch.setattr(decoding, "BATCH", 4)
    points = decoding.measure(config, repeats=2)
    head, _, *rows = cells(decoding.table(points))
    assert [row[0] for row in rows] == ["2", "6"]
    ratio = points[1].times[decoding.CRF_ALL].median
    ratio /= points[1].times["refine and gate, 100 % above Gamma"].median
    assert rows[1][head.index("refine all over CRF")] == f"{ratio:.2f}"
    decoding.plot(points, tmp_path / "figures" / "decoding.svg", "a device")
    text = (tmp_path / "figures" / "decoding.svg").read_text()
    assert text.startswith("<?xml")
    assert "a device" in text


def test_work_of_the_encoder_is_that_of_its_weights(config):
    tagger = tagger_for(config, sentences_like(4, 5, 10))
    weights = [v for v in tagger.drafter.encoder.trainable_variables if v.shape.rank == 2]
    # Two operations, multiply and add, for each weight of a matrix.
    assert stages.encoder_flops(tagger) == 2 * sum(v.shape.num_elements() for v in weights)


def test_stages(config, monkeypatch):
    monkeypatch.setattr(stages, "MATMUL_SIZE", 64)
    monkeypatch.setattr(stages, "BATCH", 4)
    _, _, *rows = cells(stages.table(config, repeats=2))
    names = [row[0] for row in rows]
    assert names[-1] == "large matrix product"
    assert rows[-1][3] == "100 %"
    assert "draft: encoder, M = 4" in names
    assert all(number(row[1]) > 0 for row in rows)


def test_kept_rows_give_the_same_states():
    rng = np.random.default_rng(3)
    mask = kept_rows._mask(rng, 3, 5)
    layer = kept_rows.Layer(5, 4, 3, mask, rng)
    inputs = tf.constant(rng.standard_normal([6, 2, 5]), tf.float32)
    states = layer.masked(inputs)
    assert states.shape == [6, 3, 2, 4]
    np.testing.assert_allclose(layer.kept(inputs), states, atol=1e-5)
    assert 0 < (mask == 0).sum() < mask.size  # something is left out


def test_kept_rows_table(config):
    _, _, *rows = cells(kept_rows.table(config, sentences=2, tokens=3, repeats=1))
    assert [row[0] for row in rows] == ["as it is", "kept rows"]
    assert all(number(row[1]) > 0 for row in rows)


@pytest.mark.parametrize("stage", operations.STAGES)
def test_operations_of_a_stage(config, monkeypatch, stage):
    monkeypatch.setattr(stages, "BATCH", 4)
    head, _, *rows = cells(operations.table(config, stage, rows=4, repeats=1))
    assert head == ["operation", "milliseconds", "share", "times"]
    assert len(rows) == 5
    spent = [number(row[1]) for row in rows[:4]]
    assert spent == sorted(spent, reverse=True)
    assert sum(number(row[2]) for row in rows) == pytest.approx(100, abs=3)
    assert all(int(row[3]) > 0 for row in rows)


def test_recorded_operations_are_those_that_ran():
    matrix = tf.random.stateless_normal([8, 8], [1, 2])
    run = graph_function()(lambda: tf.tanh(matrix @ matrix) @ matrix @ tf.exp(matrix))
    run()
    spent, counts = operations._recorded(run)
    products = sum(count for kind, count in counts.items() if "MatMul" in kind)
    assert (products, counts["Tanh"]) == (3, 1)
    assert all(seconds > 0 for seconds in spent.values())


def test_growth(config, monkeypatch, tmp_path):
    monkeypatch.setattr(scaling, "LENGTHS", (4, 8))
    monkeypatch.setattr(scaling, "TOKENS", 64)
    growth = scaling.measure(config, repeats=1, counts=(5, 10))
    text = scaling.table(growth)
    assert [row[:2] for row in cells(text)[-2:]] == [["4", "16"], ["8", "8"]]
    scaling.plot(growth, tmp_path, "a device")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"scaling_sentences.svg", "scaling_length.svg"}


def test_training(config):
    _, _, row = cells(training.table({"small": config}, count=20, repeats=1))
    assert row[:2] == ["small", "16"]
    assert number(row[3]) > 0
    assert number(row[5]) > number(row[4])


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


def test_training_command(monkeypatch, capsys):
    small = {"word_width": 4, "hidden_width": 8, "refiner_heads": 2, "refiner_head_width": 2}
    read = training.recipe
    monkeypatch.setattr(training, "recipe", lambda name: read(name).replace(**small))
    command = ["training", "--recipes=uanet_fast", "--mixed_bfloat16", "--count=20"]
    monkeypatch.setattr(sys, "argv", command)
    training.main()
    assert cells(capsys.readouterr().out)[-1][:2] == ["uanet_fast", "16"]


def test_start_up_and_memory(runs):
    _, _, start, memory, _ = cells(resources.table(runs.uanet, count=3, length=4, repeats=1))
    assert 0.5 < number(start[1]) < 120
    assert 0.1 < number(memory[1]) < 4


def test_a_run_that_cannot_be_tagged_is_no_time(tmp_path):
    with pytest.raises(RuntimeError, match="exit code 2"):
        resources.start_up(str(tmp_path), tmp_path)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("name:only", "NAME:RUN:FILE"),
        ("name:missing_run:missing_file", "there is no missing_run"),
    ],
)
def test_wrong_runs_are_refused_before_anything_is_measured(value, message):
    command = [sys.executable, "-m", "benchmarks.run_all", f"--trained={value}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
