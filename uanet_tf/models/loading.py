"""From a run directory to a model."""

import json
import os
import pathlib
import tempfile
import zipfile

import tensorflow as tf

from uanet_tf.errors import InputError
from uanet_tf.models import uanet  # noqa: F401 - registers the class that a saved model names
from uanet_tf.models.tagger import Tagger


def load_model(run_dir: str | os.PathLike, *, mixed_bfloat16: bool | None = None) -> Tagger:
    """Loads the trained model of a run.

    Args:
      run_dir: directory that ``train.py`` wrote.
      mixed_bfloat16: multiply in bfloat16, which is faster where the processor has it and moves
        uncertainties in the second digit after the point; weights are the same. None: as in
        training.

    Returns:
      A Keras model: ``model.predict({"tokens": [B, T] strings, "lengths": [B]})``; see Tagger.

    Raises:
      InputError: there is no trained model in ``run_dir``, or it cannot be read.
    """
    path = pathlib.Path(run_dir) / "model.keras"
    if not path.exists():
        begun = (path.parent / "config.json").exists()
        reason = "its training is not finished" if begun else "it is not a run directory"
        raise InputError(f"{run_dir} holds no model.keras: {reason}.")
    try:
        model = _load(path, mixed_bfloat16)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else "unreadable"
        raise InputError(f"{path} cannot be loaded as a model: {first}") from error
    if not isinstance(model, Tagger):
        raise InputError(f"{path} is a {type(model).__name__}, not a tagger of uanet_tf.")
    return model


def _load(path: pathlib.Path, mixed_bfloat16: bool | None) -> tf.keras.Model:
    """What ``tf.keras.models.load_model`` does, with the weights in a file of their own.

    Keras reads them inside the archive, where every step backwards begins at the start again: a
    BERT of 90 MB took 10 seconds.
    """
    with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as folder:
        config = json.loads(archive.read("config.json"))
        if mixed_bfloat16 is not None:
            config["config"]["config"]["training"]["mixed_bfloat16"] = mixed_bfloat16
        weights = archive.extract("model.weights.h5", folder)
        model = tf.keras.saving.deserialize_keras_object({**config, "compile_config": None})
        model.load_weights(weights)
    return model
