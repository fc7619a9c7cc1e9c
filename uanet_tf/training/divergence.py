"""A loss that is no number any more."""

import math
from collections.abc import Collection

from uanet_tf.config import TrainingConfig
from uanet_tf.errors import InputError

# Which settings' learning rate is that of an optimizer.
_RATES = {"draft": "drafter", "refined": "refiner", "bert": "bert"}


def check_finite(loss: float, epoch: int, groups: Collection[str], config: TrainingConfig) -> None:
    """Raises InputError, which names the learning rates, unless the loss is a number.

    Args:
      loss: of the epoch.
      epoch: from 1.
      groups: the optimizers of the run.
      config: of the training.
    """
    if math.isfinite(loss):
        return
    rates = [
        f"--{name}_learning_rate={getattr(config, f'{name}_learning_rate')}"
        for group, name in _RATES.items()
        if group in groups
    ]
    raise InputError(f"The loss became {loss} in epoch {epoch}: lower {' or '.join(rates)}.")
