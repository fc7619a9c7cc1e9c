"""The training step: a loss and an optimizer for each part, masks from (seed, step)."""

import math

import tensorflow as tf

from uanet_tf.config import TrainingConfig
from uanet_tf.data.batching import BATCH_LENGTHS, PART, part_seed
from uanet_tf.errors import InputError
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.devices import has_gpu
from uanet_tf.ops.dropout import make_seed
from uanet_tf.representation.representation import Features
from uanet_tf.training.draft_memory import DraftMemory
from uanet_tf.training.optimizers import make_optimizer

# Which settings' learning rate is that of a group of variables.
_RATES = {"draft": "drafter", "refined": "refiner", "pretrained": "pretrained"}
# Tables smaller than this many numbers are updated whole: cheaper than sorting out rows.
SMALL_TABLE = 100_000


class Trainer(tf.Module):
    """The step of training a tagger; all that a resumed run needs is a tracked variable.

    Args:
      config: optimizers, schedules, seed.
      steps_per_epoch: batches in an epoch, for the schedules.
      num_tokens, dropout_rate: N, tokens of the training data, and r, of the L2 term.
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
        self.tagger, self.memory = tagger, memory
        self.config, self.num_replicas = config, num_replicas
        self.groups = tagger.variable_groups()
        self.optimizers = {
            name: make_optimizer(name, config, steps_per_epoch) for name in self.groups
        }
        for name, variables in self.groups.items():
            self.optimizers[name].build(variables)
        references = [v.ref() for variables in self.groups.values() for v in variables]
        self.shared = len(set(references)) < len(references)
        self.l2 = config.l2 * (1.0 - dropout_rate) / (2.0 * num_tokens)
        # Embedding tables are left out, to keep gradients sparse.
        self._dense = [v for v in self.groups["draft"] if "embeddings" not in v.name]
        # The prior of Eq. 9: around 0, or around the weights of the model of --init.
        self._means = [v.numpy() if config.init else 0.0 for v in self._dense]
        # float64: a sum over an epoch would lose small losses in float32.
        self.loss_sum = _counter(tf.float64, "loss_sum")
        self.part_sums = {name: _counter(tf.float64, f"{name}_loss_sum") for name in self.groups}
        self.token_sum = _counter(tf.float64, "token_sum")
        self.global_step = _counter(tf.int32, "global_step")

    def step(self, features: Features, labels: tf.Tensor) -> tf.Tensor:
        """Takes one step, of each optimizer; gives the mean loss per token of the epoch so far.

        Args:
          features: of a batch, or of this replica's part of it.
          labels: [B, T] class ids.
        """
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
            exchange = self.memory and self.memory.exchange
            losses = self.tagger.loss_terms(features, labels, seed, exchange)
            if PART in features:
                losses = {name: loss * counts for name, loss in losses.items()}
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
        values = self._sum([*flat, *losses.values()])
        flat, parts = values[: len(flat)], values[len(flat) :]
        total = tf.add_n(parts)
        summed = iter(flat)
        for name, numbers in used.items():
            variables = [self.groups[name][k] for k in numbers]
            self._apply(name, variables, [next(summed) for _ in numbers])
        # Sums over the epoch, kept as variables so that a resumed epoch reports the whole of it.
        self.loss_sum.assign_add(tf.cast(total, tf.float64))
        for name, part in zip(losses, parts, strict=True):
            self.part_sums[name].assign_add(tf.cast(part, tf.float64))
        self.token_sum.assign_add(tf.cast(batch_tokens, tf.float64))
        self.global_step.assign_add(1)
        return self.loss_sum / self.token_sum

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

    def epoch_loss(self, epoch: int) -> float:
        """The mean loss per token of the steps so far in the epoch of this number, from 1.

        Raises InputError if it is no number any more; the message names the learning rates.
        """
        loss = float(self.loss_sum / self.token_sum)
        if math.isfinite(loss):
            return loss
        rates = [
            f"`{name}_learning_rate={getattr(self.config, f'{name}_learning_rate')}`"
            for group, name in _RATES.items()
            if group in self.groups
        ]
        raise InputError(f"The loss became {loss} in epoch {epoch}: lower {' or '.join(rates)}.")

    def parts_of_epoch(self) -> dict[str, float]:
        """The mean loss per token of each part in the epoch's steps so far, and its rate now."""
        sums = {
            f"loss_{name}": float(part / self.token_sum)
            for name, part in self.part_sums.items()
            if name != "pretrained"  # it has no loss of its own
        }
        rates = {
            f"learning_rate_{name}": float(tf.convert_to_tensor(optimizer.learning_rate))
            for name, optimizer in self.optimizers.items()
        }
        return sums | rates

    def start_epoch(self) -> None:
        """Sets the epoch's sums to zero."""
        self.loss_sum.assign(0.0)
        self.token_sum.assign(0.0)
        for part in self.part_sums.values():
            part.assign(0.0)

    def _apply(self, name, variables, gradients):
        gradients = [_combine(g) for g in gradients]
        if self.config.clip_norm:
            gradients = _clip(gradients, self.config.clip_norm)
        pairs = zip(gradients, variables, strict=True)
        # They are sums over the replicas already, which clipping needs.
        self.optimizers[name].apply_gradients(pairs, skip_gradients_aggregation=True)

    def _squared_weights(self):
        """||theta||^2 of the drafter; with --init of the difference from its weights."""
        pairs = zip(self._dense, self._means, strict=True)
        return tf.add_n([tf.reduce_sum(tf.square(v - mean)) for v, mean in pairs])


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
    """Like ``tf.clip_by_global_norm``, without a pass over gradients that are not too long.

    On a GPU a pass takes less time than to wait for the norm.
    """
    norm = tf.linalg.global_norm(gradients)

    def clipped() -> list[tf.Tensor]:
        return _values(tf.clip_by_global_norm(gradients, most, use_norm=norm)[0])

    values = clipped() if has_gpu() else tf.cond(norm <= most, lambda: _values(gradients), clipped)
    return [
        tf.IndexedSlices(value, old.indices, old.dense_shape)
        if isinstance(old, tf.IndexedSlices)
        else value
        for old, value in zip(gradients, values, strict=True)
    ]


def _values(gradients) -> list[tf.Tensor]:
    return [g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients]
