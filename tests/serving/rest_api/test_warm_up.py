import shutil

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.errors import InputError
from uanet_tf.exporting.warm_up import FILE, write_warm_up
from uanet_tf.serving.rest_api.loaded_model import LoadedModel
from uanet_tf.serving.rest_api.warm_up import warm_up

GOOD = {"tokens": np.array([["a", "b"]], object), "lengths": np.array([2], np.int32)}


@pytest.fixture
def model(toy_folder, tmp_path):
    loaded = LoadedModel(shutil.copytree(toy_folder / "uanet" / "1", tmp_path / "1"))
    yield loaded
    loaded.close()


@pytest.fixture
def file(model, tmp_path):
    folder = tmp_path / "1" / "assets.extra"
    folder.mkdir(exist_ok=True)
    return folder / FILE


def test_plays_what_an_export_writes(model, file, monkeypatch):
    played = []
    real = model.predict
    monkeypatch.setattr(
        model, "predict", lambda name, inputs: played.append((name, inputs)) or real(name, inputs)
    )
    gamma = {"threshold": np.array([0.5], np.float32)}
    write_warm_up(file, "uanet", [("serving_default", GOOD), ("with_threshold", GOOD | gamma)])
    assert warm_up(model) == 2
    assert [name for name, _ in played] == ["serving_default", "with_threshold"]
    assert played[1][1]["tokens"].tolist() == [[b"a", b"b"]]
    assert played[1][1]["threshold"].tolist() == [0.5]


def test_without_a_file(model):
    assert warm_up(model) == 0


@pytest.mark.parametrize(
    ("signature", "inputs", "message"),
    [
        ("nope", GOOD, '"nope" not found'),
        ("with_threshold", GOOD, "has not the inputs"),
        ("draft", GOOD | {"lengths": np.array([3], np.int32)}, "A length is beyond"),
        ("draft", GOOD | {"lengths": np.array([2], np.int64)}, "request 2 fails"),
    ],
)
def test_a_request_that_fails_fails_the_load(model, file, signature, inputs, message):
    write_warm_up(file, "uanet", [("draft", GOOD), (signature, inputs)])
    with pytest.raises(InputError, match=message):
        warm_up(model)


def test_damaged_files(model, file):
    write_warm_up(file, "uanet", [("draft", GOOD)])
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(InputError, match="damaged"):
        warm_up(model)
    with tf.io.TFRecordWriter(str(file)) as writer:
        writer.write(b"\xff\xff\xff")
    with pytest.raises(InputError, match="request 1 cannot be read"):
        warm_up(model)
