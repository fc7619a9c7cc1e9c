"""AdamW whose embedding tables are updated only at the rows that a batch used."""

import dataclasses

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class _Scalars:
    """Of one step, for all variables of one dtype."""

    rate: tf.Tensor
    beta_1: tf.Tensor
    beta_2: tf.Tensor
    epsilon: tf.Tensor
    power_1: tf.Tensor  # beta_1 to the power of the step's number
    power_2: tf.Tensor


@dataclasses.dataclass
class _Step:
    """What the updates of one step share. Keras tracks no dataclass."""

    scalars: dict[tf.DType, _Scalars]


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class LazyAdamW(tf.keras.optimizers.Adam):
    """AdamW with row-wise updates for sparse gradients.

    Keras' Adam decays the moments of every row of a table at each step, which costs more
    than the rest of the step where the vocabulary is large. Here a row that a batch does not
    use is not changed, its moments and its decoupled weight decay included. Dense variables are
    updated as by ``tf.keras.optimizers.AdamW``.

    Args:
      learning_rate: a float or a schedule.
      decoupled_decay: share of the weight, times the learning rate, taken off at each step
        (Loshchilov and Hutter, 2019).
      jit_compile: compile each variable's update with XLA: a few operations, which gain nothing.
      **kwargs: as for ``tf.keras.optimizers.Adam``; ``amsgrad`` is not supported.
    """

    def __init__(
        self,
        learning_rate=1e-3,
        *,
        decoupled_decay: float = 0.0,
        jit_compile: bool = False,
        **kwargs,
    ):
        super().__init__(learning_rate, jit_compile=jit_compile, **kwargs)
        self.decoupled_decay = decoupled_decay
        self._step = _Step({})

    def get_config(self):
        return {**super().get_config(), "decoupled_decay": self.decoupled_decay}

    def apply_gradients(self, grads_and_vars, *args, **kwargs):
        self._step = _Step({})
        try:
            return super().apply_gradients(grads_and_vars, *args, **kwargs)
        finally:
            self._step = _Step({})

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
