"""What of Keras' methods a tagger does not have, or has with other arguments."""

from typing import Any, NoReturn

import tensorflow as tf

from uanet_tf.data.lookup import check_predict_input
from uanet_tf.errors import InputError


class KerasMethods(tf.keras.Model):
    """Base of a tagger: methods of Keras' that cannot work on it say so in one sentence.

    Keras' training loop has one loss and one optimizer; a tagger is trained by ``uanet_tf.train``,
    with one of each for draft and refined labels, and masks by step.
    """

    def compile(self, *args: Any, jit_compile: bool | None = None, **kwargs: Any) -> None:
        """As Keras'; it need not be called.

        Args:
          *args: as Keras'.
          jit_compile: refused where it is true.
          **kwargs: as Keras'.

        Raises:
          InputError: ``jit_compile`` is true.
        """
        if jit_compile:
            raise InputError(
                "model.compile cannot take jit_compile=True: a tagger looks up strings, which XLA "
                "cannot compile."
            )
        super().compile(*args, jit_compile=jit_compile, **kwargs)

    def get_compile_config(self) -> None:
        """None: a tagger need not be compiled, and its file says nothing of it."""

    def predict(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """As Keras', for arrays of tokens and lengths, such as ``uanet_tf.pad`` gives.

        Args:
          x: a dictionary of arrays, or a dataset of such.
          *args: as Keras'.
          **kwargs: as Keras'.

        Raises:
          InputError: ``x`` is something else.
        """
        check_predict_input(x)
        return super().predict(x, *args, **kwargs)

    def fit(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: a tagger is trained by ``uanet_tf.train``.

        Raises:
          InputError: always.
        """
        raise _not_trained_by_keras("fit")

    def train_on_batch(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: a tagger is trained by ``uanet_tf.train``.

        Raises:
          InputError: always.
        """
        raise _not_trained_by_keras("train_on_batch")

    def evaluate(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: ``uanet evaluate`` scores a tagger.

        Raises:
          InputError: always.
        """
        raise _not_scored_by_keras("evaluate")

    def test_on_batch(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: ``uanet evaluate`` scores a tagger.

        Raises:
          InputError: always.
        """
        raise _not_scored_by_keras("test_on_batch")


def _not_trained_by_keras(method: str) -> InputError:
    return InputError(
        f"model.{method} cannot train a tagger, whose draft and refiner have losses and optimizers "
        "of their own: train with uanet_tf.train, or uanet train."
    )


def _not_scored_by_keras(method: str) -> InputError:
    return InputError(
        f"model.{method} cannot score a tagger, which answers with strings: score it with "
        "uanet evaluate."
    )
