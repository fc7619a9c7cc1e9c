"""Tags sentences with a TensorFlow Lite file of uanet_tf, without TensorFlow.

Needs NumPy and ai-edge-litert only. ``python export.py --tflite`` writes the file.

Example:

>>> tagger = uanet_lite.Tagger("uanet.tflite")
>>> for sentence in tagger.tag(["Riverton beat Marlow 2-1.", ["Kelton", "lost"]]):
...     print(sentence, sentence.entities)
"""

import importlib
from typing import Any

__version__ = "0.1.0"
__all__ = ["Entity", "InputError", "TaggedSentence", "Tagger", "__version__"]

# Looked up when first used: uanet_tf imports single modules, most of them without NumPy.
_EXPORTS = {
    "Entity": "uanet_lite.tagged_sentence",
    "InputError": "uanet_lite.input_error",
    "TaggedSentence": "uanet_lite.tagged_sentence",
    "Tagger": "uanet_lite.lite_tagger",
}


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'uanet_lite' has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
