"""What ``tag --model`` names: a model of the package, or a TensorFlow Lite file."""

import pathlib
from typing import Any

from absl import flags

from uanet_tf.commands.config_flags import options_from_flags
from uanet_tf.errors import InputError
from uanet_tf.resources.shipped import shipped_models


def define_model_flags(flag_values: flags.FlagValues) -> None:
    """Defines the flags of a model that is a file."""
    flags.DEFINE_string(
        "model",
        None,
        "In place of --run_dir: the name of a model that comes with the package "
        f"({', '.join(shipped_models())}), or a .tflite file of `uanet export --tflite`, with "
        "labels and vocabulary in it, which reads one sentence at a time.",
        flag_values=flag_values,
    )
    flags.DEFINE_integer(
        "num_threads",
        None,
        "With --model: threads of the interpreter. Default: 1.",
        lower_bound=1,
        flag_values=flag_values,
    )


def choose_shipped(values: Any) -> None:
    """``--model=NAME`` of a model that comes with the package is ``--run_dir=NAME``.

    Raises:
      InputError: both flags were given.
    """
    if values.model not in shipped_models() or pathlib.Path(values.model).exists():
        return
    if values.run_dir is not None:
        raise InputError(
            f"--model={values.model} names a model, and --run_dir={values.run_dir} another: give "
            "one of them."
        )
    values.run_dir = values.model
    values.model = None


def load_tflite_model(values: flags.FlagValues, command: str) -> Any:
    """Loads the file that ``--model`` names.

    Raises:
      InputError: there is none, or it was not written by ``uanet export --tflite``; or a flag was
        given that only a run can follow.
    """
    of_runs = {
        "run_dir": values.run_dir,
        "mixed_bfloat16": values.mixed_bfloat16,
        **options_from_flags(values, command),
    }
    for name, value in of_runs.items():
        if value is not None:
            raise InputError(
                f"--{name} goes with a trained run, not with --model: a TensorFlow Lite file keeps "
                f"what it was exported with. Received: {value}"
            )
    if not pathlib.Path(values.model).exists():
        raise InputError(
            f"--model={values.model} is no file, and no model of the package: it has "
            f"{', '.join(shipped_models())}."
        )
    # TensorFlow, only for good arguments.
    from uanet_tf.exporting.tflite.tflite_tagger import TFLiteTagger

    return TFLiteTagger(values.model, num_threads=values.num_threads or 1)
