"""What the server asks of a version of a model, whatever it is made of."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

DEFAULT_SIGNATURE = "serving_default"
# Types of tensors by TensorFlow's names: "string", "bool", "int32", "float32", ...
STRING, BOOL = "string", "bool"
FLOATS = ("float32", "float64")
# Where the name in a protocol buffer is another one.
_PROTO = {"DT_HALF": "float16", "DT_FLOAT": "float32", "DT_DOUBLE": "float64"}


class ServedModel(Protocol):
    """One version of a model, ready to answer: a ``LoadedModel`` or a ``LiteModel``.

    Attributes:
      metadata: {signature: its inputs and outputs}, as TF Serving's REST API gives them.
      gamma: nats; None: it has no gate, or says nothing of it.
    """

    metadata: dict[str, Any]
    gamma: float | None

    def input_types(self, signature: str) -> dict[str, str]:
        """Types of a signature's inputs by name, see ``numpy_type``; "" is the default.

        Raises:
          RestError: 400, no such signature, or one without inputs.
        """

    def method(self, signature: str) -> str:
        """Method of a signature: "tensorflow/serving/predict", ..."""

    def predict(self, signature: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Runs a signature ("": the default); may be called from several threads at once.

        Both sides are arrays by name, strings arrays of bytes objects. RestError: what is wrong
        with the inputs, with the HTTP code for it.
        """


def numpy_type(name: str) -> np.dtype:
    """NumPy's type of arrays with such values; objects for strings and what NumPy does not have."""
    try:
        return np.dtype(object if name == STRING else name)
    except TypeError:
        return np.dtype(object)


def from_proto(name: str) -> str:
    """The type that a signature's metadata names: "DT_FLOAT" is "float32"."""
    return _PROTO.get(name, name.removeprefix("DT_").lower())
