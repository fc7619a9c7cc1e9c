"""The training step: two losses, two optimizers, masks from (seed, step)."""

import tensorflow as tf

from uanet_tf.config import TrainingConfig
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.dropout import make_seed
from uanet_tf.training.lazy_adam import LazyAdamW
from uanet_tf.training.schedules import drafter_schedule, refiner_schedule

# Tables smaller than this many numbers are updated whole: cheaper than sorting out rows.
SMALL_TABLE = 100_000


class Trainer(tf.keras.Model):
    """Wraps a tagger for ``fit``; everything that a resumed run needs is a tracked variable.

    Args:
      tagger: the model to train.
      config: optimizers, schedules, seed.
      steps_per_epoch: batches in an epoch, for the schedules.
      num_tokens: N, tokens of the training data, for the L2 term.
      dropout_rate: r of the L2 term.
    """

    def __init__(
        self,
        tagger: Tagger,
        config: TrainingConfig,
        *,
        steps_per_epoch: int,
        num_tokens: int,
        dropout_rate: float,
    ):
        super().__init__(name="trainer")
        self.tagger = tagger
        self.config = config
        self.groups = tagger.variable_groups()
        self.optimizers = {
            "draft": _drafter_optimizer(config, steps_per_epoch),
            "refined": LazyAdamW(
                refiner_schedule(config, steps_per_epoch),
                decoupled_decay=config.refiner_weight_decay,
            ),
        }
        for name, variables in self.groups.items():
            self.optimizers[name].build(variables)
        self.l2 = config.l2 * (1.0 - dropout_rate) / (2.0 * num_tokens)
        # float64: a sum over an epoch would lose small losses in float32.
        self.loss_sum = tf.Variable(0.0, trainable=False, dtype=tf.float64, name="loss_sum")
        self.token_sum = tf.Variable(0.0, trainable=False, dtype=tf.float64, name="token_sum")
        self.global_step = tf.Variable(0, trainable=False, dtype=tf.int32, name="global_step")

    def train_step(self, data):
        features, labels = data
        seed = make_seed(self.config.seed, self.global_step)
        tokens = tf.cast(tf.reduce_sum(features["lengths"]), tf.float32)
        with tf.GradientTape() as tape:
            losses = self.tagger.losses(features, labels, seed)
            total = tf.add_n(list(losses.values()))
            # Eq. 9 is a mean over tokens; both terms are scaled alike.
            objective = total + tokens * self.l2 * self._squared_weights()
            if self.config.loss_reduction == "mean":
                objective /= tokens
        flat = [v for variables in self.groups.values() for v in variables]
        gradients = dict(zip((v.ref() for v in flat), tape.gradient(objective, flat), strict=True))
        for name, variables in self.groups.items():
            self._apply(name, variables, [gradients[v.ref()] for v in variables])
        # Sums over the epoch, kept as variables so that a resumed epoch reports the whole of it.
        self.loss_sum.assign_add(tf.cast(total, tf.float64))
        self.token_sum.assign_add(tf.cast(tokens, tf.float64))
        self.global_step.assign_add(1)
        return {"loss": self.loss_sum / self.token_sum}

    def start_epoch(self) -> None:
        """Sets the epoch's sums to zero."""
        self.loss_sum.assign(0.0)
        self.token_sum.assign(0.0)

    def _apply(self, name, variables, gradients):
        pairs = [
            (_combine(g), v) for g, v in zip(gradients, variables, strict=True) if g is not None
        ]
        gradients, variables = zip(*pairs, strict=True)
        if self.config.clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, self.config.clip_norm)
        self.optimizers[name].apply_gradients(zip(gradients, variables, strict=True))

    def _squared_weights(self):
        """||theta||^2 of the drafter; embedding tables are left out to keep gradients sparse."""
        dense = [v for v in self.groups["draft"] if "embeddings" not in v.name]
        return tf.add_n([tf.reduce_sum(tf.square(v)) for v in dense])


def _combine(gradient):
    """Sums repeated rows, so that norms are true; small tables become dense."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    if gradient.dense_shape is not None and gradient.values.shape.rank == 2:
        static = tf.get_static_value(gradient.dense_shape)
        if static is not None and static[0] * static[1] < SMALL_TABLE:
            return tf.convert_to_tensor(gradient)
    rows, index = tf.unique(gradient.indices)
    values = tf.math.unsorted_segment_sum(gradient.values, index, tf.size(rows))
    return tf.IndexedSlices(values, rows, gradient.dense_shape)


def _drafter_optimizer(config: TrainingConfig, steps_per_epoch: int):
    schedule = drafter_schedule(config, steps_per_epoch)
    if config.drafter_optimizer == "sgd":
        return tf.keras.optimizers.SGD(schedule, momentum=config.drafter_momentum)
    return LazyAdamW(schedule)
