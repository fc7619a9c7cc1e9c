"""Predicts the samples' mean and disagreement from the pass without dropout."""

from typing import NamedTuple

import tensorflow as tf

from uanet_tf.arguments import check_positive
from uanet_tf.ops.entropy import entropy
from uanet_tf.ops.fill_rows import fill_rows, filled_size
from uanet_tf.ops.linear import linear
from uanet_tf.row_multiple import ROW_MULTIPLE

# Nats. Up to the first the head is not used, from the second on its output counts in full. Below,
# samples change next to nothing. A step would make answers jump where rounding differs.
CERTAIN, UNCERTAIN = 0.002, 0.004
# Of fewer tokens all are computed: to choose some would take longer.
_FEW = 256


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
        p = softmax(logits + w d),    mutual information = w H(p) sigmoid(r)

    s and logits are the drafter's of the pass without dropout; w rises from 0 to 1 with the entropy
    of that pass, between ``CERTAIN`` and ``UNCERTAIN``: most tokens of most texts are certain, and
    are not computed. W_2 starts at zero: an untrained head gives the distribution of that pass. Its
    weights belong to no optimizer of the training; see ``training.distillation``.

    Args:
      num_classes: number C of labels.
      hidden_width: width of h.

    Call arguments:
      states: [B, T, H].
      logits: [B, T, C].
      mask: [B, T] booleans, True = token; None: all are. Padding keeps the pass without dropout.

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

    def call(self, states, logits, mask=None):
        logits = tf.cast(logits, tf.float32)
        weight = (entropy(tf.nn.softmax(logits)) - CERTAIN) / (UNCERTAIN - CERTAIN)
        weight = tf.clip_by_value(weight, 0.0, 1.0)
        if mask is not None:
            weight = tf.where(mask, weight, 0.0)
        outputs = self._where(weight > 0.0, states)
        p = tf.nn.softmax(logits + tf.expand_dims(weight, -1) * outputs[..., :-1])
        return Distilled(p, weight * entropy(p) * tf.sigmoid(outputs[..., -1]))

    def _where(self, wanted: tf.Tensor, states: tf.Tensor) -> tf.Tensor:
        """Outputs [B, T, C + 1] of the tokens ``wanted`` [B, T]; of the others anything finite."""
        if states.shape[0] == 1:  # one sentence, as in TensorFlow Lite
            return self.outputs(states)
        return tf.cond(
            tf.size(wanted) <= _FEW,
            lambda: self.outputs(states),
            lambda: self._chosen(tf.where(tf.reshape(wanted, [-1]))[:, 0], states),
        )

    def _chosen(self, tokens: tf.Tensor, states: tf.Tensor) -> tf.Tensor:
        """Outputs [B, T, C + 1] of the numbers of tokens [K], 0 of the others."""
        shape = tf.shape(states)
        rows = tf.reshape(states, [-1, states.shape[-1]])
        # In few sizes, for the memory's sake, and in multiples, for the last bit's.
        size = filled_size(tf.size(tokens) + 1)
        filled = fill_rows(tokens, size + -size % ROW_MULTIPLE)
        outputs = self.outputs(tf.gather(rows, filled))
        outputs = tf.scatter_nd(
            tf.expand_dims(tokens, -1),
            outputs[: tf.size(tokens)],
            tf.cast([tf.shape(rows)[0], self.num_classes + 1], tokens.dtype),
        )
        return tf.reshape(outputs, [shape[0], shape[1], self.num_classes + 1])

    def outputs(self, states: tf.Tensor) -> tf.Tensor:
        """What is added to the logits, and the logit of the epistemic share: [..., C + 1]."""
        hidden = tf.tanh(linear(tf.cast(states, tf.float32), self.hidden_kernel, self.hidden_bias))
        return linear(hidden, self.output_kernel, self.output_bias)

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
