"""The training step: a loss and an optimizer for each part, masks from (seed, step)."""

import tensorflow as tf

from uanet_tf.config import TrainingConfig
from uanet_tf.data.batching import BATCH_LENGTHS, PART, part_seed
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.dropout import make_seed
from uanet_tf.training.draft_memory import DraftMemory
from uanet_tf.training.optimizers import (
    LazyAdamW,
    bert_schedule,
    drafter_schedule,
    refiner_schedule,
)

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
      memory: of drafts, for a refiner that reads documents.
      num_replicas: how many share each batch; made in their scope.
    """

    def __init__(
        self,
        tagger: Tagger,
        config: TrainingConfig,
        *,
        steps_per_epoch: int,
        num_tokens: int,
        dropout_rate: float,
        memory: DraftMemory | None = None,
        num_replicas: int = 1,
    ):
        super().__init__(name="trainer")
        self.tagger = tagger
        self.memory = memory
        self.config = config
        self.num_replicas = num_replicas
        self.distribute_reduction_method = "first"  # each replica reports the loss of all
        self.groups = tagger.variable_groups()
        self.optimizers = {name: _OPTIMIZERS[name](config, steps_per_epoch) for name in self.groups}
        for name, variables in self.groups.items():
            self.optimizers[name].build(variables)
        references = [v.ref() for variables in self.groups.values() for v in variables]
        self.shared = len(set(references)) < len(references)
        self.l2 = config.l2 * (1.0 - dropout_rate) / (2.0 * num_tokens)
        # float64: a sum over an epoch would lose small losses in float32.
        self.loss_sum = _counter(tf.float64, "loss_sum")
        self.token_sum = _counter(tf.float64, "token_sum")
        self.global_step = _counter(tf.int32, "global_step")

    # As in ``graph_function``, for the graph that Keras makes.
    @tf.autograph.experimental.do_not_convert
    def train_step(self, data):
        features, labels = data
        seed = part_seed(features, make_seed(self.config.seed, self.global_step))
        floats = tf.keras.backend.floatx()  # of weights and losses
        tokens = tf.cast(tf.reduce_sum(features["lengths"]), floats)
        batch_tokens = tokens
        if PART in features:
            # A part without a sentence has one that does not count.
            counts = tf.cast(features[PART][1] > 0, floats)
            tokens *= counts
            batch_tokens = tf.cast(tf.reduce_sum(features[BATCH_LENGTHS]), floats)
        with tf.GradientTape(persistent=self.shared) as tape:
            losses = self.tagger.loss_terms(
                features, labels, seed, self.memory and self.memory.exchange
            )
            if PART in features:
                losses = {name: loss * counts for name, loss in losses.items()}
            total = tf.add_n(list(losses.values()))
            objectives = self._objectives(losses, tokens, batch_tokens)
            objective = tf.add_n(list(objectives.values()))
        if self.shared:
            # A part that has an objective of its own is trained only by that.
            gradients = {
                name: tape.gradient(objectives.get(name, objective), variables)
                for name, variables in self.groups.items()
            }
        else:
            # A part that may not train another stops its gradient itself.
            gradients = tape.gradient(objective, self.groups)
        used = {
            name: [number for number, g in enumerate(gradients[name]) if g is not None]
            for name in self.groups
        }
        flat = [_dense_if_small(gradients[name][k]) for name in used for k in used[name]]
        *flat, total = self._sum([*flat, total])
        summed = iter(flat)
        for name, numbers in used.items():
            variables = [self.groups[name][k] for k in numbers]
            self._apply(name, variables, [next(summed) for _ in numbers])
        # Sums over the epoch, kept as variables so that a resumed epoch reports the whole of it.
        self.loss_sum.assign_add(tf.cast(total, tf.float64))
        self.token_sum.assign_add(tf.cast(batch_tokens, tf.float64))
        self.global_step.assign_add(1)
        return {"loss": self.loss_sum / self.token_sum}

    def _sum(self, values: list) -> list:
        """The sums over the replicas."""
        if self.num_replicas == 1:
            return values
        context = tf.distribute.get_replica_context()
        return context.all_reduce(tf.distribute.ReduceOp.SUM, values)

    def _objectives(self, losses, tokens, batch_tokens):
        """The objectives by part; their sum, over the replicas, is Eq. 9 and 10."""
        # Eq. 9 is a mean over tokens; both terms are scaled alike.
        penalty = tokens * self.l2 * self._squared_weights()
        objectives = {**losses, "draft": losses["draft"] + penalty}
        if self.config.loss_reduction == "mean":
            objectives = {name: value / batch_tokens for name, value in objectives.items()}
        return objectives

    def start_epoch(self) -> None:
        """Sets the epoch's sums to zero."""
        self.loss_sum.assign(0.0)
        self.token_sum.assign(0.0)

    def _apply(self, name, variables, gradients):
        gradients = [_combine(g) for g in gradients]
        if self.config.clip_norm:
            gradients = _clip(gradients, self.config.clip_norm)
        pairs = zip(gradients, variables, strict=True)
        # They are sums over the replicas already, which clipping needs.
        self.optimizers[name].apply_gradients(pairs, skip_gradients_aggregation=True)

    def _squared_weights(self):
        """||theta||^2 of the drafter; embedding tables are left out to keep gradients sparse."""
        dense = [v for v in self.groups["draft"] if "embeddings" not in v.name]
        return tf.add_n([tf.reduce_sum(tf.square(v)) for v in dense])


