"""Optimizers, their schedules, and a moving average of the weights."""

import types
from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from uanet_tf.config import TrainingConfig
from uanet_tf.ops.graphs import graph_function


class _Scalars(NamedTuple):
    """Of one step, for all variables of one dtype."""

    rate: tf.Tensor
    beta_1: tf.Tensor
    beta_2: tf.Tensor
    epsilon: tf.Tensor
    power_1: tf.Tensor  # beta_1 to the power of the step's number
    power_2: tf.Tensor


class LazyAdamW(tf.keras.optimizers.Adam):
    """AdamW with row-wise updates for sparse gradients.

    Keras' Adam decays the moments of every row of a table at each step, which costs more than the
    rest of the step where the vocabulary is large. Here a row that a batch does not use is not
    changed, its moments and its decoupled weight decay included. Dense variables are updated as by
    ``tf.keras.optimizers.AdamW``.

    Args:
      learning_rate: a float or a schedule.
      decoupled_decay: share of the weight, times the learning rate, taken off at each step
        (Loshchilov and Hutter, 2019).
      jit_compile: compile each variable's update with XLA: a few operations, which gain nothing.
      **kwargs: as for ``tf.keras.optimizers.Adam``; ``amsgrad`` is not supported.
    """

    def __init__(self, learning_rate=1e-3, *, decoupled_decay=0.0, jit_compile=False, **kwargs):
        super().__init__(learning_rate, jit_compile=jit_compile, **kwargs)
        self.decoupled_decay = decoupled_decay
        # What the updates of one step share, in a namespace: Keras tracks none.
        self._step = types.SimpleNamespace(scalars={})

    def apply_gradients(self, grads_and_vars, *args, **kwargs):
        self._step.scalars = {}
        try:
            return super().apply_gradients(grads_and_vars, *args, **kwargs)
        finally:
            self._step.scalars = {}

    def _scalars(self, dtype: tf.DType) -> _Scalars:
        """Made once per step: for each variable they would be a tenth of the step's graph."""
        # A tensor is of the graph that made it, and each update that XLA compiles is a graph.
        scalars = {} if self.jit_compile else self._step.scalars
        if dtype not in scalars:
            number = tf.cast(self.iterations + 1, tf.float32)
            scalars[dtype] = _Scalars(
                rate=tf.cast(self.learning_rate, dtype),
                beta_1=tf.constant(self.beta_1, dtype),
                beta_2=tf.constant(self.beta_2, dtype),
                epsilon=tf.constant(self.epsilon, dtype),
                power_1=tf.cast(tf.pow(self.beta_1, number), dtype),
                power_2=tf.cast(tf.pow(self.beta_2, number), dtype),
            )
        return scalars[dtype]

    def update_step(self, gradient, variable):
        index = self._index_dict[self._var_key(variable)]
        m, v = self._momentums[index], self._velocities[index]
        decay = 0.0
        if self.decoupled_decay and self._use_weight_decay(variable):
            decay = self._scalars(variable.dtype).rate * self.decoupled_decay
        if isinstance(gradient, tf.IndexedSlices):
            self._update_rows(variable, m, v, gradient, decay)
        else:
            self._update_all(variable, m, v, gradient, decay)

    def _update_all(self, variable, m, v, gradient, decay):
        if self.decoupled_decay:
            variable.assign_sub(variable * decay)
        step = self._scalars(variable.dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=m.handle,
            v=v.handle,
            beta1_power=step.power_1,
            beta2_power=step.power_2,
            lr=step.rate,
            beta1=step.beta_1,
            beta2=step.beta_2,
            epsilon=step.epsilon,
            grad=gradient,
        )

    def _update_rows(self, variable, m, v, gradient, decay):
        rows, values = gradient.indices, gradient.values
        step = self._scalars(variable.dtype)
        new_m = self.beta_1 * tf.gather(m, rows) + (1 - self.beta_1) * values
        new_v = self.beta_2 * tf.gather(v, rows) + (1 - self.beta_2) * tf.square(values)
        m.scatter_update(tf.IndexedSlices(new_m, rows))
        v.scatter_update(tf.IndexedSlices(new_v, rows))
        scale = step.rate * tf.sqrt(1 - step.power_2) / (1 - step.power_1)
        change = scale * new_m / (tf.sqrt(new_v) + self.epsilon)
        change += decay * tf.gather(variable, rows)
        variable.scatter_sub(tf.IndexedSlices(change, rows))


