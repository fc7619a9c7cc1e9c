"""From a run directory to a model."""

import os
import pathlib
import tempfile
import zipfile
from typing import Any

import tensorflow as tf

from uanet_lite.strict_json import shown
from uanet_tf.errors import InputError, one_line
from uanet_tf.files.weight_file import at_most, check_weight_file
from uanet_tf.inference.calibration import Calibration
from uanet_tf.models.saved_archive import read_archive
from uanet_tf.models.tagger import Tagger
from uanet_tf.resources.shipped import find_run

# Errors of reading files; TensorFlow's own come from settings that do not fit.
_UNREADABLE = (
    OSError,
    RuntimeError,
    ValueError,
    KeyError,
    TypeError,
    zipfile.BadZipFile,
    tf.errors.OpError,
)


def load_model(
    run_dir: str | os.PathLike, *, mixed_bfloat16: bool | None = None, **options: Any
) -> Tagger:
    """Loads the trained model of a run.

    Safe on files of strangers: the archive is read as data. Its class must be ``Tagger``; nothing
    else that it names is looked up, imported or called (SECURITY.md).

    Args:
      run_dir: directory that ``train.py`` wrote, or the name of a model that comes with the
        package, such as ``"en_ewt_pos"``.
      mixed_bfloat16: multiply in bfloat16, which is faster where the processor has it and moves
        uncertainties in the second digit after the point; weights are the same. None: as in
        training.
      **options: inference options that differ from the run's, see ``InferenceOptions``.

    Returns:
      A Keras model: ``model.predict({"tokens": [B, T] strings, "lengths": [B]})``; see Tagger.

    Raises:
      InputError: there is no trained model in ``run_dir``, or it cannot be read; or a wrong option.
    """
    path = find_run(run_dir) / "model.keras"
    if not path.exists():
        begun = (path.parent / "config.json").exists()
        reason = "its training is not finished" if begun else "it is not a run directory"
        raise InputError(f"{run_dir} holds no model.keras: {reason}.")
    try:
        model = _load(path, mixed_bfloat16)
    except _UNREADABLE as error:
        raise InputError(f"{path} cannot be loaded as a model: {one_line(error)}") from error
    model.set_options(**options)
    return model


def _load(path: pathlib.Path, mixed_bfloat16: bool | None) -> Tagger:
    with tempfile.TemporaryDirectory(prefix="uanet_tf_") as folder:
        saved = read_archive(path, pathlib.Path(folder))
        config = saved.config
        if mixed_bfloat16 is not None:
            config = config.replace(mixed_bfloat16=mixed_bfloat16)
        name = tf.keras.saving.get_registered_name(Tagger)
        if saved.registered_name != name:
            raise InputError(f"it is a {shown(saved.registered_name)}, not a {name}")
        stored = check_weight_file(saved.weights)
        # Runs from before there were targets, or calibration, have no weights for them.
        acceptance = len(saved.vocabulary.labels) + 1
        later = (0, acceptance, acceptance + Calibration.num_values)
        with at_most(stored + max(later)):
            model = Tagger.from_settings(config, saved.vocabulary, name=saved.name)
        missing = sum(variable.shape.num_elements() for variable in model.variables) - stored
        if missing not in later:
            holds = "more" if missing < 0 else "fewer"
            raise InputError(f"it holds {holds} weights than its configuration asks for")
        if saved.options is not None:
            model.restore_options(saved.options)
        model.load_weights(str(saved.weights))
    return model