def _counter(dtype, name):
    """A variable that all replicas count alike."""
    return tf.Variable(
        0,
        trainable=False,
        dtype=dtype,
        name=name,
        aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
    )


def _dense_if_small(gradient):
    """The gradient of a small table as a dense one."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    if gradient.dense_shape is not None and gradient.values.shape.rank == 2:
        static = tf.get_static_value(gradient.dense_shape)
        if static is not None and static[0] * static[1] < SMALL_TABLE:
            return tf.convert_to_tensor(gradient)
    return gradient


def _combine(gradient):
    """Sums repeated rows, so that norms are correct."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows, index = tf.unique(gradient.indices)
    values = tf.math.unsorted_segment_sum(gradient.values, index, tf.size(rows))
    return tf.IndexedSlices(values, rows, gradient.dense_shape)


def _clip(gradients, most: float):
    """Like ``tf.clip_by_global_norm``, without a pass over gradients that are not too long."""
    norm = tf.linalg.global_norm(gradients)
    values = tf.cond(
        norm <= most,
        lambda: _values(gradients),
        lambda: _values(tf.clip_by_global_norm(gradients, most, use_norm=norm)[0]),
    )
    return [
        tf.IndexedSlices(value, old.indices, old.dense_shape)
        if isinstance(old, tf.IndexedSlices)
        else value
        for old, value in zip(gradients, values, strict=True)
    ]


def _values(gradients) -> list[tf.Tensor]:
    return [g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients]


def _drafter_optimizer(config: TrainingConfig, steps_per_epoch: int):
    schedule = drafter_schedule(config, steps_per_epoch)
    if config.drafter_optimizer == "sgd":
        return tf.keras.optimizers.SGD(
            schedule, momentum=config.drafter_momentum, jit_compile=False
        )
    if config.drafter_optimizer == "adadelta":  # as in Zeiler (2012)
        return tf.keras.optimizers.Adadelta(schedule, rho=0.95, epsilon=1e-6, jit_compile=False)
    return LazyAdamW(schedule)


def _refiner_optimizer(config: TrainingConfig, steps_per_epoch: int):
    # The released code's decoupled decay, 1e-6 times a rate of 1e-4, changes no float32 weight.
    return LazyAdamW(refiner_schedule(config, steps_per_epoch))


def _bert_optimizer(config: TrainingConfig, steps_per_epoch: int):
    schedule = bert_schedule(config, steps_per_epoch)
    optimizer = LazyAdamW(schedule, decoupled_decay=config.bert_weight_decay)
    # As in Google's code (Devlin et al., 2019).
    optimizer.exclude_from_weight_decay(var_names=["bias", "norm"])
    return optimizer


# One for each group of ``Tagger.variable_groups``. None is compiled with XLA, as Keras does where
# a GPU is: a cluster for each variable's few operations gains nothing.
_OPTIMIZERS = {
    "draft": _drafter_optimizer,
    "forward": _drafter_optimizer,
    "refined": _refiner_optimizer,
    "bert": _bert_optimizer,
}
