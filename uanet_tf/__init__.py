"""Sequence labelling with an uncertainty per token: UANet (Gui et al., EMNLP 2020) in TensorFlow.

Train, or load what has been trained:

>>> model = uanet_tf.train("train.conll", "dev.conll", run_dir="runs/mine").model
>>> model = uanet_tf.load_model("runs/mine")

Tag text, texts, or sentences that are lists of words:

>>> for sentence in uanet_tf.tag(model, "Riverton beat Marlow 2-1. Nobody was surprised."):
...     print(sentence)  # [ORG Riverton] beat [ORG Marlow] 2-1 .
...     for entity in sentence.entities:
...         print(entity.text, entity.type, entity.start, entity.end, entity.confidence)
...     print(sentence.uncertainty)  # nats, one per token; the gate compares it with Gamma

The model is a Keras model; ``pad`` makes the arrays that it takes:

>>> uanet_tf.labels_of(model.predict(uanet_tf.pad([["Riverton", "beat", "Marlow"]])))
[["B-ORG", "O", "B-ORG"]]

Of Keras' methods ``predict``, ``save``, ``summary`` and those of weights and layers work, and so do
copies; a saved model keeps the options that were set. ``fit``, ``evaluate`` and
``compile(jit_compile=True)`` do not: ``uanet_tf.train`` trains, ``uanet_tf.evaluate`` scores.

Ask a server, TensorFlow Serving's or ``uanet serve``:

>>> with uanet_tf.Client("http://127.0.0.1:8501") as client:
...     client.tag(["Riverton beat Marlow 2-1."])

Everything else has a command: ``uanet`` lists them. Bad input, of a file or an argument, is an
InputError of one sentence. docs/api.md has all of this in one page.
"""

import importlib
import os
from typing import Any

from uanet_tf.tensorflow_stack import choose_keras

__version__ = "0.1.0"

# At its import TensorFlow logs nine lines about missing GPUs; set the level to see them. At level 2
# three "errors" are left (cuDNN, cuFFT, cuBLAS already registered), with or without a GPU.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# TensorFlow takes oneDNN's products by itself only on processors with AVX-512 VNNI; on others they
# are faster too. It is read when TensorFlow is imported.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
choose_keras()

# TensorFlow takes seconds to import, so names are looked up when first used; and modules
# of the package can be imported without it.
_EXPORTS = {
    "Candidate": "uanet_lite.tagged_sentence",
    "Client": "uanet_tf.serving.client",
    "Entity": "uanet_lite.tagged_sentence",
    "Evaluation": "uanet_tf.evaluation.evaluation",
    "Exported": "uanet_tf.exporting.saved_model",
    "InferenceOptions": "uanet_tf.settings",
    "InputError": "uanet_tf.errors",
    "Sentence": "uanet_lite.sentence",
    "TaggedSentence": "uanet_lite.tagged_sentence",
    "TaggedSentences": "uanet_lite.tagged_sentence",
    "TaggedTexts": "uanet_lite.tagged_sentence",
    "TrainedRun": "uanet_tf.training.trained_run",
    "add_part": "uanet_tf.registry",
    "evaluate": "uanet_tf.evaluation.scored_data",
    "export": "uanet_tf.exporting.saved_model",
    "labels_of": "uanet_tf.data.lookup",
    "load_model": "uanet_tf.models.loading",
    "pad": "uanet_tf.data.lookup",
    "read": "uanet_tf.formats.labelled_data",
    "report": "uanet_tf.evaluation.scored_data",
    "tag": "uanet_tf.tagging.streams",
    "tag_stream": "uanet_tf.tagging.streams",
    "train": "uanet_tf.training.trained_run",
}
__all__ = [*_EXPORTS, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'uanet_tf' has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
