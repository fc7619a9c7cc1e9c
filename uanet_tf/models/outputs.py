"""From a decision to the outputs: labels in the scheme of the user's files."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from uanet_lite.answers import LABEL, tensors
from uanet_tf.models.confidence import SMALLEST
from uanet_tf.models.labels import OutputLabels
from uanet_tf.models.results import Decision, Draft
from uanet_tf.ops.masking import keep
from uanet_tf.settings import InferenceOptions

Tensors = dict[str, tf.Tensor]


class Answers:
    """The outputs of calls and signatures.

    Every tagger answers under the same names, so that one client reads them all. Without a refiner
    all labels are the draft's, and ``refined`` is False. ``classes`` are the labels of the model,
    id = position; ``scheme`` is that of the output, None of labels of single tokens.
    """

    def __init__(self, classes: Sequence[str], scheme: str | None):
        self._outputs = OutputLabels(classes, scheme)
        self._classes = _classes_of(self._outputs)

    @property
    def label_names(self) -> list[str]:
        """Output labels."""
        return self._outputs.names

    @property
    def labels_of_classes(self) -> list[str]:
        """[C] the output label of each class."""
        return [self.label_names[label] for label in self._outputs.of_classes]

    def positions(self, decision: Decision, options: InferenceOptions) -> Tensors:
        """Labels as positions in ``label_names``, and their scores; 0 at padding.

        They are the outputs of ``uanet_lite.answers`` that the decision, and the options that it
        was made with, have.
        """
        draft, mask = decision.draft, decision.draft.mask
        refined_ids, refined = decision.refined_label_ids, decision.refined
        if refined_ids is None:
            found = self._positions([draft.label_ids], mask, options) * 3
        elif refined_ids is decision.label_ids:
            labels, drafts = self._positions([refined_ids, draft.label_ids], mask, options)
            found = [labels, drafts, labels]
        else:
            ids = [decision.label_ids, draft.label_ids, refined_ids]
            found = self._positions(ids, mask, options)
        answers = {
            **dict(zip(("labels", "draft_labels", "refined_labels"), found, strict=True)),
            **_nats(draft),
            "confidence": decision.confidence,
            "refined": decision.label_ids < 0 if refined is None else refined,
        }
        if decision.accepted is not None:
            answers["accepted"] = keep(mask, decision.accepted, False)
        if options.return_alternatives:
            answers |= self._alternatives(decision, answers["labels"], options.return_alternatives)
        if decision.candidates is not None:
            answers["candidates"] = decision.candidates  # none begins at padding
        if options.return_probabilities:
            kept = None if mask is None else tf.expand_dims(mask, -1)
            answers["probabilities"] = keep(kept, decision.probabilities)
        return answers

    def _alternatives(self, decision: Decision, labels: tf.Tensor, count: int) -> Tensors:
        """The ``count`` most probable labels, K of them if there are only so many; [B, T, K] each.

        The probability of the label given is its confidence c. A label of the user's scheme may
        stand for several classes, so each of the others has the sum m of the probabilities p of its
        classes; all but the class given have s together. Calibration says nothing about these:

            P(label) = m (1 - c) / s, at most c where m is not above the mass of the label given

        and so m without calibration. The order by m stays, but where a label was given though
        another is more probable, as in a valid sequence; the sum is at most 1. Labels are int32
        positions, those of the decision, [B, T], too.
        """
        num_labels = len(self.label_names)
        ids, c = decision.label_ids, decision.confidence
        is_given = tf.one_hot(ids, len(self._outputs.of_classes), on_value=True, off_value=False)
        others = tf.where(is_given, 0.0, decision.probabilities)  # [B, T, C]
        # Sums of gathered columns: a product may be of reduced precision. The last column is 0.
        columns = tf.gather(tf.pad(others, [[0, 0], [0, 0], [0, 1]]), self._classes, axis=-1)
        mass = tf.reduce_sum(columns, axis=-1)  # [B, T, L]
        own = tf.gather(decision.probabilities, ids, batch_dims=2)
        own += tf.gather(mass, labels, batch_dims=2)
        mass = tf.where(tf.one_hot(labels, num_labels, on_value=True, off_value=False), -1.0, mass)
        mass, positions = tf.math.top_k(mass, min(count, num_labels - 1))  # [B, T, K]
        own, c = tf.expand_dims(own, -1), tf.expand_dims(c, -1)
        shares = mass
        if decision.calibrated is not None:
            rest = tf.reduce_sum(others, axis=-1, keepdims=True)
            shares = mass * (1.0 - c) / tf.maximum(rest, SMALLEST)
        shares = tf.where(mass > own, shares, tf.minimum(shares, c))
        # Among equals top_k takes the first: the label given.
        labels = tf.concat([tf.expand_dims(labels, -1), positions], axis=-1)
        best, order = tf.math.top_k(tf.concat([c, shares], axis=-1), min(count, num_labels))
        labels = tf.gather(labels, order, batch_dims=2)
        if decision.draft.mask is not None:
            kept = tf.expand_dims(decision.draft.mask, -1)
            labels, best = tf.where(kept, labels, 0), tf.where(kept, best, 0.0)
        return {"alternative_labels": labels, "alternative_probabilities": best}

    def _positions(
        self, label_ids: Sequence[tf.Tensor], mask: tf.Tensor | None, options: InferenceOptions
    ) -> list[tf.Tensor]:
        """Positions of K label sequences of the same sentences, K times [B, T]."""
        if options.valid_labels:
            return [self._outputs(ids, mask, are_valid=True) for ids in label_ids]
        count = len(label_ids)
        mask = None if mask is None else tf.tile(mask, [count, 1])
        return tf.split(self._outputs(tf.concat(label_ids, axis=0), mask), count, axis=0)

    def strings(self, decision: Decision, options: InferenceOptions) -> Tensors:
        """As ``positions``, with labels as strings, "" at padding."""
        return self.named(self.positions(decision, options), decision.draft.mask)

    def named(self, answers: Tensors, mask: tf.Tensor) -> Tensors:
        """What ``positions`` gives, with labels as strings; "" at padding."""
        return {
            name: self._names(values, mask) if tensors()[name].kind is LABEL else values
            for name, values in answers.items()
        }

    def draft_positions(self, draft: Draft, options: InferenceOptions) -> Tensors:
        """The draft only: labels as positions in ``label_names``, uncertainty."""
        (labels,) = self._positions([draft.label_ids], draft.mask, options)
        return {"labels": labels, **_nats(draft)}

    def draft_strings(self, draft: Draft, options: InferenceOptions) -> Tensors:
        """The draft only: labels as strings, uncertainty."""
        return self.named(self.draft_positions(draft, options), draft.mask)

    def _names(self, positions: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        for _ in range(positions.shape.rank - mask.shape.rank):
            mask = tf.expand_dims(mask, -1)
        return tf.where(mask, tf.gather(tf.constant(self.label_names), positions), "")


def _nats(draft: Draft) -> Tensors:
    nats = {"uncertainty": draft.uncertainty, "mutual_information": draft.mutual_information}
    return {name: values for name, values in nats.items() if values is not None}


def _classes_of(outputs: OutputLabels) -> np.ndarray:
    """[L, most] the classes of each label, filled up with C."""
    found = [np.flatnonzero(outputs.of_classes == label) for label in range(len(outputs.names))]
    table = np.full([len(found), max(map(len, found))], len(outputs.of_classes), np.int32)
    for row, classes in zip(table, found, strict=True):
        row[: len(classes)] = classes
    return table
