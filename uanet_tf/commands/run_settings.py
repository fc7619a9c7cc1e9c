"""What the commands on a trained run share: its settings, and loading its model."""

import sys
from typing import Any

from absl import flags

from uanet_tf import config
from uanet_tf.commands.config_flags import define_option_flags, options_from_flags
from uanet_tf.errors import InputError
from uanet_tf.resources.shipped import find_run, shipped_models
from uanet_tf.tagging import streams


def define_run_flags(flag_values: flags.FlagValues, command: str) -> None:
    """Defines the flags that choose a run and how its model is applied.

    Args:
      flag_values: where to define them.
      command: "tag" or "evaluate", see ``InferenceOptions``.
    """
    flags.DEFINE_string(
        "run_dir",
        None,
        "Directory of a trained run, or the name of a model that comes with the package: "
        f"{', '.join(shipped_models())}.",
        flag_values=flag_values,
    )
    define_option_flags(flag_values, command)
    flags.DEFINE_boolean(
        "mixed_bfloat16",
        None,
        "Multiply in bfloat16: faster where the processor has it. Default: the run's.",
        flag_values=flag_values,
    )
    flags.DEFINE_integer(
        "token_column",
        None,
        "Column of the token in CoNLL input; negative counts from the end. Default: the run's.",
        flag_values=flag_values,
    )
    flags.DEFINE_integer(
        "batch_size",
        streams.BATCH_SIZE,
        "Most sentences in a batch.",
        lower_bound=1,
        flag_values=flag_values,
    )
    flags.DEFINE_integer(
        "batch_tokens",
        streams.BATCH_TOKENS,
        "Most tokens in a batch, padding included: bounds memory.",
        lower_bound=1,
        flag_values=flag_values,
    )


def check_run_flags(values: Any) -> config.Config:
    """Checks that there is a run, before anything slow is done.

    Returns:
      The run's configuration.

    Raises:
      InputError: no run.
    """
    if not values.run_dir:
        raise InputError("--run_dir is required: the directory of a trained run.")
    values.run_dir = str(find_run(values.run_dir))
    return config.load_config(values.run_dir)


def load_run_model(values: flags.FlagValues, command: str) -> Any:
    """Loads the run's model and gives it the inference options of the flags.

    Raises:
      InputError: there is no model, or it cannot follow an option.
    """
    import uanet_tf
    from uanet_tf.tagging.parallel_batches import run_each_on_one_thread

    run_each_on_one_thread()
    options = options_from_flags(values, command)
    model = uanet_tf.load_model(values.run_dir, mixed_bfloat16=values.mixed_bfloat16, **options)
    if said := model.broken_promise(options):
        print(said, file=sys.stderr)
    return model
