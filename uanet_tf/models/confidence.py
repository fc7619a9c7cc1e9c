"""The probability that a label is right, and whether it is enough for a target precision."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from uanet_tf.arguments import ArgumentError, KeepsArguments, check_positive
from uanet_tf.models.results import Decision

# Rows of the map: each of draft and refined labels, inside entities and outside.
ROWS = 4
REFINED = [1, 3]  # rows
# Of a row: of the logit of the label's probability, of u, and the bias.
COLUMNS = 3
# Probabilities of a label, and of all others together, count as at least this.
SMALLEST = 1e-6
OUTSIDE = "O"


class FittedLayer(KeepsArguments, tf.keras.layers.Layer):
    """A layer of float32 weights that training leaves alone: fitted to the development file."""

    def __init__(self, **kwargs: Any):
        super().__init__(**{**kwargs, "dtype": tf.float32, "trainable": False})
        self.changes = 0  # such as a graph that was made before does not follow


class TargetLayer(FittedLayer):
    """A fitted layer with a target, and with thresholds that were found to reach it."""

    def add_target(self, count: int) -> None:
        """Adds the weights: ``count`` thresholds, and the target."""
        self.thresholds = self.add_weight("thresholds", [count], initializer="zeros")
        self.target = self.add_weight("target", [], initializer="zeros")

    @property
    def target_value(self) -> float:
        """The target, in (0, 1); 0: there is none. Also where a graph is being made."""
        with tf.init_scope():
            return float(str(self.target.numpy()))

    def set_target(self, target: float, thresholds: np.ndarray) -> None:
        """Sets the target, 0 for none, and the thresholds; a graph made before gives what it gave.

        ArgumentError, if a value is out of range.
        """
        thresholds = np.asarray(thresholds, np.float32)
        right = thresholds.shape == self.thresholds.shape and (thresholds >= 0).all()
        if not (0.0 <= target < 1.0 and right):
            raise ArgumentError(
                "`target` must be in [0, 1) and `thresholds` "
                f"{self.thresholds.shape[0]} numbers of at least 0. Received: target={target}, "
                f"thresholds={thresholds.tolist()}"
            )
        self.thresholds.assign(thresholds)
        self.target.assign(target)
        self.changes += 1


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class Calibration(FittedLayer):
    """Calibrated confidence of labels [B, T], by a map that was fitted to development data.

        confidence = sigmoid(a log(p / (1 - p)) + b u + c)

    p is the probability of the label under the distribution that decided it, u the entropy of the
    draft. (a, b, c) is a row of the map: one for draft labels, one for refined labels, and of
    each one for labels of entities and one for "O", which is right far more often. No label
    changes. Until a map is set there is none, and the confidence is p. ``classes`` are the labels
    of the model, id = position.

    Call arguments:
      probabilities: [B, T, C], the distribution that each label comes from.
      label_ids: [B, T] int32.
      uncertainty: [B, T] entropy of the draft, nats.
      refined: [B, T] boolean, whether the label is the refiner's.

    Reference:
      Platt, 1999, "Probabilistic Outputs for Support Vector Machines"; the features are ours.
    """

    num_values = ROWS * COLUMNS + 1  # of all weights

    def __init__(self, classes: Sequence[str], **kwargs: Any):
        super().__init__(**kwargs)
        self.classes = list(classes)
        self._outside = tf.constant([2 * int(name == OUTSIDE) for name in classes], tf.int32)
        self.map = self.add_weight("map", [ROWS, COLUMNS], initializer="zeros")
        self.was_fitted = self.add_weight("was_fitted", [], initializer="zeros")
        self.is_awaited = False

    @property
    def is_fitted(self) -> bool:
        """Whether there is a map; also where a graph is being made."""
        with tf.init_scope():
            return bool(self.was_fitted.numpy())

    @property
    def applies(self) -> bool:
        """Whether a graph that is made now has a use for a map."""
        return self.is_awaited or self.is_fitted

    def await_map(self) -> None:
        """Graphs that are made from now on follow a map that is set later.

        Training makes one graph less by it: until there is a map, the confidence is p.
        """
        self.is_awaited = True
        self.changes += 1

    def set_map(self, rows: np.ndarray) -> None:
        """Sets the map, [4, 3] finite numbers, or raises ArgumentError.

        A graph that did not await one does without it.
        """
        rows = np.asarray(rows, np.float32)
        if rows.shape != (ROWS, COLUMNS) or not np.isfinite(rows).all():
            raise ArgumentError(
                f"`rows` must be [{ROWS}, {COLUMNS}] finite numbers. Received: {rows.tolist()}"
            )
        self.map.assign(rows)
        self.was_fitted.assign(1.0)
        self.changes += not self.is_awaited

    def confidence(self, decision: Decision) -> tf.Tensor:
        """[B, T], calibrated confidence of the labels; any value at padding."""
        draft, refined = decision.draft, decision.refined
        if refined is None:
            refined = decision.label_ids < 0  # nowhere
        return self(decision.probabilities, decision.label_ids, draft.uncertainty, refined)

    def call(self, probabilities, label_ids, uncertainty, refined):
        label_ids = tf.convert_to_tensor(label_ids)
        chosen = tf.one_hot(label_ids, len(self.classes), on_value=True, off_value=False)
        p = tf.gather(probabilities, label_ids, batch_dims=label_ids.shape.rank)
        # Summed, and not 1 - p: near 1 that has no more than a digit or two.
        others = tf.reduce_sum(tf.where(chosen, 0.0, probabilities), axis=-1)
        logit = tf.math.log(tf.maximum(p, SMALLEST)) - tf.math.log(tf.maximum(others, SMALLEST))
        row = tf.cast(refined, tf.int32) + tf.gather(self._outside, label_ids)
        # A table for each: slices of rows [B, T, 3] would be copies.
        a, b, c = (tf.gather(self.map[:, column], row) for column in range(COLUMNS))
        sure = tf.sigmoid(a * logit + b * uncertainty + c)
        return tf.where(self.was_fitted > 0.0, sure, p) if self.is_awaited else sure


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class Acceptance(TargetLayer):
    """Accepts labels by their calibrated confidence, from the threshold of their class on.

    An entity is as sure as its least sure token. So it is accepted if all its tokens are, and no
    entity has to be found in the graph. The thresholds come from ``metrics.target_precision``. A
    call takes the confidence [B, T] and label ids [B, T] int32, and gives [B, T] boolean.
    """

    def __init__(self, num_classes: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.num_classes = check_positive("num_classes", num_classes)
        self.add_target(num_classes)

    def call(self, confidence, label_ids):
        return confidence >= tf.gather(self.thresholds, label_ids)
