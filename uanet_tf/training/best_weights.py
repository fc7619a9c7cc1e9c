"""The weights of the best epoch, until the run is complete.

In NumPy's format: HDF5, in which Keras would write them, ends the process where the disk is full.
"""

import io
import pathlib
import zipfile

import numpy as np
import tensorflow as tf

from uanet_tf.errors import InputError, one_line


def save_weights(model: tf.keras.Model, path: pathlib.Path) -> None:
    """Writes all weights of a model, in the order of ``model.weights``.

    Raises:
      OSError: they cannot be written.
    """
    arrays = {str(number): weight.numpy() for number, weight in enumerate(model.weights)}
    packed = io.BytesIO()  # a half written archive would complain when it is collected
    np.savez(packed, **arrays)
    with open(path, "wb") as file:
        file.write(packed.getbuffer())


def load_weights(model: tf.keras.Model, path: pathlib.Path) -> None:
    """Sets the weights of a model to those of ``save_weights``, all of them or none.

    Raises:
      InputError: the file cannot be read, or is of another model.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            if len(stored.files) != len(model.weights):
                raise InputError("it holds the weights of another model")
            arrays = [stored[str(number)] for number in range(len(model.weights))]
        for weight, array in zip(model.weights, arrays, strict=True):
            if weight.shape != array.shape or weight.dtype != array.dtype:
                raise InputError("it holds the weights of another model")
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        EOFError,
        MemoryError,
        zipfile.BadZipFile,
    ) as error:
        raise InputError(
            f"{path} cannot be read: {one_line(error)}. It holds the weights of the best epoch; "
            "train in another --run_dir."
        ) from error
    model.set_weights(arrays)


def copy_weights(source: tf.keras.Model, target: tf.keras.Model) -> None:
    """Sets all weights of a model to those of another one like it."""
    for mine, other in zip(target.weights, source.weights, strict=True):
        mine.assign(other.numpy())
