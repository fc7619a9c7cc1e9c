"""The operations of a TensorFlow Lite file that are not TensorFlow Lite's own."""

import pathlib
import struct

from tensorflow.lite.python import schema_py_generated as schema


def custom_operations(path: pathlib.Path) -> list[str]:
    """The custom operations of a file.

    Where TensorFlow is installed its interpreter runs TensorFlow's operations too, as custom ones
    ("Select TF ops"), and some of them read and write files. Call this before an
    interpreter is made, since making one prepares them.

    Raises:
      ValueError: the file is not a model.
    """
    content = path.read_bytes()
    try:
        if not schema.Model.ModelBufferHasIdentifier(content, 0):
            raise ValueError("it is not marked as one")
        model = schema.Model.GetRootAs(content, 0)
        codes = [model.OperatorCodes(k) for k in range(model.OperatorCodesLength())]
        return [
            (code.CustomCode() or b"?").decode("utf-8", "replace")
            for code in codes
            if code.CustomCode() is not None or _number(code) == schema.BuiltinOperator.CUSTOM
        ]
    except (struct.error, IndexError, TypeError, OverflowError) as error:
        raise ValueError(f"it is damaged ({error})") from error


def _number(code: schema.OperatorCode) -> int:
    """As the runtime reads it: newer files have it in another field than older ones."""
    return max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
