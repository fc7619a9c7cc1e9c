"""A softmax over labels at each token."""

import tensorflow as tf

from uanet_tf.decoders.decoder import Decoder
from uanet_tf.ops.losses import masked_cross_entropy
from uanet_tf.ops.numerics import add_linear, linear


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class SoftmaxDecoder(Decoder):
    """Scores each label from each state; labels are decided token by token.

    With M samples the label is the argmax of their mean distribution.

    Example:

    >>> decoder = SoftmaxDecoder(4)
    >>> decoder(tf.ones([8, 2, 3, 5])).probabilities.shape
    TensorShape([2, 3, 4])

    Reference:
      Gui et al., 2020, Eq. 4.
    """

    reads_sequence = False

    def build(self, input_shape):
        self.kernel, self.bias = add_linear(self, "", input_shape[-1], self.num_classes)
        super().build(input_shape)

    def logits(self, states: tf.Tensor) -> tf.Tensor:
        """Scores [..., T, C] of the labels, from states [..., T, H]."""
        dtype = self.compute_dtype
        kernel, bias = tf.cast(self.kernel, dtype), tf.cast(self.bias, dtype)
        return linear(tf.cast(states, dtype), kernel, bias)

    def sequence_loss(self, states, labels, mask, dropout_seed):
        del dropout_seed  # nothing of its own to drop
        return masked_cross_entropy(self.logits(states), labels, mask)

    def label_samples(self, states, mask):
        del mask
        return None, tf.nn.softmax(tf.cast(self.logits(states), tf.float32))
