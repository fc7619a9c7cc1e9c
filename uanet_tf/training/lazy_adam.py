"""AdamW whose embedding tables are updated only at the rows that a batch used."""

import dataclasses

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class _Powers:
    """beta_1 and beta_2 to the power of the step's number. Keras tracks no dataclass."""

    power_1: tf.Tensor
    power_2: tf.Tensor


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
      **kwargs: as for ``tf.keras.optimizers.Adam``; ``amsgrad`` is not supported.
    """

    def __init__(self, learning_rate=1e-3, *, decoupled_decay: float = 0.0, **kwargs):
        super().__init__(learning_rate, **kwargs)
        self.decoupled_decay = decoupled_decay
        self._powers = _Powers(tf.ones([]), tf.ones([]))

    def get_config(self):
        return {**super().get_config(), "decoupled_decay": self.decoupled_decay}

    def apply_gradients(self, grads_and_vars, *args, **kwargs):
        # Once per step: for each variable they would be a tenth of the training step's graph.
        step = tf.cast(self.iterations + 1, tf.float32)
        self._powers = _Powers(tf.pow(self.beta_1, step), tf.pow(self.beta_2, step))
        return super().apply_gradients(grads_and_vars, *args, **kwargs)

    def _bias_corrections(self, dtype):
        powers = self._powers
        return tf.cast(powers.power_1, dtype), tf.cast(powers.power_2, dtype)

    def update_step(self, gradient, variable):
        index = self._index_dict[self._var_key(variable)]
        m, v = self._momentums[index], self._velocities[index]
        rate = tf.cast(self.learning_rate, variable.dtype)
        decay = 0.0
        if self.decoupled_decay and self._use_weight_decay(variable):
            decay = rate * self.decoupled_decay
        if isinstance(gradient, tf.IndexedSlices):
            self._update_rows(variable, m, v, gradient, rate, decay)
        else:
            self._update_all(variable, m, v, gradient, rate, decay)

    def _update_all(self, variable, m, v, gradient, rate, decay):
        if self.decoupled_decay:
            variable.assign_sub(variable * decay)
        power_1, power_2 = self._bias_corrections(variable.dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=m.handle,
            v=v.handle,
            beta1_power=power_1,
            beta2_power=power_2,
            lr=rate,
            beta1=self.beta_1,
            beta2=self.beta_2,
            epsilon=self.epsilon,
            grad=gradient,
        )

    def _update_rows(self, variable, m, v, gradient, rate, decay):
        rows, values = gradient.indices, gradient.values
        power_1, power_2 = self._bias_corrections(variable.dtype)
        new_m = self.beta_1 * tf.gather(m, rows) + (1 - self.beta_1) * values
        new_v = self.beta_2 * tf.gather(v, rows) + (1 - self.beta_2) * tf.square(values)
        m.scatter_update(tf.IndexedSlices(new_m, rows))
        v.scatter_update(tf.IndexedSlices(new_v, rows))
        scale = rate * tf.sqrt(1 - power_2) / (1 - power_1)
        change = scale * new_m / (tf.sqrt(new_v) + self.epsilon)
        change += decay * tf.gather(variable, rows)
        variable.scatter_sub(tf.IndexedSlices(change, rows))
