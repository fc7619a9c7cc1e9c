from types import SimpleNamespace

import pytest
import tensorflow as tf

from uanet_tf.errors import InputError
from uanet_tf.ops import keras_version
from uanet_tf.ops.keras_version import check_keras


def model_of(module):
    return type("Model", (), {"__module__": module})


def test_keras_2_is_taken():
    check_keras()
    check_keras(model_of("tf_keras.src.engine.training"))


def test_keras_3_is_one_sentence():
    with pytest.raises(InputError, match=r'^uanet_tf needs Keras 2, .* "tf-keras==2\.\d+\.\*"'):
        check_keras(model_of("keras.src.models.model"))


def test_a_missing_tf_keras_is_one_sentence(monkeypatch):
    class Lazy:
        def __getattr__(self, name):
            raise ImportError("Keras cannot be imported. Check that it is installed.")

    monkeypatch.setattr(keras_version, "tf", SimpleNamespace(keras=Lazy(), __version__="2.21.0"))
    with pytest.raises(InputError, match=r'^uanet_tf needs Keras 2, .* "tf-keras==2\.21\.\*"'):
        check_keras()


def test_tensorflow_s_own_keras_2_is_preferred_to_tf_keras():
    """Addons and keras-nlp of the default environment extend that one; the two do not mix."""
    own = tf.__version__.startswith("2.15.")
    assert tf.keras.Model.__module__.split(".")[0] == ("keras" if own else "tf_keras")
