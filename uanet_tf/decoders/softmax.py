"""A softmax over labels at each token."""

import tensorflow as tf


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class SoftmaxDecoder(tf.keras.layers.Layer):
    """Scores each label from each state; labels are decided token by token.

    Args:
      num_classes: number C of labels.

    Call arguments:
      states: [N, T, H].

    Output shape:
      [N, T, C] logits.

    Reference:
      Gui et al., 2020, Eq. 4.
    """

    def __init__(self, num_classes: int, **kwargs):
        super().__init__(**kwargs)
        if num_classes < 1:
            raise ValueError(f"`num_classes` must be positive. Received: num_classes={num_classes}")
        self.num_classes = num_classes

    def build(self, input_shape):
        self.kernel = self.add_weight(
            name="kernel",
            shape=[input_shape[-1], self.num_classes],
            initializer="glorot_uniform",
        )
        self.bias = self.add_weight(name="bias", shape=[self.num_classes], initializer="zeros")
        super().build(input_shape)

    def call(self, states):
        return tf.matmul(states, self.kernel) + self.bias

    def compute_output_shape(self, input_shape):
        return [*input_shape[:-1], self.num_classes]

    def get_config(self):
        config = super().get_config()
        config.update(num_classes=self.num_classes)
        return config
