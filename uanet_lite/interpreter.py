"""The runtime of TensorFlow Lite files: ai-edge-litert, or TensorFlow where that is installed."""

import contextlib
import os
import pathlib
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from uanet_lite.answers import IN_GRAPHS, tensors
from uanet_lite.input_error import InputError
from uanet_lite.strict_json import shown


class Run(NamedTuple):
    """One interpreter's graph, and the names of its outputs."""

    # From word ids [1, T] and character ids [1, T, W].
    call: Callable[[np.ndarray, np.ndarray], dict[str, np.ndarray]]
    outputs: frozenset[str]


_SIGNATURE = "serving_default"
INPUTS = {"word_ids", "char_ids"}
OUTPUTS = {tensor.lite_name for tensor in tensors(IN_GRAPHS, optional=False).values()}


def make_runner(path: str | os.PathLike[str], content: bytes | None = None) -> Run:
    """An interpreter of the file, for one thread at a time; several share the weights.

    The file is mapped into memory; ``content`` is used in its place.

    Raises:
      InputError: no runtime is installed, or the file is no model with that signature.
    """
    interpreter_class, resolvers, schema = _runtime()
    try:
        read = pathlib.Path(path).read_bytes() if content is None else content
        _check_operations(path, read, schema)
        interpreter = interpreter_class(
            model_path=os.fspath(path) if content is None else None,
            model_content=content,
            num_threads=1,
            # Delegates accept only graphs of fixed sizes, and print a message for each file.
            experimental_op_resolver_type=resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        )
        runner = interpreter.get_signature_runner(_SIGNATURE)
    except InputError:
        raise
    except (ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{path} is not a TensorFlow Lite model of uanet_tf: {reason}") from error
    outputs = set(runner.get_output_details())
    # Answers that this version does not know are left alone, so that a later file can be read.
    if set(runner.get_input_details()) != INPUTS or not outputs >= OUTPUTS:
        raise InputError(f"{path} is a TensorFlow Lite model of other inputs or outputs.")

    def run(word_ids: np.ndarray, char_ids: np.ndarray) -> dict[str, np.ndarray]:
        try:
            return runner(word_ids=word_ids, char_ids=char_ids)
        except RuntimeError as error:
            reason = " ".join(str(error).split())[:120]
            raise InputError(f"{path} does not fit its own vocabulary: {reason}") from error

    return Run(run, frozenset(outputs))


def _check_operations(path: str | os.PathLike[str], content: bytes, schema: Any) -> None:
    """Raises InputError for an operation that is not TensorFlow Lite's own.

    TensorFlow's interpreter runs TensorFlow's operations too, and some of those write files.
    """
    try:
        if not schema.Model.ModelBufferHasIdentifier(content, 0):
            raise ValueError("it is not marked as one")
        model = schema.Model.GetRootAs(content, 0)
        codes = [model.OperatorCodes(k) for k in range(model.OperatorCodesLength())]
        custom = [
            code.CustomCode() or b"?"
            for code in codes
            if code.CustomCode() is not None
            or schema.BuiltinOperator.CUSTOM in (code.BuiltinCode(), code.DeprecatedBuiltinCode())
        ]
    except (struct.error, IndexError, TypeError, OverflowError) as error:
        raise ValueError(f"it is damaged ({error})") from error
    if custom:
        raise InputError(
            f"{path} holds the operation {shown(custom[0].decode('utf-8', 'replace'))}, which is "
            "not one of TensorFlow Lite's: name a file that export.py --tflite wrote."
        )


def _runtime() -> tuple[Any, Any, Any]:
    """The classes ``Interpreter`` and ``OpResolverType``, and the module of the file's format."""
    with contextlib.suppress(ImportError):
        from ai_edge_litert import schema_py_generated
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        return Interpreter, OpResolverType, schema_py_generated
    try:
        import tensorflow as tf
        from tensorflow.lite.python import schema_py_generated
    except ImportError:
        raise InputError(
            "uanet_lite needs the package ai-edge-litert: pip install ai-edge-litert."
        ) from None
    return tf.lite.Interpreter, tf.lite.experimental.OpResolverType, schema_py_generated
