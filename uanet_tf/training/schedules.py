"""Learning-rate schedules, functions of the optimizer's step."""

import tensorflow as tf

from uanet_tf.config import TrainingConfig


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class InverseTimeByEpoch(tf.keras.optimizers.schedules.LearningRateSchedule):
    """initial / (1 + decay * epoch), constant within an epoch (NCRF++; the paper's drafter).

    Args:
      initial: rate of the first epoch.
      decay: rate of decay per epoch.
      steps_per_epoch: optimizer steps in an epoch.
    """

    def __init__(self, initial: float, decay: float, steps_per_epoch: int):
        self.initial = initial
        self.decay = decay
        self.steps_per_epoch = steps_per_epoch

    def __call__(self, step):
        epoch = tf.floor(tf.cast(step, tf.float32) / self.steps_per_epoch)
        return self.initial / (1.0 + self.decay * epoch)

    def get_config(self):
        return {
            "initial": self.initial,
            "decay": self.decay,
            "steps_per_epoch": self.steps_per_epoch,
        }


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class WarmupLinear(tf.keras.optimizers.schedules.LearningRateSchedule):
    """Linear from 0 to the peak over the warm-up, then linear to 0.

    Args:
      peak: highest rate.
      total_steps: steps of the whole training.
      warmup: share of ``total_steps`` that warms up, in [0, 1].
    """

    def __init__(self, peak: float, total_steps: int, warmup: float):
        self.peak = peak
        self.total_steps = total_steps
        self.warmup = warmup

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0  # the first step has a rate above 0
        warmup_steps = max(1.0, self.warmup * self.total_steps)
        rising = step / warmup_steps
        falling = (self.total_steps - step) / max(1.0, self.total_steps - warmup_steps)
        return self.peak * tf.minimum(rising, tf.clip_by_value(falling, 0.0, 1.0))

    def get_config(self):
        return {
            "peak": self.peak,
            "total_steps": self.total_steps,
            "warmup": self.warmup,
        }


def drafter_schedule(
    config: TrainingConfig, steps_per_epoch: int
) -> tf.keras.optimizers.schedules.LearningRateSchedule:
    """The drafter's schedule: inverse-time decay by epoch (paper), or warm-up then linear."""
    rate = config.drafter_learning_rate
    if config.drafter_schedule == "inverse_time":
        return InverseTimeByEpoch(rate, config.drafter_decay, steps_per_epoch)
    return WarmupLinear(rate, config.epochs * steps_per_epoch, config.warmup)


def bert_schedule(config: TrainingConfig, steps_per_epoch: int) -> WarmupLinear:
    """BERT's schedule: linear warm-up, then linear decay."""
    return WarmupLinear(config.bert_learning_rate, config.epochs * steps_per_epoch, config.warmup)


def refiner_schedule(config: TrainingConfig, steps_per_epoch: int) -> WarmupLinear:
    """The refiner's schedule: linear warm-up, then linear decay."""
    return WarmupLinear(
        config.refiner_learning_rate, config.epochs * steps_per_epoch, config.warmup
    )
