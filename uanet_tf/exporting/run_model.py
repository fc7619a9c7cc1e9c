"""The model of a run, with the settings that it is to be exported under."""

import pathlib
from typing import Any

from uanet_tf.config import load_config
from uanet_tf.errors import InputError
from uanet_tf.models.loading import load_model
from uanet_tf.models.tagger import Tagger


def load_run_model(
    run_dir: str | pathlib.Path, *, mc_seed: int | None = None, **settings: Any
) -> Tagger:
    """Loads the model of a run and changes what is not None.

    Args:
      run_dir: a trained run.
      mc_seed: seed of the sampling masks.
      settings: properties of the model by name: threshold, num_samples, ...

    Raises:
      InputError: no trained run, a wrong value, or a seed that draws new masks at each call.
    """
    seed = load_config(str(run_dir)).sampling.mc_seed if mc_seed is None else mc_seed
    if seed < 0:
        raise InputError(
            f"An exported model answers alike at each call, but the run's --mc_seed={seed} draws "
            "new masks: name a seed of at least 0 with --mc_seed."
        )
    # In float32 whatever the run was trained in: an answer must not depend on the batch.
    model = load_model(run_dir, mixed_bfloat16=False)
    for name, value in {"mc_seed": mc_seed, **settings}.items():
        if value is None:
            continue
        try:
            setattr(model, name, value)
        except ValueError as error:
            raise InputError(f"--{name}={value}: {error}") from error
    return model
