"""Predicts the samples' mean and disagreement from the pass without dropout."""

from typing import NamedTuple

import tensorflow as tf

from uanet_tf.arguments import check_positive
from uanet_tf.ops.entropy import entropy
from uanet_tf.ops.linear import linear


class Distilled(NamedTuple):
    """The head's output for each token.

    Attributes:
      probabilities: [..., C], the mean distribution p of the samples.
      mutual_information: [...], their disagreement, nats; at most the entropy of p.
    """

    probabilities: tf.Tensor
    mutual_information: tf.Tensor


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class DistilledHead(tf.keras.layers.Layer):
    """Predicts the mean of M Monte Carlo samples and their mutual information in one pass.

        h = tanh(W_1 s + b_1),    [d; r] = W_2 h + b_2
        p = softmax(logits + d),    mutual information = H(p) sigmoid(r)

    s and logits are the drafter's of the pass without dropout. W_2 starts at zero: an untrained
    head gives the distribution of that pass. Its weights belong to no optimizer of the training;
    see ``training.distillation``.

    Args:
      num_classes: number C of labels.
      hidden_width: width of h.

    Call arguments:
      states: [..., H].
      logits: [..., C].

    Returns:
      Distilled.

    Reference:
      Bulo et al., 2016, "Dropout Distillation"; the head and its second output are ours.
    """

    def __init__(self, num_classes: int, *, hidden_width: int = 128, **kwargs):
        super().__init__(**{**kwargs, "dtype": tf.float32, "trainable": False})
        self.num_classes = check_positive("num_classes", num_classes)
        self.hidden_width = check_positive("hidden_width", hidden_width)

    def build(self, states_shape):
        width = int(states_shape[-1])
        self.hidden_kernel = self.add_weight(
            "hidden_kernel", [width, self.hidden_width], initializer=_scaled_normal(width)
        )
        self.hidden_bias = self.add_weight("hidden_bias", [self.hidden_width], initializer="zeros")
        self.output_kernel = self.add_weight(
            "output_kernel", [self.hidden_width, self.num_classes + 1], initializer="zeros"
        )
        self.output_bias = self.add_weight(
            "output_bias", [self.num_classes + 1], initializer="zeros"
        )
        self.was_trained = self.add_weight("was_trained", [], initializer="zeros")
        super().build(states_shape)

    def call(self, states, logits):
        shift, share = self.outputs(states)
        p = tf.nn.softmax(tf.cast(logits, tf.float32) + shift)
        return Distilled(p, entropy(p) * tf.sigmoid(share))

    def outputs(self, states: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """What is added to the logits [..., C], and the logit of the epistemic share [...]."""
        hidden = tf.tanh(linear(tf.cast(states, tf.float32), self.hidden_kernel, self.hidden_bias))
        # Two products: a slice of the result would be a copy.
        shift = linear(hidden, self.output_kernel[:, :-1], self.output_bias[:-1])
        share = linear(hidden, self.output_kernel[:, -1:], self.output_bias[-1:])
        return shift, share[..., 0]

    def compute_output_shape(self, states_shape):
        return Distilled(
            tf.TensorShape([*states_shape[:-1], self.num_classes]),
            tf.TensorShape(states_shape[:-1]),
        )

    def get_config(self):
        config = super().get_config()
        del config["dtype"], config["trainable"]  # always the same
        return {**config, "num_classes": self.num_classes, "hidden_width": self.hidden_width}


def _scaled_normal(fan_in: int) -> tf.keras.initializers.Initializer:
    # A seed of its own: it must not move the initial weights of the layers made after it.
    return tf.keras.initializers.RandomNormal(stddev=fan_in**-0.5, seed=1)
