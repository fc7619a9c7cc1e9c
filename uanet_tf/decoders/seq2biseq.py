"""Two label GRUs: from right to left first, then from left to right with both contexts."""

import tensorflow as tf

from uanet_tf.arguments import ArgumentError, check_positive
from uanet_tf.decoders.decoder import mean_log_probs
from uanet_tf.decoders.seq2seq import LabelHistoryDecoder
from uanet_tf.ops.chain import beam_search
from uanet_tf.ops.dropout import dropout, fold_in
from uanet_tf.ops.losses import masked_cross_entropy
from uanet_tf.ops.numerics import linear
from uanet_tf.ops.recurrence import close_padding, gru_scan, gru_step
from uanet_tf.ops.shapes import permute

WAYS = ("backward", "forward")
OPTIMIZERS = {"backward": "draft", "forward": "forward"}  # where there are two

# Consumers of the dropout seed.
_LABELS, _CONTEXTS = range(2)


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class Seq2BiseqDecoder(LabelHistoryDecoder):
    """Decides labels from right to left, then from left to right, and takes both into account.

    b_t = GRU(E(y_{t+1}), b_{t+1}),  p_b(y_t) = softmax([s_t; b_t] W_b + c_b),
    f_t = GRU(E(y_{t-1}), f_{t-1}),  p_f(y_t) = softmax([s_t; f_t; b_t] W_f + c_f).

    In training y are the given labels and the loss is the sum of both cross entropies, with one
    optimizer; with two, each direction's cross entropy trains that direction and what both share,
    the label embedding and the layers below, which are so updated twice per step. In decoding each
    direction greedily reads its own labels, and f also the context b of those that the backward one
    has decided; the mean of both log probabilities, normalised, is a token's distribution. With M
    samples the labels read are common to all, decided by their mean, and so is the label given.

    Args (further ones: ``LabelHistoryDecoder``):
      num_optimizers: 1 or 2.

    Example:

    >>> decoder = Seq2BiseqDecoder(4, hidden_width=8)
    >>> decoder(tf.ones([1, 2, 3, 6])).label_ids.shape
    TensorShape([2, 3])

    Reference:
      Dinarelli and Grobol, 2019, "Seq2Biseq: Bidirectional Output-wise Recurrent Neural Networks
      for Sequence Modelling".
    """

    def __init__(self, num_classes: int, *, num_optimizers: int = 1, **kwargs):
        super().__init__(num_classes, **kwargs)
        self.num_optimizers = check_positive("num_optimizers", num_optimizers)
        if num_optimizers > len(WAYS):
            raise ArgumentError(
                f"`num_optimizers` must be 1 or 2. Received: num_optimizers={num_optimizers}"
            )

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        number = config.decoder.decoder_optimizers
        return super().from_settings(config, vocabulary, num_optimizers=number, **kwargs)

    def build(self, input_shape):
        super().build(input_shape)
        width = int(input_shape[-1])
        units = self.hidden_width or width
        self.kernels, self.recurrent_kernels, self.biases = {}, {}, {}
        self.state_kernels, self.context_kernels, self.output_biases = {}, {}, {}
        for way in WAYS:
            contexts = units if way == "backward" else 2 * units
            self.kernels[way] = self.add_kernel(f"kernel_{way}", [self.label_width, 3 * units])
            self.recurrent_kernels[way] = self.add_kernel(
                f"recurrent_kernel_{way}", [units, 3 * units], "orthogonal"
            )
            self.biases[way] = self.add_kernel(f"bias_{way}", [3 * units], "zeros")
            self.state_kernels[way] = self.add_kernel(
                f"state_kernel_{way}", [width, self.num_classes]
            )
            self.context_kernels[way] = self.add_kernel(
                f"context_kernel_{way}", [contexts, self.num_classes]
            )
            self.output_biases[way] = self.add_kernel(
                f"output_bias_{way}", [self.num_classes], "zeros"
            )

    def variable_groups(self):
        if self.num_optimizers == 1:
            return super().variable_groups()
        tables = [self.kernels, self.recurrent_kernels, self.biases]
        tables += [self.state_kernels, self.context_kernels, self.output_biases]
        shared = [self.label_embedding]
        return {OPTIMIZERS[way]: shared + [table[way] for table in tables] for way in WAYS}

    def sequence_losses(self, states, labels, mask, dropout_seed):
        right, left = (
            self._contexts(way, labels, mask, fold_in(dropout_seed, number))
            for number, way in enumerate(WAYS)
        )
        contexts = {"backward": right, "forward": tf.concat([left, right], axis=-1)}
        losses = {}
        for way in WAYS:
            logits = self._state_logits(way, states)
            logits += linear(contexts[way], self.context_kernels[way])
            losses[OPTIMIZERS[way]] = masked_cross_entropy(logits, labels, mask)
        return losses if self.num_optimizers == 2 else {"draft": tf.add_n(list(losses.values()))}

    reads_lite = True

    def label_samples(self, states, mask, lite=None):
        units = self.recurrent_kernels["backward"].shape[0]
        logits = self._state_logits("backward", states)  # [M, B, T, C]
        right_labels = self._search("backward", logits, mask)
        right = self._contexts("backward", right_labels, mask, lite=lite)  # b, [B, T, U]
        log_p = tf.nn.log_softmax(logits + linear(right, self.context_kernels["backward"]))

        kernel = self.context_kernels["forward"]
        logits = self._state_logits("forward", states) + linear(right, kernel[units:])
        left_labels = self._search("forward", logits, mask)
        left = self._contexts("forward", left_labels, mask, lite=lite)  # f, [B, T, U]
        log_p += tf.nn.log_softmax(logits + linear(left, kernel[:units]))
        return None, tf.nn.softmax(log_p / 2.0)

    def _state_logits(self, way, states):
        return linear(states, self.state_kernels[way], self.output_biases[way])

    def _contexts(self, way, labels, mask, dropout_seed=None, lite=None):
        """The context of each token, from the labels [B, T] on one side of it, [B, T, U]."""
        edge = tf.fill(tf.stack([tf.shape(labels)[0], 1]), self.num_classes)
        labels = tf.where(mask, labels, self.num_classes)
        neighbours = [labels[:, 1:], edge] if way == "backward" else [edge, labels[:, :-1]]
        embedded = tf.gather(self.label_embedding, tf.concat(neighbours, axis=1))  # [B, T, E]
        tied = tf.stack([tf.shape(mask)[0], 1, self.label_width])
        embedded = dropout(embedded, self.dropout, fold_in(dropout_seed, _LABELS), tied)
        projected = linear(embedded, self.kernels[way], self.biases[way])  # [B, T, 3U]
        projected = close_padding(permute(projected, [1, 0, 2]), tf.transpose(mask))
        kernel = tf.convert_to_tensor(self.recurrent_kernels[way])
        contexts = gru_scan(projected, kernel, reverse=way == "backward", lite=lite)  # [T, B, U]
        contexts = permute(contexts, [1, 0, 2])
        tied = tf.stack([tf.shape(mask)[0], 1, kernel.shape[0]])
        return dropout(contexts, self.dropout, fold_in(dropout_seed, _CONTEXTS), tied)

    def _search(self, way, state_logits, mask):
        """Labels [B, T] decided one after another, from the states' part of the logits."""
        state_logits = permute(state_logits, [2, 1, 0, 3])  # [T, B, M, C]
        recurrent_kernel = tf.convert_to_tensor(self.recurrent_kernels[way])
        units = recurrent_kernel.shape[0]
        table = linear(self.label_embedding, self.kernels[way], self.biases[way])  # [C + 1, 3U]
        output_kernel = self.context_kernels[way][:units]

        def step(t, before, memory):
            rows = tf.gather(table, tf.reshape(before, [-1]))  # [B * K, 3U]
            context = gru_step(rows, tf.reshape(memory, [-1, units]), recurrent_kernel)
            context = tf.reshape(context, tf.shape(memory))  # [B, K, U]
            logits = tf.expand_dims(linear(context, output_kernel), 2)  # [B, K, 1, C]
            logits += tf.expand_dims(state_logits[t], 1)  # [B, K, M, C]
            return mean_log_probs(logits, axis=2), context

        initial = tf.zeros(tf.stack([tf.shape(mask)[0], 1, units]), state_logits.dtype)
        classes, backward = self.num_classes, way == "backward"
        return beam_search(step, initial, mask, num_classes=classes, reverse=backward)[0]
