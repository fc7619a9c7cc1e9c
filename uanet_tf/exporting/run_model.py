"""The model of a run, prepared for export."""

import pathlib
from typing import Any

from absl import logging

from uanet_tf.errors import InputError
from uanet_tf.models.loading import load_model
from uanet_tf.models.tagger import Tagger


def load_for_export(run_dir: str | pathlib.Path, **options: Any) -> Tagger:
    """Loads the model of a run.

    Args:
      run_dir: a trained run.
      **options: inference options that differ from the run's.

    Raises:
      InputError: no trained run, a wrong option, or a seed that draws new masks at each call.
    """
    model = load_model(run_dir, **options)
    seed = model.options.mc_seed
    if seed < 0 and model.options.num_samples:
        raise InputError(
            f"An exported model gives the same answer at each call, but --mc_seed={seed} draws "
            "new masks: name a seed of at least 0 with --mc_seed."
        )
    if said := model.broken_promise(options):
        logging.warning("%s", said)
    return model
