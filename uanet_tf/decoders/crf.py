"""A linear-chain conditional random field over labels."""

import types
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from uanet_lite.tag_schemes import Transitions, valid_transitions
from uanet_tf.arguments import ArgumentError
from uanet_tf.data.vocabulary import INTERNAL_SCHEME
from uanet_tf.decoders.decoder import Decoder, fold_samples, unfold_samples
from uanet_tf.ops import chain
from uanet_tf.ops.chain import chain_marginals
from uanet_tf.ops.numerics import add_linear, linear
from uanet_tf.tensorflow_stack import addons_text

# Score of an impossible transition. It is finite, so that a sequence with one has a loss, and so
# that there is a best sequence where all have one.
IMPOSSIBLE = -1e4


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class CRFDecoder(Decoder):
    """Scores whole label sequences: emissions, transitions, and scores of starting and ending.

    score(y) = start[y_1] + sum_t emission[t, y_t] + sum_t transition[y_t, y_{t+1}] + end[y_T],
    p(y) = exp(score(y)) / Z. The loss is -log p of the given sequence. Labels are the most probable
    sequence (Viterbi); their probabilities are the marginals p(y_t), by forward-backward, so a
    label of the best sequence need not be the most probable one at its token. With M samples the
    marginals are averaged, and the sequence is the best one under the mean of their emissions.

    Args:
      label_names: names of the labels, if transitions that ``scheme`` does not allow are to be
        impossible, from the start and to the end too; in the likelihood as well as in decoding.
        A training sequence that has one then costs 1e4 nats. None: all are possible.
      scheme: tag scheme of ``label_names``.

    Example:

    >>> decoder = CRFDecoder(3, label_names=["O", "B-PER", "E-PER"])
    >>> decoder(tf.ones([1, 2, 4, 5])).label_ids.shape
    TensorShape([2, 4])

    Reference:
      Lafferty et al., 2001, "Conditional Random Fields"; Ma and Hovy, 2016, "End-to-end
      Sequence Labeling via Bi-directional LSTM-CNNs-CRF".
    """

    def __init__(
        self,
        num_classes: int,
        *,
        label_names: Sequence[str] | None = None,
        scheme: str = "BIOES",
        **kwargs,
    ):
        super().__init__(num_classes, **kwargs)
        self.label_names = None if label_names is None else list(label_names)
        self.scheme = scheme
        self._possible: Transitions | None = None
        if self.label_names is not None:
            self._possible = _possible_transitions(self.label_names, scheme)
            if len(self.label_names) != num_classes:
                raise ArgumentError(
                    "`label_names` must hold one name per class. "
                    f"Received: num_classes={num_classes}, label_names={self.label_names}"
                )

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        names = None if vocabulary.scheme is None else vocabulary.labels
        return super().from_settings(
            config, vocabulary, label_names=names, scheme=INTERNAL_SCHEME, **kwargs
        )

    def build(self, input_shape):
        classes = self.num_classes
        self.kernel, self.bias = add_linear(self, "", input_shape[-1], classes)
        self.transitions = self.add_weight(
            name="transitions", shape=[classes, classes], initializer="zeros"
        )
        self.start = self.add_weight(name="start", shape=[classes], initializer="zeros")
        self.end = self.add_weight(name="end", shape=[classes], initializer="zeros")
        super().build(input_shape)

    def sequence_loss(self, states, labels, mask, dropout_seed):
        del dropout_seed  # nothing of its own to drop
        transitions, start, end = self._chain()
        scores = _with_boundaries(self.logits(states), start, end, mask)
        lengths = _lengths(mask)
        log_likelihood, _ = _supplier().crf_log_likelihood(scores, labels, lengths, transitions)
        return -tf.reduce_sum(log_likelihood)

    reads_lite = True

    def label_samples(self, states, mask, lite=None):
        transitions, start, end = self._chain()
        emissions = self.logits(states)  # [M, B, T, C]
        mean = tf.reduce_mean(emissions, axis=0)
        scores = _with_boundaries(mean, start, end, mask)
        if lite is None:
            label_ids, _ = _supplier().crf_decode(scores, transitions, _lengths(mask))
        else:
            label_ids, _ = chain.crf_decode(scores, transitions, _lengths(mask), lite)
        label_ids = tf.reshape(label_ids, tf.shape(mask))  # its rank is not known everywhere

        rows, rows_mask = fold_samples(emissions, mask)  # [M * B, T, C]
        scores = _with_boundaries(rows, start, end, rows_mask)
        marginals = chain_marginals(scores, transitions, rows_mask)
        return label_ids, unfold_samples(marginals, states)

    def logits(self, states: tf.Tensor) -> tf.Tensor:
        """The emissions [..., T, C], from states [..., T, H]."""
        return linear(states, self.kernel, self.bias)

    def _chain(self) -> list[tf.Tensor]:
        """Transitions [C, C], start [C] and end [C], impossible ones at ``IMPOSSIBLE``."""
        values = [tf.convert_to_tensor(x) for x in (self.transitions, self.start, self.end)]
        if self._possible is None:
            return values
        tables = self._possible.steps, self._possible.start, self._possible.end
        pairs = zip(tables, values, strict=True)
        return [tf.where(table, value, IMPOSSIBLE) for table, value in pairs]


def _possible_transitions(label_names: list[str], scheme: str) -> Transitions:
    possible = valid_transitions(label_names, scheme)
    used = possible.start | possible.end | np.diag(possible.steps)
    if not used.all():
        name = label_names[int(np.argmin(used))]
        raise ArgumentError(f"`label_names` must be {scheme} labels. Received: {name!r}")
    return possible


def _with_boundaries(
    emissions: tf.Tensor, start: tf.Tensor, end: tf.Tensor, mask: tf.Tensor
) -> tf.Tensor:
    """Scores [N, T, C]: the start's at each first token and the end's at each last one added."""
    positions = tf.expand_dims(tf.range(tf.shape(mask)[1]), 0)  # [1, T]
    last = tf.expand_dims(_lengths(mask) - 1, 1)  # [N, 1]
    zeros = tf.zeros([], emissions.dtype)
    scores = emissions + tf.where(tf.expand_dims(positions == 0, -1), start, zeros)
    scores += tf.where(tf.expand_dims(positions == last, -1), end, zeros)
    return tf.where(tf.expand_dims(mask, -1), scores, zeros)


def _lengths(mask: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)


def _supplier() -> types.ModuleType:
    """``crf_log_likelihood`` and ``crf_decode``: TensorFlow Addons', or where it is missing ours.

    Looked up on first use: only this decoder needs it.
    """
    return addons_text() or chain
