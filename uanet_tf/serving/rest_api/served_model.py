"""What the server asks of a version of a model, whatever it is made of."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from uanet_tf.serving.rest_api.model_monitor import ModelMonitor

DEFAULT_SIGNATURE = "serving_default"


class ServedModel(Protocol):
    """One version of a model, ready to answer: a ``LoadedModel`` or a ``LiteModel``.

    Attributes:
      platform: its kind, for the Open Inference Protocol.
      metadata: {signature: its inputs and outputs}, as TF Serving's REST API gives them.
      gamma: nats; None: it has no gate, or says nothing of it.
      monitor: compares requests with development data; None: there are none to compare with.
    """

    platform: str
    metadata: dict[str, Any]
    gamma: float | None
    monitor: ModelMonitor | None

    def input_types(self, signature: str) -> dict[str, str]:
        """Types of a signature's inputs by name, see ``tensor_types``; "" is the default.

        Raises:
          RestError: 400, no such signature, or one without inputs.
        """

    def method(self, signature: str) -> str:
        """Method of a signature: "tensorflow/serving/predict", ..."""

    def predict(self, signature: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Runs a signature; may be called from several threads at once.

        Args:
          signature: its name, "" for the default.
          inputs: an array for each of its inputs; strings are arrays of bytes objects.

        Returns:
          {output: array}.

        Raises:
          RestError: what is wrong with the inputs, with the HTTP code for it.
        """

    def close(self) -> None:
        """Gives the memory back; no request may be running, or come later."""
