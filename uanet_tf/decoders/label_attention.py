"""Hierarchical label attention: BiLSTM layers that read the labels' embeddings between them."""

import tensorflow as tf

from uanet_tf.arguments import ArgumentError, check_positive, check_rate
from uanet_tf.decoders.decoder import Decoder, fold_samples, unfold_samples
from uanet_tf.encoders.recurrent_encoders import BiLSTM
from uanet_tf.ops.dropout import dropout, fold_in
from uanet_tf.ops.losses import masked_cross_entropy
from uanet_tf.ops.numerics import linear

# Consumers of the dropout seed.
_ATTENDED, _STATES = range(2)  # of a layer
# Labels start nearly alike (released code): what is attended to is added to the states, and would
# drown them.
_LABEL_SCALE = 0.0025


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class LabelAttentionDecoder(Decoder):
    """Refines states by attention over label embeddings, layer by layer.

    States h of a BiLSTM attend over the C label embeddings x with several heads,
    head_k = softmax(h Q_k (x K_k)^T / sqrt(d)) x V_k, and [h; concat(heads) + h] goes into the next
    BiLSTM. In the last layer there is one head, and its attention weights are the distribution over
    labels. The first BiLSTM is the tagger's encoder; the others are in here. With M samples the
    label is the argmax of their mean distribution.

    Args:
      num_layers: BiLSTM layers of its own, above the encoder. The paper's three-layer model
        has two.
      num_heads: attention heads of all layers but the last; must divide the states' width H, which
        all layers share.
      dropout: rate of ordinary dropout on the output of each of its BiLSTM layers and on the
        attention weights of all layers but the last; in training only.

    Call arguments and output shape: see ``Decoder.decide``; H is even.

    Example:

    >>> decoder = LabelAttentionDecoder(4, num_heads=2)
    >>> decoder(tf.ones([1, 2, 3, 6])).label_ids.shape
    TensorShape([2, 3])

    Reference:
      Cui and Zhang, 2019, "Hierarchically-Refined Label Attention Network for Sequence
      Labeling", section 4.
    """

    def __init__(
        self,
        num_classes: int,
        *,
        num_layers: int = 2,
        num_heads: int = 5,
        dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(num_classes, **kwargs)
        self.num_layers = check_positive("num_layers", num_layers)
        self.num_heads = check_positive("num_heads", num_heads)
        self.dropout = check_rate("dropout", dropout)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        part = config.decoder
        return super().from_settings(
            config,
            vocabulary,
            num_layers=part.lan_layers,
            num_heads=part.lan_heads,
            dropout=part.decoder_dropout,
            **kwargs,
        )

    def build(self, input_shape):
        width = int(input_shape[-1])
        if width % self.num_heads or width % 2:
            raise ArgumentError(
                f"`states` must have an even width that `num_heads` divides. Received: {width}, "
                f"num_heads={self.num_heads}"
            )
        self.label_embedding = self.add_weight(
            name="label_embedding",
            shape=[self.num_classes, width],
            initializer=tf.keras.initializers.RandomUniform(-_LABEL_SCALE, _LABEL_SCALE),
        )
        self.query_kernels, self.key_kernels, self.value_kernels, self.bilstms = [], [], [], []
        for index in range(self.num_layers):
            self.query_kernels.append(self._add_kernel(f"query_kernel_{index}", width))
            self.key_kernels.append(self._add_kernel(f"key_kernel_{index}", width))
            self.value_kernels.append(self._add_kernel(f"value_kernel_{index}", width))
            name = f"layer_{index}"
            layer = BiLSTM(
                width, input_dropout=0.0, output_dropout=0.0, dtype=self.dtype_policy, name=name
            )
            with tf.name_scope(layer.name):
                layer.build([None, None, 2 * width])
            self.bilstms.append(layer)
        self.query_kernels.append(self._add_kernel(f"query_kernel_{self.num_layers}", width))
        self.key_kernels.append(self._add_kernel(f"key_kernel_{self.num_layers}", width))
        super().build(input_shape)

    def _add_kernel(self, name: str, width: int) -> tf.Variable:
        return self.add_weight(name=name, shape=[width, width], initializer="glorot_uniform")

    def sequence_loss(self, states, labels, mask, dropout_seed):
        return masked_cross_entropy(self.logits(states, mask, dropout_seed), labels, mask)

    reads_lite = True

    def label_samples(self, states, mask, lite=None):
        logits = self.logits(*fold_samples(states, mask), lite=lite)
        return None, tf.nn.softmax(unfold_samples(logits, states))

    def logits(self, states, mask, dropout_seed=None, lite=None):
        """The last layer's attention scores, [N, T, C]."""
        for index, layer in enumerate(self.bilstms):
            seed = fold_in(dropout_seed, index)
            attended = self._attend(states, index, fold_in(seed, _ATTENDED))  # [N, T, H]
            inputs = tf.concat([states, attended], axis=-1)  # [N, T, 2H]
            states = layer(inputs, mask=mask, lite=lite)
            states = dropout(states, self.dropout, fold_in(seed, _STATES))
        scores = self._scores(states, self.num_layers, 1)  # [N, T, 1, C]
        return tf.squeeze(scores, axis=2)

    def _attend(self, states, index, seed):
        """Each state plus the label embeddings it attends to, [N, T, H]."""
        weights = tf.nn.softmax(self._scores(states, index, self.num_heads))  # [N, T, h, C]
        weights = dropout(weights, self.dropout, seed)
        values = self._labels(self.value_kernels[index], self.num_heads)  # [C, h, d]
        heads = tf.einsum("nthc,chd->nthd", weights, values)
        return tf.reshape(heads, tf.shape(states)) + states

    def _scores(self, states, index, num_heads):
        """Scaled products of states and labels, [N, T, h, C]."""
        queries = linear(states, self.query_kernels[index])
        head_width = states.shape[-1] // num_heads
        shape = tf.concat([tf.shape(states)[:2], [num_heads, head_width]], axis=0)
        queries = tf.reshape(queries, shape)
        keys = self._labels(self.key_kernels[index], num_heads)  # [C, h, d]
        return tf.einsum("nthd,chd->nthc", queries, keys) / head_width**0.5

    def _labels(self, kernel, num_heads):
        """The projected label embeddings, [C, h, d]."""
        projected = linear(self.label_embedding, kernel)
        return tf.reshape(projected, [self.num_classes, num_heads, -1])
