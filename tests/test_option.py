import dataclasses
import pathlib

import numpy as np
import pytest

import uanet_tf
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.settings import InferenceOptions, check_threshold


def test_a_long_value_is_shown_by_its_start():
    with pytest.raises(InputError) as error:
        Config().replace(representation="ä" * 3000)
    assert str(error.value).startswith("`representation` must be one of ")
    assert str(error.value).endswith(f"Received: {'ä' * 200}...")


@pytest.mark.parametrize(
    ("name", "value", "wants"),
    [
        ("num_samples", 1.5, "an integer"),
        ("num_samples", True, "an integer"),
        ("num_samples", np.True_, "an integer"),
        ("num_samples", "3", "an integer"),
        ("num_samples", None, "an integer"),
        ("num_samples", np.array([3]), "an integer"),
        ("mc_seed", 1.5, "an integer"),
        ("threshold", "0.3", "a number"),
        ("threshold", True, "a number"),
        ("threshold", 1j, "a number"),
        ("refine_all", "no", "True or False"),
        ("refine_all", 1, "True or False"),
        ("calibrated", "x", "True or False"),
        ("sampling", None, "a text"),
        ("sampling", 1, "a text"),
    ],
)
def test_a_value_of_another_type_is_refused(name, value, wants):
    with pytest.raises(InputError) as error:
        InferenceOptions().replace(**{name: value})
    assert str(error.value) == f"`{name}` must be {wants}. Received: {value!r}"


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("num_samples", np.int64(4), 4),
        ("mc_seed", np.uint8(3), 3),
        ("threshold", np.float32(0.5), 0.5),
        ("threshold", 1, 1.0),
        ("refine_all", np.False_, False),
        ("sampling", np.str_("distilled"), "distilled"),
    ],
)
def test_values_of_numpy_become_pythons(name, value, kept):
    options = InferenceOptions().replace(**{name: value})
    found = dataclasses.asdict(options)[name]
    assert found == kept
    assert type(found) is type(kept)


def test_settings_of_training_are_checked_and_kept_alike(tmp_path):
    with pytest.raises(InputError, match=r"^`epochs` must be an integer\. Received: '3'$"):
        uanet_tf.train("a", "b", run_dir=tmp_path / "run", epochs="3")
    config = Config().replace(epochs=np.int32(3), train_path=pathlib.Path("a.conll"), l2=0)
    assert (config.training.epochs, config.data.train_path) == (3, "a.conll")
    kinds = [config.training.epochs, config.data.train_path, config.training.l2]
    assert list(map(type, kinds)) == [int, str, float]
    with pytest.raises(InputError, match="`drafter_learning_rate` must be a number"):
        Config(training=dataclasses.replace(config.training, drafter_learning_rate="fast"))


@pytest.mark.parametrize(
    "value", [1e39, 10**400, pytest.param(10**9000, id="huge"), float("inf"), float("nan"), -1]
)
def test_gamma_is_a_finite_float32(value):
    with pytest.raises(InputError, match=r"^`threshold` must be ") as error:
        check_threshold(value)
    assert len(str(error.value)) < 300


def test_the_largest_float32_can_be_gamma():
    most = np.finfo(np.float32).max
    assert np.float32(check_threshold(float(most))) == most
    assert np.float32(check_threshold(3.4028235e38)) == most
