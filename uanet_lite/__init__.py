"""Tags sentences with a TensorFlow Lite file of uanet_tf, without TensorFlow.

Needs NumPy and ai-edge-litert only. ``python export.py --tflite`` writes the file.

Example:

>>> tagger = uanet_lite.Tagger("uanet.tflite")
>>> for sentence in tagger.tag(["Riverton beat Marlow 2-1.", ["Kelton", "lost"]]):
...     print(sentence, sentence.entities)
"""

from uanet_lite.errors import InputError
from uanet_lite.tagged_sentence import Entity, TaggedSentence
from uanet_lite.tagger import Tagger

__version__ = "0.1.0"
__all__ = ["Entity", "InputError", "TaggedSentence", "Tagger", "__version__"]
