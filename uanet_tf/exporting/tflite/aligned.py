"""A TensorFlow Lite model as bytes, with weights where the processor reads them fast."""

from typing import Any

import flatbuffers
import numpy as np

_IDENTIFIER = b"TFL3"
# Bytes. The schema asks for 16; the runtime reads weights where they stand in the file, and wide
# registers take longer across the border of a cache line.
_LEAST, _ALIGNMENT = 16, 64
_LARGE = 1024  # and so worth some bytes more


def aligned_model(tree: Any) -> bytes:
    """The bytes of a model, whose large arrays start at multiples of 64 bytes.

    So are their addresses, where the file is mapped, as by ``model_path`` of an interpreter.
    ``flatbuffer_utils`` of TensorFlow writes them at multiples of 4.

    Args:
      tree: a ``ModelT``.
    """
    builder = _AlignedBuilder(1024)
    builder.Finish(tree.Pack(builder), file_identifier=_IDENTIFIER)
    return bytes(builder.Output())


class _AlignedBuilder(flatbuffers.Builder):
    def CreateNumpyVector(self, x: np.ndarray) -> int:
        self.Prep(_ALIGNMENT if x.nbytes >= _LARGE else _LEAST, x.nbytes)
        return super().CreateNumpyVector(x)
