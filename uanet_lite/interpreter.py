"""The runtime of TensorFlow Lite files: ai-edge-litert, or TensorFlow where that is installed."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from uanet_lite.errors import InputError

Run = Callable[[np.ndarray, np.ndarray], dict[str, np.ndarray]]
_SIGNATURE = "serving_default"
INPUTS = {"word_ids", "char_ids"}
OUTPUTS = {
    "label_ids",
    "draft_label_ids",
    "refined_label_ids",
    "uncertainty",
    "confidence",
    "refined",
}


def make_runner(path: str | os.PathLike[str]) -> Run:
    """A function from word ids [1, T] and character ids [1, T, W] to the graph's outputs.

    The function is for one thread at a time. The file is mapped, so several runners of one file
    share its weights.

    Raises:
      InputError: no runtime is installed, or the file is no model with that signature.
    """
    interpreter_class, resolvers = _runtime()
    try:
        interpreter = interpreter_class(
            model_path=os.fspath(path),
            num_threads=1,
            # Delegates take graphs of fixed sizes only, and say so for each file.
            experimental_op_resolver_type=resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        )
        runner = interpreter.get_signature_runner(_SIGNATURE)
    except (ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{path} is not a TensorFlow Lite model of uanet_tf: {reason}") from error
    if set(runner.get_input_details()) != INPUTS or set(runner.get_output_details()) != OUTPUTS:
        raise InputError(f"{path} is a TensorFlow Lite model of other inputs or outputs.")

    def run(word_ids: np.ndarray, char_ids: np.ndarray) -> dict[str, np.ndarray]:
        try:
            return runner(word_ids=word_ids, char_ids=char_ids)
        except RuntimeError as error:
            reason = " ".join(str(error).split())[:120]
            raise InputError(f"{path} does not fit its own vocabulary: {reason}") from error

    return run


def _runtime() -> tuple[Any, Any]:
    """The classes ``Interpreter`` and ``OpResolverType``."""
    try:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
    except ImportError:
        pass
    else:
        return Interpreter, OpResolverType
    try:
        import tensorflow as tf
    except ImportError:
        raise InputError(
            "uanet_lite needs the package ai-edge-litert: pip install ai-edge-litert."
        ) from None
    return tf.lite.Interpreter, tf.lite.experimental.OpResolverType
