"""From a decision to the outputs: labels in the scheme of the user's files."""

from collections.abc import Sequence

import tensorflow as tf

from uanet_lite.answers import LABEL, tensors
from uanet_tf.models.labels import OutputLabels
from uanet_tf.models.results import Decision, Draft
from uanet_tf.ops.masking import keep
from uanet_tf.settings import InferenceOptions

Tensors = dict[str, tf.Tensor]


class Answers:
    """The outputs of calls and signatures.

    Every tagger answers under the same names, so that one client reads them all. Without a refiner
    all labels are the draft's, and ``refined`` is False.

    Args:
      classes: labels of the model, id = position.
      scheme: tag scheme of the output; None: labels of single tokens.
    """

    def __init__(self, classes: Sequence[str], scheme: str | None):
        self._outputs = OutputLabels(classes, scheme)

    @property
    def label_names(self) -> list[str]:
        """Output labels."""
        return self._outputs.names

    def positions(self, decision: Decision, options: InferenceOptions) -> Tensors:
        """Labels as positions in ``label_names``, and their scores; 0 at padding.

        Args:
          decision: for a batch.
          options: that it was made with.

        Returns:
          The outputs of ``uanet_lite.answers`` that the options and the decision have.
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
            "refined": tf.zeros_like(mask) if refined is None else refined,
        }
        if decision.accepted is not None:
            answers["accepted"] = keep(mask, decision.accepted, False)
        if options.return_probabilities:
            kept = tf.expand_dims(mask, -1)
            answers["probabilities"] = tf.where(kept, decision.probabilities, 0.0)
        return answers

    def _positions(
        self, label_ids: Sequence[tf.Tensor], mask: tf.Tensor, options: InferenceOptions
    ) -> list[tf.Tensor]:
        """Positions of K label sequences of the same sentences, K times [B, T]."""
        if options.valid_labels:
            return [self._outputs(ids, mask, are_valid=True) for ids in label_ids]
        count = len(label_ids)
        found = self._outputs(tf.concat(label_ids, axis=0), tf.tile(mask, [count, 1]))
        return tf.split(found, count, axis=0)

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
    if draft.mutual_information is None:
        return {"uncertainty": draft.uncertainty}
    return {"uncertainty": draft.uncertainty, "mutual_information": draft.mutual_information}
