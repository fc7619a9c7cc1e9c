"""A TensorFlow Lite file in place of a run, for ``tag --model``."""

from typing import Any

from absl import flags

from uanet_tf.commands.config_flags import options_from_flags
from uanet_tf.errors import InputError


def define_model_flags(flag_values: flags.FlagValues) -> None:
    """Defines the flags of a model that is a file."""
    flags.DEFINE_string(
        "model",
        None,
        "In place of --run_dir: a .tflite file of `uanet export --tflite`, with labels and "
        "vocabulary in it. It reads one sentence at a time.",
        flag_values=flag_values,
    )
    flags.DEFINE_integer(
        "num_threads",
        None,
        "With --model: threads of the interpreter. Default: 1.",
        lower_bound=1,
        flag_values=flag_values,
    )


def load_tflite_model(values: flags.FlagValues, command: str) -> Any:
    """Loads the file that ``--model`` names.

    Raises:
      InputError: it cannot be read, or was not written by ``uanet export --tflite``; or a flag was
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
    # TensorFlow, only for good arguments.
    from uanet_tf.exporting.tflite.tflite_tagger import TFLiteTagger

    return TFLiteTagger(values.model, num_threads=values.num_threads or 1)
