"""The interface of decoders, and their result."""

from typing import Any, NamedTuple

import tensorflow as tf

from uanet_tf.arguments import ArgumentError, Part, check_positive
from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.ops.graphs import LiteGraph, lite_argument
from uanet_tf.ops.masking import is_right_padded, keep


class Decoded(NamedTuple):
    """Labels of a batch, and the distributions that they were decided from.

    The distribution of each sample is there, so that the entropy of their mean and their mutual
    information can be computed. Each sums to 1, at padding too, where it has no meaning.
    """

    label_ids: tf.Tensor  # [B, T] int32 class ids, 0 at padding
    probabilities: tf.Tensor  # [B, T, C], the mean p of the samples; a label's is its confidence
    samples: tf.Tensor  # [M, B, T, C]


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class Decoder(Part, tf.keras.layers.Layer):
    """Base of decoders: labels from contextual states.

    A subclass defines ``sequence_loss`` and ``label_samples`` and builds its weights in ``build``.
    Both ``loss`` and ``decide`` may be called directly, without ``__call__``: they build the
    weights and check the mask. A decoder draws no random numbers when it decides: the M samples are
    those of the encoder, and decoders that feed labels back decide one common sequence for all.

    Args:
      num_classes: number C of labels.

    Call arguments:
      states: [M, B, T, H].
      mask: [B, T] boolean, True at tokens, right-padded; None: all are tokens.

    Returns:
      Decoded: label_ids [B, T], probabilities [B, T, C], samples [M, B, T, C]; see ``decide``.
    """

    # Whether one position can change others' labels, so that a token after padding is an error.
    reads_sequence = True

    def __init__(self, num_classes: int, **kwargs):
        super().__init__(**kwargs)
        self.num_classes = check_positive("num_classes", num_classes)

    @classmethod
    def from_settings(cls, config: Config, vocabulary: Vocabulary, **kwargs: Any) -> "Decoder":
        """The decoder that a run's settings describe; see ``uanet_tf.registry``.

        A subclass with settings of its own extends this one, which knows the labels.
        """
        del config
        return cls(len(vocabulary.labels), **kwargs)

    def call(self, states, mask=None):
        return self.decide(states, mask)

    def loss(
        self,
        states: tf.Tensor,
        labels: tf.Tensor,
        mask: tf.Tensor,
        dropout_seed: tf.Tensor | None = None,
    ) -> tf.Tensor:
        """Negative log likelihood of the labels, summed over the batch, in nats: a scalar."""
        return tf.add_n(list(self.loss_terms(states, labels, mask, dropout_seed).values()))

    def loss_terms(
        self,
        states: tf.Tensor,
        labels: tf.Tensor,
        mask: tf.Tensor,
        dropout_seed: tf.Tensor | None = None,
    ) -> dict[str, tf.Tensor]:
        """The loss by the optimizer that minimizes it; see ``variable_groups``.

        Args:
          states: [N, T, H].
          labels: [N, T] class ids; any value at padding.
          mask: [N, T] boolean, True at tokens, right-padded.
          dropout_seed: [2] int32 seed of the decoder's own dropout; None: nothing is dropped.

        Returns:
          Float32 scalars, summed over the batch, in nats.

        Raises:
          InvalidArgumentError: the mask is not right-padded.
        """
        states, mask = self._prepare(tf.convert_to_tensor(states), mask, rank=3)
        labels = tf.cast(labels, tf.int32)
        labels = tf.pad(labels, [[0, 0], [0, tf.shape(mask)[1] - tf.shape(labels)[1]]])
        labels = tf.where(mask, labels, 0)
        losses = self.sequence_losses(states, labels, mask, dropout_seed)
        for name, loss in losses.items():
            if not (tf.is_tensor(loss) and loss.shape.rank == 0):
                raise ArgumentError(
                    f"The loss {name!r} of {type(self).__name__} must be a scalar, summed over "
                    f"tokens. Received: {_shape_or_type(loss)}"
                )
        return losses

    def variable_groups(self) -> dict[str, list[tf.Variable]]:
        """Trainable variables by the optimizer that updates them: one, the drafter's."""
        return {"draft": list(self.trainable_variables)}

    def decide(
        self, states: tf.Tensor, mask: tf.Tensor | None = None, lite: LiteGraph | None = None
    ) -> Decoded:
        """Labels and their probabilities, from M samples of the states.

        Arguments are those of a call, M = 1 for one pass. A decoder without a search of its own
        takes the argmax of the mean. InvalidArgumentError, if the mask is not right-padded.
        """
        steps, has_padding = tf.shape(states)[-2], mask is not None
        states, mask = self._prepare(tf.convert_to_tensor(states), mask, rank=4)
        labelled = self.label_samples(states, mask, **lite_argument(self, lite))
        self._check_samples(labelled)
        label_ids, samples = labelled[0], tf.cast(labelled[1], tf.float32)
        mean = tf.reduce_mean(samples, axis=0)  # p, [B, T, C]
        if label_ids is None:
            label_ids = tf.argmax(mean, axis=-1, output_type=tf.int32)
        label_ids = keep(mask if has_padding else None, tf.cast(label_ids, tf.int32))
        if self.reads_sequence:  # there may be one position more
            label_ids, mean, samples = label_ids[:, :steps], mean[:, :steps], samples[:, :, :steps]
        return Decoded(label_ids, mean, samples)

    def sequence_loss(
        self, states: tf.Tensor, labels: tf.Tensor, mask: tf.Tensor, dropout_seed: tf.Tensor | None
    ) -> tf.Tensor:
        """As ``loss``; labels are int32, and 0 at padding."""
        raise NotImplementedError(f"{type(self).__name__} must define sequence_loss.")

    def sequence_losses(
        self, states: tf.Tensor, labels: tf.Tensor, mask: tf.Tensor, dropout_seed: tf.Tensor | None
    ) -> dict[str, tf.Tensor]:
        """As ``loss_terms``, for a decoder with more than one optimizer."""
        return {"draft": self.sequence_loss(states, labels, mask, dropout_seed)}

    def label_samples(
        self, states: tf.Tensor, mask: tf.Tensor
    ) -> tuple[tf.Tensor | None, tf.Tensor]:
        """Label ids [B, T] (None: the argmax of the mean) and samples [M, B, T, C]."""
        raise NotImplementedError(f"{type(self).__name__} must define label_samples.")

    def _prepare(
        self, states: tf.Tensor, mask: tf.Tensor | None, rank: int
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Builds the weights, casts the states to their dtype and checks the mask.

        An empty batch, T = 0, gets one position of padding where the sequence is read, so that
        recurrences have a step.
        """
        if states.shape.rank != rank:
            axes = "[N, T, H]" if rank == 3 else "[M, B, T, H]"
            raise ArgumentError(f"`states` must be {axes}. Received: shape={states.shape}")
        if not self.built:
            # The weights must not belong to the first graph that calls this.
            with tf.init_scope(), tf.name_scope(self.name):
                self.build(states.shape)
        if mask is None:
            mask = tf.ones(tf.shape(states)[-3:-1], tf.bool)
        mask = tf.cast(mask, tf.bool)
        if self.reads_sequence:
            tf.debugging.Assert(
                is_right_padded(mask),
                [f"`mask` of {self.name} must be right-padded: a token follows padding."],
            )
        states = tf.cast(states, self.variable_dtype)
        if mask.shape[1] or not self.reads_sequence:
            return states, mask
        more = [0, tf.cast(tf.equal(tf.shape(mask)[1], 0), tf.int32)]
        padded = tf.pad(states, [[0, 0]] * (rank - 2) + [more, [0, 0]])
        padded.set_shape([*states.shape[:-2], None, states.shape[-1]])
        # By way of integers, as TensorFlow Lite pads no booleans.
        return padded, tf.pad(tf.cast(mask, tf.int32), [[0, 0], more]) > 0

    def _check_samples(self, labelled: Any) -> None:
        """Raises ArgumentError where ``label_samples`` of a subclass returned something else."""
        found = type(labelled).__name__
        if isinstance(labelled, tuple) and len(labelled) == 2:
            labels, samples = labelled
            shape = tf.TensorShape([None, None, None, self.num_classes])
            if not (tf.is_tensor(samples) and shape.is_compatible_with(samples.shape)):
                found = f"samples of {_shape_or_type(samples)}"
            elif labels is not None and not _are_ids(labels):
                found = f"labels of {_shape_or_type(labels)}"
            else:
                return
        raise ArgumentError(
            f"label_samples of {type(self).__name__} must return a pair: label ids [B, T] or None, "
            f"and samples [M, B, T, {self.num_classes}]. Received: {found}"
        )


def _are_ids(labels: Any) -> bool:
    return tf.is_tensor(labels) and labels.dtype.is_integer and labels.shape.rank in (2, None)


def _shape_or_type(value: Any) -> str:
    if not tf.is_tensor(value):
        return f"type {type(value).__name__}"
    return f"shape {value.shape} and dtype {value.dtype.name}"


def fold_samples(states: tf.Tensor, mask: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Folds samples into rows: [M, B, T, H] and [B, T] to [M * B, T, H] and [M * B, T]."""
    shape = tf.shape(states)
    rows = tf.reshape(states, tf.concat([[shape[0] * shape[1]], shape[2:]], axis=0))
    rows.set_shape([None, *states.shape[2:]])
    return rows, tf.tile(mask, [shape[0], 1])


def unfold_samples(rows: tf.Tensor, states: tf.Tensor) -> tf.Tensor:
    """Inverse of ``fold_samples``: [M * B, T, C] to [M, B, T, C], M and B as in ``states``."""
    shape = tf.concat([tf.shape(states)[:3], tf.shape(rows)[-1:]], axis=0)
    unfolded = tf.reshape(rows, shape)
    unfolded.set_shape([*states.shape[:3], rows.shape[-1]])
    return unfolded


def mean_log_probs(logits: tf.Tensor, axis: int) -> tf.Tensor:
    """Log of the mean, over the samples along ``axis``, of the softmax of [..., C] logits."""
    total = tf.reduce_logsumexp(tf.nn.log_softmax(logits), axis=axis)
    return total - tf.math.log(tf.cast(tf.shape(logits)[axis], logits.dtype))
