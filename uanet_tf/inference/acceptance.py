"""Marks the labels that are sure enough for a target precision."""

from typing import Any

import numpy as np
import tensorflow as tf

from uanet_tf.arguments import check_positive
from uanet_tf.errors import ArgumentError
from uanet_tf.inference.fitted_layer import FittedLayer


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class Acceptance(FittedLayer):
    """Accepts labels by their calibrated confidence, from the threshold of their class on.

    An entity is as sure as its least sure token. So it is accepted if all its tokens are, and no
    entity has to be found in the graph. The thresholds come from
    ``calibration.target_precision``.

    Args:
      num_classes: number C of labels.

    Call arguments:
      confidence: [B, T], calibrated.
      label_ids: [B, T] int32.

    Returns:
      [B, T] boolean.
    """

    def __init__(self, num_classes: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.num_classes = check_positive("num_classes", num_classes)
        self.thresholds = self.add_weight("thresholds", [num_classes], initializer="zeros")
        self.target = self.add_weight("target", [], initializer="zeros")

    @property
    def target_precision(self) -> float:
        """The target, in (0, 1); 0: there is none. Also where a graph is being made."""
        with tf.init_scope():
            return float(str(self.target.numpy()))

    def set_target(self, target: float, thresholds: np.ndarray) -> None:
        """Sets the target and the confidence [C] from which labels of each class are accepted.

        A target of 0 means that there is none. A graph made before gives what it gave.

        Raises:
          ArgumentError: a value is out of range.
        """
        thresholds = np.asarray(thresholds, np.float32)
        right = thresholds.shape == (self.num_classes,) and (thresholds >= 0).all()
        if not (0.0 <= target < 1.0 and right):
            raise ArgumentError(
                "`target` must be in [0, 1) and `thresholds` one number of at least 0 for each "
                f"class. Received: target={target}, thresholds={thresholds.tolist()}"
            )
        self.thresholds.assign(thresholds)
        self.target.assign(target)

    def call(self, confidence, label_ids):
        return confidence >= tf.gather(self.thresholds, label_ids)

    def get_config(self):
        return {**super().get_config(), "num_classes": self.num_classes}
