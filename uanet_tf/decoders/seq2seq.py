"""A left-to-right label LSTM: each label is decided from its state and the labels before it."""

import tensorflow as tf

from uanet_tf.arguments import check_positive, check_rate
from uanet_tf.decoders.decoder import Decoder, mean_log_probs
from uanet_tf.ops.chain import beam_search
from uanet_tf.ops.dropout import dropout, fold_in
from uanet_tf.ops.losses import masked_cross_entropy
from uanet_tf.ops.numerics import add_linear, linear
from uanet_tf.ops.recurrence import forget_one, lstm_scan
from uanet_tf.ops.shapes import permute


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class LabelHistoryDecoder(Decoder):
    """Base of decoders with a recurrent net over the labels decided before.

    It owns the embedding ``label_embedding`` [num_classes + 1, label_width] of labels; the last row
    is used where there is no label before. A subclass extends ``build`` and defines what
    ``Decoder`` requires.

    Args:
      hidden_width: width of the recurrent net; None: that of the states.
      dropout: rate of the masks on what is read of labels (their embeddings, and the recurrent
        net's output), tied over time; in training only.
    """

    def __init__(
        self,
        num_classes: int,
        *,
        hidden_width: int | None = None,
        label_width: int = 50,
        dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(num_classes, **kwargs)
        self.hidden_width = check_positive("hidden_width", hidden_width, optional=True)
        self.label_width = check_positive("label_width", label_width)
        self.dropout = check_rate("dropout", dropout)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        part = config.decoder
        return super().from_settings(
            config,
            vocabulary,
            hidden_width=part.label_hidden_width or None,
            label_width=part.label_width,
            dropout=part.decoder_dropout,
            **kwargs,
        )

    def build(self, input_shape):
        self.label_embedding = self.add_weight(
            name="label_embedding",
            shape=[self.num_classes + 1, self.label_width],
            initializer=tf.keras.initializers.RandomNormal(stddev=1.0),
        )
        super().build(input_shape)

    def add_kernel(self, name: str, shape: list[int], initializer="glorot_uniform") -> tf.Variable:
        """A weight that starts Glorot-uniform, unless another ``initializer`` is given."""
        return self.add_weight(name=name, shape=shape, initializer=initializer)


# Consumers of the dropout seed.
_LABELS, _OUTPUTS = range(2)


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class Seq2SeqDecoder(LabelHistoryDecoder):
    """Decides labels one after another with an LSTM over states and previous labels.

    d_t = LSTM([s_t; E(y_{t-1})], d_{t-1}), p(y_t | y_1 .. y_{t-1}) = softmax(d_t W + b). In
    training the previous labels are the gold ones; in decoding those found by greedy or beam
    search. A label's probability is the one given the labels decided before it. With M
    samples the labels before are common to all, and each step's distribution is their mean.

    Args (further ones: ``LabelHistoryDecoder``):
      beam_width: label sequences kept while decoding; 1 is greedy.

    Example:

    >>> decoder = Seq2SeqDecoder(4, hidden_width=8, beam_width=3)
    >>> decoder(tf.ones([1, 2, 3, 6])).label_ids.shape
    TensorShape([2, 3])

    Reference:
      Zhang et al., 2018, "Learning Tag Dependencies for Sequence Tagging".
    """

    def __init__(self, num_classes: int, *, beam_width: int = 1, **kwargs):
        super().__init__(num_classes, **kwargs)
        self.beam_width = check_positive("beam_width", beam_width)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        beam_width = config.decoder.beam_width
        return super().from_settings(config, vocabulary, beam_width=beam_width, **kwargs)

    def build(self, input_shape):
        super().build(input_shape)
        width = int(input_shape[-1])
        units = self.hidden_width or width
        self.state_kernel = self.add_kernel("state_kernel", [width, 4 * units])
        self.label_kernel = self.add_kernel("label_kernel", [self.label_width, 4 * units])
        self.recurrent_kernel = self.add_kernel(
            "recurrent_kernel", [units, 4 * units], "orthogonal"
        )
        self.bias = self.add_kernel("bias", [4 * units], forget_one)
        self.output_kernel, self.output_bias = add_linear(self, "output", units, self.num_classes)

    def sequence_loss(self, states, labels, mask, dropout_seed):
        logits = self._forced_logits(tf.expand_dims(states, 0), labels, dropout_seed)
        return masked_cross_entropy(logits[0], labels, mask)

    def label_samples(self, states, mask):
        label_ids = self._search(states, mask)
        return label_ids, tf.nn.softmax(self._forced_logits(states, label_ids))

    def _forced_logits(self, states, labels, dropout_seed=None):
        """Logits [M, B, T, C] after given previous labels [B, T]."""
        shape = tf.shape(states)
        samples, batch, steps = shape[0], shape[1], shape[2]
        before = tf.pad(labels[:, :-1], [[0, 0], [1, 0]], constant_values=self.num_classes)
        embedded = tf.gather(self.label_embedding, before)  # [B, T, E]
        tied = tf.stack([batch, 1, self.label_width])
        embedded = dropout(embedded, self.dropout, fold_in(dropout_seed, _LABELS), tied)
        projected = linear(states, self.state_kernel, self.bias)  # [M, B, T, 4U]
        projected += linear(embedded, self.label_kernel)

        width = self.recurrent_kernel.shape[0]
        rows = tf.reshape(projected, [samples * batch, steps, 4 * width])
        kernel = tf.convert_to_tensor(self.recurrent_kernel)
        outputs = lstm_scan(permute(rows, [1, 0, 2]), kernel)  # d, [T, M * B, U]
        outputs = permute(outputs, [1, 0, 2])
        tied = tf.stack([samples * batch, 1, width])
        outputs = dropout(outputs, self.dropout, fold_in(dropout_seed, _OUTPUTS), tied)
        logits = linear(outputs, self.output_kernel, self.output_bias)
        return tf.reshape(logits, [samples, batch, steps, self.num_classes])

    def _search(self, states, mask):
        """The best label sequence found, [B, T]."""
        projected = linear(states, self.state_kernel, self.bias)
        projected = permute(projected, [2, 1, 0, 3])  # [T, B, M, 4U]
        table = linear(self.label_embedding, self.label_kernel)  # [C + 1, 4U]

        def step(t, before, memory):
            hidden, cell = tf.split(memory, 2, axis=-1)  # [B, K, M, U] each
            gates = tf.expand_dims(projected[t], 1) + tf.expand_dims(tf.gather(table, before), 2)
            gates += linear(hidden, self.recurrent_kernel)
            i, f, o, g = tf.split(gates, 4, axis=-1)
            cell = tf.sigmoid(f) * cell + tf.sigmoid(i) * tf.tanh(g)
            hidden = tf.sigmoid(o) * tf.tanh(cell)
            logits = linear(hidden, self.output_kernel, self.output_bias)  # [B, K, M, C]
            return mean_log_probs(logits, axis=2), tf.concat([hidden, cell], axis=-1)

        width = 2 * self.recurrent_kernel.shape[0]
        shape = tf.stack([tf.shape(mask)[0], 1, tf.shape(states)[0], width])
        initial = tf.zeros(shape, projected.dtype)
        classes, beams = self.num_classes, self.beam_width
        return beam_search(step, initial, mask, num_classes=classes, beam_width=beams)[0]
