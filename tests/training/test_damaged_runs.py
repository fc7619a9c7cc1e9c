"""Files of a run that are damaged or cannot be written: one sentence, or mended, nothing lost."""

import contextlib
import json
import resource
import shutil

import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import make_sentences, make_vocabulary, small
from tests.training.tiny_run import tiny_config
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.metrics.run_metrics import metrics_text
from uanet_tf.models.build import make_tagger
from uanet_tf.training.fit import fit
from uanet_tf.training.run_directory import RunDirectory
from uanet_tf.training.saved_state import (
    KEPT_STATES,
    Progress,
    StateKeeper,
    load_weights,
    save_weights,
)
from uanet_tf.training.training_logs import TrainingLogs

SCORES = {
    "f1": 50.0,
    "draft_f1": 49,
    "refined_f1": 51.5,
    "uncertainty_correct": 0.1,
    "uncertainty_wrong": None,
    "sentences_per_second": 10.0,
}
METRICS = {"task": "ner", "epochs": [], "best_epoch": 1, "dev": SCORES}


@contextlib.contextmanager
def full_disk(most_bytes):
    """Inside, no file of this process grows beyond this size, whoever writes it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def tagger():
    settings = small(Config().replace(decoder="softmax", representation="words"))
    return make_tagger(settings, make_vocabulary(make_sentences("IOB2", 3), "IOB2"))


@pytest.fixture(scope="module")
def archive(tagger, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.keras"
    tagger.save(path)
    return path


@pytest.fixture
def run(tmp_path, archive):
    """A complete run."""
    run = RunDirectory(tmp_path / "run")
    run.claim(Config())
    shutil.copy(archive, run.model)
    run.metrics.write_text(metrics_text(METRICS))
    return run


def test_a_complete_run(run):
    assert run.finished_metrics() == METRICS
    run.metrics.write_text(json.dumps({key: METRICS[key] for key in METRICS if key != "dev"}))
    assert run.finished_metrics() is None


DAMAGED_METRICS = [
    "",
    "{",
    "[]",
    "3",
    "{}",
    json.dumps({"dev": SCORES}),
    json.dumps({**METRICS, "task": "both"}),
    json.dumps({**METRICS, "task": ["ner"]}),
    json.dumps({**METRICS, "epochs": 3}),
    json.dumps({**METRICS, "best_epoch": "first"}),
    json.dumps({**METRICS, "dev": {}}),
    json.dumps({**METRICS, "dev": [1]}),
    json.dumps({**METRICS, "dev": {**SCORES, "f1": None}}),
    json.dumps({**METRICS, "test": {"accuracy": 3.0}}),
    json.dumps({**METRICS, "distilled": 3}),
    json.dumps({**METRICS, "epochs": [{}]}),
    '{"task": "ner", "f1": NaN}',
]


@pytest.mark.parametrize("text", DAMAGED_METRICS)
def test_damaged_metrics(run, text, caplog):
    """Without a state, a sentence; with one, what it takes to have them written again."""
    run.metrics.write_text(text)
    with pytest.raises(InputError, match=r"metrics\.json cannot be read .* has no state") as told:
        run.finished_metrics()
    assert "\n" not in str(told.value)
    (run.state / "ckpt-1.index").touch()
    assert run.finished_metrics() is None
    assert "it is written again from the last saved state" in caplog.text


@pytest.mark.parametrize("damage", ["half", "empty", "text", "one bit", "folder"])
def test_a_damaged_model(run, damage, caplog):
    whole = run.model.read_bytes()
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 1
    contents = {"half": whole[: len(whole) // 2], "empty": b"", "text": b"text", "one bit": changed}
    run.model.unlink()
    if damage == "folder":
        run.model.mkdir()
    else:
        run.model.write_bytes(contents[damage])
    with pytest.raises(InputError, match=r"model\.keras cannot be loaded .* has no state"):
        run.finished_metrics()
    (run.state / "ckpt-1.index").touch()
    assert run.finished_metrics() is None
    assert "model.keras cannot be loaded" in caplog.text


@pytest.mark.parametrize("name", ["vocabulary.json", "tensorboard", "data_hashes.json"])
def test_something_else_in_the_place_of_a_file(corpus, tmp_path, name):
    config = tiny_config(corpus, decoder="softmax")
    run = RunDirectory(tmp_path / "run")
    run.claim(config)
    run.release()
    path = run.path / name
    if name == "tensorboard":
        path.write_text("mine")
    else:
        path.unlink(missing_ok=True)
        path.mkdir()
    with pytest.raises(InputError, match=rf"^{path} cannot be written: [^\n]+$"):
        fit(config, run.path)
    assert not list(run.path.glob(".*part*"))
    path.unlink() if path.is_file() else path.rmdir()
    assert run.claim(config)  # nobody holds its lock


# ------------------------------------------------------------------------- full disks


def test_a_full_disk_leaves_the_old_file(tagger, run):
    before = run.model.read_bytes(), run.metrics.read_bytes()
    with full_disk(1_000):
        with pytest.raises(InputError, match=r"model\.keras cannot be written: File too large"):
            save(tagger, run)
        with pytest.raises(InputError, match=r"best\.weights\.npz cannot be written: "):
            save_best(tagger, run)
        with pytest.raises(InputError, match=r"metrics\.json cannot be written: File too large"):
            run.write(run.metrics, "x" * len(before[0]))
    assert (run.model.read_bytes(), run.metrics.read_bytes()) == before
    assert not list(run.path.glob(".*part*"))
    assert not run.best.exists()
    save_best(tagger, run)
    save(tagger, run)
    assert run.finished_metrics() == METRICS


def save(tagger, run):
    with run.writing(run.model) as part:
        tagger.save(part)


def save_best(tagger, run):
    with run.writing(run.best) as part:
        save_weights(tagger, part)


def make_keeper(folder, value=0.0):
    """A keeper of states of 400 KB."""
    folder.mkdir(exist_ok=True)
    trainer = tf.Module()
    trainer.weight = tf.Variable(tf.fill([100_000], value))
    progress = Progress()
    return StateKeeper(folder, trainer, progress, None), trainer, progress


def states(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_state_that_has_no_room(tmp_path):
    keeper, trainer, _ = make_keeper(tmp_path)
    trainer.weight.assign_add(tf.ones([100_000]))
    keeper.save()
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with (
        full_disk(50_000),
        pytest.raises(InputError, match=r"ckpt-2 cannot be written: File too large\. .+$"),
    ):
        keeper.save()
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    other, found, _ = make_keeper(tmp_path)
    assert other.restore()
    np.testing.assert_array_equal(found.weight, trainer.weight)


def test_a_log_that_has_no_room(tmp_path):
    logs = TrainingLogs(tmp_path / "logs")
    entry = {"epoch": 1, "loss": 1.0, "sentences_per_second": 3.0, "dev": {"f1": 3.0, "x": None}}
    logs.write(entry)
    (file,) = (tmp_path / "logs").iterdir()
    with (
        full_disk(file.stat().st_size),
        pytest.raises(InputError, match=r"logs cannot be written: File too large\. .+$"),
    ):
        logs.write(entry)


# ------------------------------------------------------------------------- best weights


def test_best_weights_come_back(tagger, run):
    save_best(tagger, run)
    before = [weight.numpy() for weight in tagger.weights]
    for weight in tagger.weights:
        weight.assign(tf.zeros_like(weight))
    load_weights(tagger, run.best)
    assert len(before) > 5
    for weight, value in zip(tagger.weights, before, strict=True):
        np.testing.assert_array_equal(weight, value)


def of_another_model(arrays):
    return {**arrays, "1": np.zeros([3, 3], np.float32)}


@pytest.mark.parametrize(
    "change",
    [
        of_another_model,
        lambda arrays: {**arrays, "more": np.zeros(3)},
        lambda arrays: {key: arrays[key] for key in arrays if key != "0"},
        lambda arrays: {key: array.astype(np.float64) for key, array in arrays.items()},
        lambda arrays: {**arrays, "0": np.array([{}])},  # a pickle
    ],
)
def test_other_best_weights_are_refused(tagger, run, change):
    save_best(tagger, run)
    before = [weight.numpy() for weight in tagger.weights]
    with np.load(run.best) as stored:
        arrays = change(dict(stored))
    np.savez(run.best, **arrays)
    with pytest.raises(InputError, match=r"best\.weights\.npz cannot be read: .+$"):
        load_weights(tagger, run.best)
    for weight, value in zip(tagger.weights, before, strict=True):
        np.testing.assert_array_equal(weight, value)


@pytest.mark.parametrize("content", [b"", b"text", b"\x93NUMPY\x01\x00", b"PK\x03\x04", None])
def test_damaged_best_weights(tagger, run, content):
    save_best(tagger, run)
    whole = run.best.read_bytes()
    run.best.write_bytes(whole[: len(whole) // 2] if content is None else content)
    with pytest.raises(InputError, match=r"best\.weights\.npz cannot be read: .+$"):
        load_weights(tagger, run.best)
    run.best.unlink()
    with pytest.raises(InputError, match=r"cannot be read: .*No such file"):
        load_weights(tagger, run.best)


# ------------------------------------------------------------------------- states


def test_the_newest_states_are_kept(tmp_path):
    keeper, trainer, progress = make_keeper(tmp_path)
    for step in range(4):
        progress.advance(1, 0.5)
        trainer.weight.assign(tf.fill([100_000], float(step)))
        keeper.save()
    names = ["ckpt-3", "ckpt-4"]
    assert len(names) == KEPT_STATES
    endings = (".data-00000-of-00001", ".index")
    assert states(tmp_path) == [name + ending for name in names for ending in endings]
    other, found, at = make_keeper(tmp_path, 9.0)
    assert other.restore()
    assert (at.step, at.seconds, float(found.weight[0])) == (4, 2.0, 3.0)


def test_what_a_kill_leaves_is_swept(tmp_path):
    """Data without an index, before and after it; the folder that data are collected in."""
    keeper, _, _ = make_keeper(tmp_path)
    for _ in range(3):
        keeper.save()
    whole = states(tmp_path)
    data = (tmp_path / "ckpt-3.data-00000-of-00001").read_bytes()
    for name in ("ckpt-1.data-00000-of-00001", "ckpt-4.data-00000-of-00001"):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "ckpt-4_temp").mkdir()
    (tmp_path / "ckpt-4_temp" / "part-00000-of-00001.index").write_bytes(b"half")
    other, _, progress = make_keeper(tmp_path)
    assert other.restore()
    assert states(tmp_path) == whole
    progress.advance(1, 0.0)
    other.save()
    assert {name.split(".")[0] for name in states(tmp_path)} == {"ckpt-3", "ckpt-4"}


def test_no_file_elsewhere_is_deleted(tmp_path):
    """TensorFlow's manager deletes what its list names, wherever it is."""
    folder, outside = tmp_path / "state", tmp_path / "outside"
    outside.mkdir()
    keeper, _, _ = make_keeper(folder)
    keeper.save()
    for ending in ("index", "data-00000-of-00001"):
        (outside / f"mine.{ending}").write_text("mine")
    (folder / "checkpoint").write_text(
        f'model_checkpoint_path: "ckpt-1"\nall_model_checkpoint_paths: "{outside}/mine"\n'
        'all_model_checkpoint_paths: "ckpt-1"\nall_model_checkpoint_timestamps: 1.0\n'
        "all_model_checkpoint_timestamps: 2.0\nlast_preserved_timestamp: 0.5\n"
    )
    other, _, _ = make_keeper(folder)
    other.restore()
    for _ in range(3):
        other.save()
    assert states(outside) == ["mine.data-00000-of-00001", "mine.index"]