class WarmupLinear(tf.keras.optimizers.schedules.LearningRateSchedule):
    """Linear from 0 to the peak over ``warmup``, a share of all steps, then linear to 0."""

    def __init__(self, peak: float, total_steps: int, warmup: float):
        self.peak, self.total_steps, self.warmup = peak, total_steps, warmup

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0  # the first step has a rate above 0
        warmup_steps = max(1.0, self.warmup * self.total_steps)
        rising = step / warmup_steps
        falling = (self.total_steps - step) / max(1.0, self.total_steps - warmup_steps)
        return self.peak * tf.minimum(rising, tf.clip_by_value(falling, 0.0, 1.0))


def make_optimizer(
    group: str, config: TrainingConfig, steps_per_epoch: int
) -> tf.keras.optimizers.Optimizer:
    """The optimizer of a group of ``Tagger.variable_groups``, with its schedule.

    None is compiled with XLA, as Keras does where a GPU is: a cluster for each variable's few
    operations gains nothing.
    """
    steps = config.epochs * steps_per_epoch
    if group == "refined":
        # The released code's decoupled decay, 1e-6 times a rate of 1e-4, changes no float32 weight.
        return LazyAdamW(WarmupLinear(config.refiner_learning_rate, steps, config.warmup))
    if group == "pretrained":
        schedule = WarmupLinear(config.pretrained_learning_rate, steps, config.warmup)
        optimizer = LazyAdamW(schedule, decoupled_decay=config.pretrained_weight_decay)
        # As in Google's code (Devlin et al., 2019).
        optimizer.exclude_from_weight_decay(var_names=["bias", "norm"])
        return optimizer
    rate = config.drafter_learning_rate
    schedule = WarmupLinear(rate, steps, config.warmup)
    if config.drafter_schedule == "inverse_time":  # constant within an epoch (NCRF++; the paper)
        schedule = tf.keras.optimizers.schedules.InverseTimeDecay(
            rate, steps_per_epoch, config.drafter_decay, staircase=True
        )
    if config.drafter_optimizer == "sgd":
        momentum = config.drafter_momentum
        return tf.keras.optimizers.SGD(schedule, momentum=momentum, jit_compile=False)
    if config.drafter_optimizer == "adadelta":  # as in Zeiler (2012)
        return tf.keras.optimizers.Adadelta(schedule, rho=0.95, epsilon=1e-6, jit_compile=False)
    return LazyAdamW(schedule)


# Averaging touches every weight, embedding tables too: once in so many steps is enough.
AVERAGE_EVERY = 8


class WeightAverage(tf.Module):
    """Exponential moving average of variables (Polyak averaging), ``decay`` per step in (0, 1).

    Early on the average is a plain mean of the weights so far, so that it does not remember their
    random start: the decay at update n is min(decay, (1 + n) / (10 + n)).
    """

    def __init__(self, variables: Sequence[tf.Variable], decay: float):
        super().__init__(name="weight_average")
        self._sources = list(variables)
        self.averages = [tf.Variable(v, trainable=False) for v in self._sources]
        self.updates = tf.Variable(0, trainable=False, dtype=tf.int64)
        self._decay = decay**AVERAGE_EVERY

        # Graphs of only this object: TensorFlow warns of methods that many objects retrace.
        self._update_graph = graph_function()(self._update)
        self._swap_graph = graph_function()(self._swap)

    def update(self) -> None:
        """Adds the present weights to the average; to be called every AVERAGE_EVERY steps."""
        self._update_graph()

    def swap(self) -> None:
        """Exchanges weights and averages; a second call puts them back."""
        self._swap_graph()

    def _update(self) -> None:
        count = tf.cast(self.updates.assign_add(1), tf.float32)
        decay = tf.minimum(self._decay, (1.0 + count) / (10.0 + count))
        for average, source in zip(self.averages, self._sources, strict=True):
            average.assign_sub(tf.cast(1.0 - decay, average.dtype) * (average - source))

    def _swap(self) -> None:
        for average, source in zip(self.averages, self._sources, strict=True):
            weight = tf.identity(source)
            source.assign(average)
            average.assign(weight)
