"""Predicts the samples' mean and disagreement from the pass without dropout."""

from typing import NamedTuple

import tensorflow as tf

from uanet_tf.arguments import KeepsArguments, check_positive
from uanet_tf.ops.losses import class_softmax, entropy
from uanet_tf.ops.masking import keep
from uanet_tf.ops.numerics import linear
from uanet_tf.ops.shapes import reshape, sizes

# A token whose likeliest label is missed with at most this probability keeps its distribution; the
# head's part grows to its whole at twice as much. KL to 32 samples is the same.
NEARLY_CERTAIN = 3e-4
# Of q among the inputs; with it the head comes nearer.
_SCALE = 3.0


class Distilled(NamedTuple):
    """The head's output for each token."""

    probabilities: tf.Tensor  # [..., C], the mean distribution p of the samples
    mutual_information: tf.Tensor  # [...], their disagreement, nats; at most the entropy of p


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class DistilledHead(KeepsArguments, tf.keras.layers.Layer):
    """Predicts the mean of M Monte Carlo samples and their mutual information in one pass.

        q = softmax(logits),    h = relu(W_1 [s; 3 q] + b_1),    [d; r] = W_2 h + b_2
        p = softmax(logits + f d),    mutual information = f H(p) sigmoid(r)
        f = clip((1 - max q) / 0.0003 - 1, 0, 1)

    s and logits are the drafter's of the pass without dropout. f is 0 for tokens of which that pass
    is nearly certain, four of five in newswire: batches compute the head for the others only. It
    is taught with f = 1: certain tokens teach, too. W_2 starts at zero: an untrained head gives the
    distribution of that pass. Its weights belong to no optimizer of the training; see
    ``training.distillation``. The width of h is ``hidden_width``.

    Call arguments:
      states, logits: [..., H] and [..., C].
      mask: [...] booleans, True = token; at padding the result is that of the pass without
        dropout, and 0. None: no padding.

    Reference:
      Bulo et al., 2016, "Dropout Distillation"; the head and its second output are ours.
    """

    def __init__(self, num_classes: int, *, hidden_width: int = 128, **kwargs):
        super().__init__(**{**kwargs, "dtype": tf.float32, "trainable": False})
        self.num_classes = check_positive("num_classes", num_classes)
        self.hidden_width = check_positive("hidden_width", hidden_width)

    def build(self, states_shape):
        width, outputs = int(states_shape[-1]) + self.num_classes, self.num_classes + 1
        units = self.hidden_width
        # A seed of its own: it must not move the initial weights of the layers made after it.
        scaled = tf.keras.initializers.RandomNormal(stddev=width**-0.5, seed=1)
        self.hidden_kernel = self.add_weight("hidden_kernel", [width, units], initializer=scaled)
        self.hidden_bias = self.add_weight("hidden_bias", [units], initializer="zeros")
        self.output_kernel = self.add_weight("output_kernel", [units, outputs], initializer="zeros")
        self.output_bias = self.add_weight("output_bias", [outputs], initializer="zeros")
        self.was_trained = self.add_weight("was_trained", [], initializer="zeros")
        super().build(states_shape)

    def call(self, states, logits, mask=None, lite=None) -> Distilled:
        logits = tf.cast(logits, tf.float32)
        plain = class_softmax(logits, lite)
        missed = 1.0 - tf.reduce_max(plain, axis=-1)
        part = keep(mask, tf.clip_by_value(missed / NEARLY_CERTAIN - 1.0, 0.0, 1.0))
        if part.shape.rank < 2 or part.shape[0] == 1:
            # One sentence is not worth choosing, and TensorFlow Lite plans memory anew behind it.
            return self._mix(states, logits, plain, part, lite)
        chosen = tf.where(tf.reshape(part, [-1]) > 0.0)  # [N, 1]

        def rows(values):
            return tf.gather_nd(tf.reshape(values, [-1, *values.shape[part.shape.rank :]]), chosen)

        p, disagreement = self._mix(rows(states), rows(logits), rows(plain), rows(part))
        flat = tf.reshape(plain, [-1, self.num_classes])
        spread = tf.scatter_nd(chosen, disagreement, tf.size(part, out_type=tf.int64)[tf.newaxis])
        return Distilled(
            reshape(tf.tensor_scatter_nd_update(flat, chosen, p), sizes(plain)),
            reshape(spread, sizes(part)),
        )

    def _mix(self, states, logits, plain, part, lite=None) -> Distilled:
        shift, share = self.outputs(self.inputs(states, plain))
        p = class_softmax(logits + tf.expand_dims(part, -1) * shift, lite)
        return Distilled(p, part * entropy(p) * tf.sigmoid(share))

    def inputs(self, states: tf.Tensor, plain: tf.Tensor) -> tf.Tensor:
        """[s; 3 q], [..., H + C], of the states [..., H] and the distribution q [..., C]."""
        return tf.concat([tf.cast(states, tf.float32), _SCALE * plain], axis=-1)

    def outputs(self, inputs: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """What is added to the logits [..., C], and the logit of the epistemic share [...]."""
        rows = tf.reshape(inputs, [-1, inputs.shape[-1]])
        hidden = tf.nn.relu(linear(rows, self.hidden_kernel, self.hidden_bias))
        # Two products: a slice of the result would be a copy.
        shift = linear(hidden, self.output_kernel[:, :-1], self.output_bias[:-1])
        share = linear(hidden, self.output_kernel[:, -1:], self.output_bias[-1:])
        leading = sizes(inputs)[:-1]
        return reshape(shift, [*leading, self.num_classes]), reshape(share, leading)
