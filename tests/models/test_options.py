"""The inference options of a model: set, refused, kept wherever it is saved or copied."""

import copy
import json
import pickle
import zipfile

import pytest
import tensorflow as tf

from tests.models.tagger_setup import make_model
from uanet_tf.errors import InputError
from uanet_tf.models.loading import load_model
from uanet_tf.settings import OF_THE_GATE, OPTION_NAMES

CHANGES = {"valid_labels": False, "threshold": 0.02, "num_samples": 2}


@pytest.fixture(scope="module")
def model():
    model = make_model()
    model.set_options(**CHANGES)
    return model


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    model.save(folder / "model.keras")
    return folder


WAYS = {
    "load_model of Keras": lambda model, folder: tf.keras.models.load_model(folder / "model.keras"),
    "load_model": lambda model, folder: load_model(folder),
    "pickle": lambda model, folder: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, folder: copy.deepcopy(model),
    "clone_model": lambda model, folder: tf.keras.models.clone_model(model),
}


@pytest.mark.parametrize("way", WAYS)
def test_options_are_kept_beside_those_of_training(model, folder, way):
    other = WAYS[way](model, folder)
    assert (other.valid_labels, other.threshold, other.num_samples) == tuple(CHANGES.values())
    assert other.options == model.options
    assert other.settings == model.settings
    assert other.settings.inference.valid_labels


def test_a_tagger_without_a_gate():
    model = make_model(decoder="crf")
    model.num_samples = 2
    assert tf.keras.models.clone_model(model).options == model.options


def changed_config(source, target, change):
    """A copy of an archive whose model configuration ``change`` edits."""
    with zipfile.ZipFile(source) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(members["config.json"])
    change(config["config"])
    members["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"num_samples": -1}, "must be at least 0"),
        ({"num_samples": 2.5}, "not int"),
        ({"nothing": 1}, "unknown key 'nothing'"),
        ({"sampling": "x"}, "must be one of exact, distilled"),
    ],
)
def test_impossible_options_in_an_archive_are_refused(folder, tmp_path, values, says):
    def change(config):
        config["inference"] |= values

    changed_config(folder / "model.keras", tmp_path / "model.keras", change)
    with pytest.raises(InputError, match=r"model\.keras cannot be loaded as a model: ") as caught:
        load_model(tmp_path)
    assert says in str(caught.value)


def test_distilled_sampling_is_put_back(tmp_path):
    model = make_model(decoder="softmax")
    model.drafter.distilled.was_trained.assign(True)
    model.sampling = "distilled"
    model.save(tmp_path / "model.keras")
    assert load_model(tmp_path).sampling == "distilled"
    assert load_model(tmp_path, sampling="exact").sampling == "exact"


def test_every_option_is_an_attribute():
    model = make_model(decoder="softmax")
    for name in OPTION_NAMES:
        value = None if name in OF_THE_GATE else getattr(model.options, name)
        assert getattr(model, name) == value
        assert type(model).__dict__[name] is getattr(type(model), name)


def test_a_misspelt_option_is_refused(folder):
    model = make_model(decoder="softmax")
    with pytest.raises(InputError, match="no option `num_sample`: did you mean num_samples"):
        model.num_sample = 8
    with pytest.raises(InputError, match="no inference option 'treshold': did you mean threshold"):
        load_model(folder, treshold=0.5)
    with pytest.raises(InputError, match=r"There is no inference option 'x'\."):
        model.set_options(x=1)
    model.notes = "anything else is the user's"
    model.calibration = model.calibration
