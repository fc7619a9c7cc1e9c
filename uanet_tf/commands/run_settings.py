"""What the commands on a trained run share: its settings, and loading its model."""

import math
from typing import Any

from absl import flags

from uanet_tf import config, settings
from uanet_tf.errors import InputError
from uanet_tf.tagging import sentence_stream


def define_run_flags(flag_values: flags.FlagValues) -> None:
    """Defines the flags that choose a run and how its model is applied."""
    flags.DEFINE_string(
        "run_dir", None, "Directory of a trained run (required).", flag_values=flag_values
    )
    flags.DEFINE_float(
        "threshold",
        None,
        "Gamma, nats: tokens more uncertain than this take the refined label. Default: the run's.",
        flag_values=flag_values,
    )
    flags.DEFINE_integer(
        "mc_seed",
        None,
        "Seed of the sampling masks; negative: new masks at each call. Default: the run's.",
        flag_values=flag_values,
    )
    flags.DEFINE_enum(
        "sampling",
        None,
        settings.SAMPLING,
        "All M samples of each sentence, or as many as its labels need. Default: the run's.",
        flag_values=flag_values,
    )
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
        sentence_stream.BATCH_SIZE,
        "Most sentences in a batch.",
        lower_bound=1,
        flag_values=flag_values,
    )
    flags.DEFINE_integer(
        "batch_tokens",
        sentence_stream.BATCH_TOKENS,
        "Most tokens in a batch, padding included: bounds memory.",
        lower_bound=1,
        flag_values=flag_values,
    )


def check_run_flags(values: flags.FlagValues) -> config.Config:
    """Checks the flags of ``define_run_flags`` before anything slow is done.

    Returns:
      The run's configuration.

    Raises:
      InputError: no run, or a value out of range.
    """
    if not values.run_dir:
        raise InputError("--run_dir is required: the directory of a trained run.")
    threshold = values.threshold
    if threshold is not None and not (threshold >= 0 and math.isfinite(threshold)):
        raise InputError(f"--threshold must be at least 0. Received: {threshold}")
    seed = values.mc_seed
    if seed is not None and not seed <= settings.MAX_SEED:
        raise InputError(f"--mc_seed must be at most {settings.MAX_SEED}. Received: {seed}")
    return config.load_config(values.run_dir)


def load_run_model(values: flags.FlagValues) -> Any:
    """Loads the run's model and gives it the threshold, seed and sampling of the flags.

    Raises:
      InputError: there is no model, or it cannot sample so.
    """
    import uanet_tf

    model = uanet_tf.load_model(values.run_dir, mixed_bfloat16=values.mixed_bfloat16)
    if values.threshold is not None:
        model.threshold = values.threshold
    if values.mc_seed is not None:
        model.mc_seed = values.mc_seed
    if values.sampling is not None:
        try:
            model.sampling = values.sampling
        except ValueError as error:
            raise InputError(f"--sampling={values.sampling}: {error}") from error
    return model
