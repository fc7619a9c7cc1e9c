import sys
from pathlib import Path

import pytest
import tensorflow as tf

from uanet_tf.errors import InputError
from uanet_tf.tensorflow_stack import addons_text, check_keras, series, tensorflow_text

ROOT = Path(__file__).resolve().parent.parent


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

    monkeypatch.setattr(tf, "keras", Lazy())
    with pytest.raises(InputError, match=r'^uanet_tf needs Keras 2, .* "tf-keras==2\.\d+\.\*"'):
        check_keras()


def test_tensorflow_s_own_keras_2_is_preferred_to_tf_keras():
    """Addons and keras-nlp of Python 3.11 extend that one; the two do not mix."""
    own = series() == "2.15"
    assert tf.keras.Model.__module__.split(".")[0] == ("keras" if own else "tf_keras")


def test_each_python_has_its_pinned_tensorflow():
    assert series() == ("2.15" if sys.version_info < (3, 12) else "2.21")
    assert (addons_text() is None) == (sys.version_info >= (3, 12))


def test_a_missing_tensorflow_text_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    with pytest.raises(
        InputError, match=r'^BERT needs .* "tensorflow-text==2\.\d+\.\*"`, or not\.$'
    ):
        tensorflow_text("BERT", ", or not")
