"""Types of tensors by TensorFlow's names of them: "string", "bool", "int32", "float32", ..."""

import numpy as np

STRING, BOOL = "string", "bool"
FLOATS = ("float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
# Where the name in a protocol buffer is another one.
_PROTO = {"DT_HALF": "float16", "DT_FLOAT": "float32", "DT_DOUBLE": "float64"}


def numpy_type(name: str) -> np.dtype:
    """NumPy's type of arrays with such values; strings are bytes objects.

    Types that NumPy does not have are those of objects.
    """
    try:
        return np.dtype(object if name == STRING else name)
    except TypeError:
        return np.dtype(object)


def type_name(dtype: np.dtype) -> str:
    """The name of an array's type."""
    return STRING if dtype.kind == "O" else dtype.name


def from_proto(name: str) -> str:
    """The type that a signature's metadata names: "DT_FLOAT" is "float32"."""
    return _PROTO.get(name, name.removeprefix("DT_").lower())
