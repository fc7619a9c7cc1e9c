import errno
import json
import os
import shutil
import tempfile
import zipfile

import numpy as np
import pytest
import tensorflow as tf

import uanet_tf
from tests.models.contract_setup import make_sentences, make_vocabulary, pad, small
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.models import loading
from uanet_tf.models.build import make_tagger
from uanet_tf.models.loading import load_model


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    model = make_tagger(small(Config()), make_vocabulary(make_sentences("IOB2", 3), "IOB2"))
    model.threshold = 0.125
    model.calibration.set_map(np.tile([0.5, -1.0, 0.25], (4, 1)))
    model.acceptance.set_target(0.5, np.full(len(model.class_names), 0.25))
    model.save(folder / "model.keras")
    return folder


def copy_archive(source, target, change):
    """A copy with the members that ``change`` gives."""
    with zipfile.ZipFile(source) as archive:
        members = change({name: archive.read(name) for name in archive.namelist()})
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_loads_what_keras_loads(saved):
    ours = load_model(saved)
    theirs = tf.keras.models.load_model(saved / "model.keras", compile=False)
    assert ours.get_config() == theirs.get_config()
    assert ours.threshold == 0.125
    for one, other in zip(ours.weights, theirs.weights, strict=True):
        assert one.name == other.name
        np.testing.assert_array_equal(one, other)
    inputs = pad([["Ann", "met", "Bo"]])
    for one, other in zip(
        ours.predict(inputs, verbose=0).values(),
        theirs.predict(inputs, verbose=0).values(),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_a_gpu_computes_in_full_float32_and_takes_memory_as_needed(
    saved, full_float32, monkeypatch
):
    shared = []
    monkeypatch.setattr(loading, "share_gpus", lambda: shared.append(True))
    load_model(saved)
    assert full_float32()
    assert shared


def test_a_file_of_a_model_is_loaded(saved, tmp_path):
    model = load_model(saved)
    model.save(tmp_path / "mine.keras")
    again = load_model(tmp_path / "mine.keras", num_samples=3)
    assert (model.run_dir, again.run_dir, again.num_samples) == (saved, None, 3)
    np.testing.assert_array_equal(again.weights[0], model.weights[0])


def test_no_model(tmp_path):
    with pytest.raises(InputError, match=r"holds no model.keras: it is not a run directory\.$"):
        load_model(tmp_path)
    with pytest.raises(
        InputError, match=r"Models that come with the package: en_ewt_pos, en_ner\."
    ):
        load_model("en_nerr")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match=r"holds no model.keras: its training is not finished\."):
        load_model(tmp_path)


def lose(name):
    return lambda members: {key: value for key, value in members.items() if key != name}


def spoil(name, data):
    return lambda members: {**members, name: data}


@pytest.mark.parametrize(
    "change",
    [
        lose("config.json"),
        lose("model.weights.h5"),
        spoil("config.json", b"{"),
        spoil("config.json", b"[]"),
        spoil("config.json", json.dumps({"class_name": "Nobody", "config": {}}).encode()),
        spoil("model.weights.h5", b"not HDF5"),
    ],
)
def test_a_damaged_model_is_one_sentence(saved, tmp_path, change):
    copy_archive(saved / "model.keras", tmp_path / "model.keras", change)
    with pytest.raises(InputError, match=r"model\.keras cannot be loaded as a model: ") as caught:
        load_model(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_full_temporary_directory_is_named(saved, tmp_path, monkeypatch):
    def fail(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(shutil, "copyfileobj", fail)
    with pytest.raises(InputError) as caught:
        load_model(saved)
    assert f"cannot be unpacked into {tmp_path}/temporary/" in str(caught.value)
    assert "(No space left on device); the environment variable TMPDIR" in str(caught.value)


def test_another_model(tmp_path):
    tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=[3])]).save(tmp_path / "model.keras")
    with pytest.raises(InputError, match="is a Sequential, not a tagger of uanet_tf"):
        load_model(tmp_path)


@pytest.mark.parametrize("given", [None, 5, b"runs/u"])
def test_what_is_no_path(given):
    with pytest.raises(InputError, match=r"^`run_dir` must be the path of a run, or the name"):
        load_model(given)
    sentences = [(["Ada"], ["B-PER"])]
    calls = {
        "path": lambda: uanet_tf.read(given),
        "export_dir": lambda: uanet_tf.export("en_ner", given),
        "run_dir": lambda: uanet_tf.train(sentences, sentences, run_dir=given or 0),
    }
    for name, call in calls.items():
        with pytest.raises(InputError, match=f"^`{name}` must be a path. Received: "):
            call()
