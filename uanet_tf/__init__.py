"""Sequence labelling with uncertainty: UANet (Gui et al., EMNLP 2020) in TensorFlow.

Example:

>>> model = uanet_tf.load_model("runs/demo")
>>> for sentence in uanet_tf.tag(model, [["Riverton", "beat", "Marlow", "2-1", "."]]):
...     print(sentence)
"""

from typing import Any

__version__ = "0.1.0"
__all__ = ["InputError", "TaggedSentence", "__version__", "load_model", "tag", "tag_stream"]

# TensorFlow takes seconds to import, so names are looked up when first used; and modules
# of the package can be imported without it.
_EXPORTS = {
    "InputError": "uanet_tf.errors",
    "TaggedSentence": "uanet_tf.tagging.tagged_sentence",
    "load_model": "uanet_tf.models.loading",
    "tag": "uanet_tf.tagging.tag",
    "tag_stream": "uanet_tf.tagging.sentence_stream",
}


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'uanet_tf' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
