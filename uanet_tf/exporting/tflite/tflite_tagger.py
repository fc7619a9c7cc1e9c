"""Tags strings with a TensorFlow Lite file, and defines the files that this needs."""

import dataclasses
import json
import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from uanet_lite import answers
from uanet_lite.strict_json import shown
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.data.lookup import TokenLookup
from uanet_tf.data.vocabulary import FIRST_ID, PADDING_ID, UNKNOWN_ID
from uanet_tf.errors import InputError
from uanet_tf.exporting.signatures import DEFAULT
from uanet_tf.exporting.tflite.custom_operations import custom_operations
from uanet_tf.exporting.tflite.stored_files import (
    FORMAT,
    SETTINGS,
    StoredFiles,
    read_stored_files,
)
from uanet_tf.exporting.vocabulary_files import WORDS, write_vocabulary_files
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.graphs import graph_function

_TENSORS = answers.tensors(answers.IN_GRAPHS)


def tagger_files(model: Tagger, precision: str) -> dict[str, bytes]:
    """The files that a ``TFLiteTagger`` of the model needs, {name: content}.

    ``settings.json`` defines how tokens become ids and what the labels mean, ``labels.txt`` holds
    label k in line k, ``words.txt`` and ``chars.txt`` the symbol of id k + 2 in line k (from 0),
    see ``write_vocabulary_files``. If a line cannot hold some word, the settings hold all words.
    """
    with tempfile.TemporaryDirectory(prefix="uanet_tf_") as folder:
        paths = write_vocabulary_files(model, pathlib.Path(folder))
        files = {path.name: path.read_bytes() for path in paths}
    settings = _settings(model, precision)
    if WORDS not in files:
        settings["words"] = list(model.vocabulary.words)
    text = json.dumps(settings, ensure_ascii=False, indent=1)
    return {SETTINGS: text.encode() + b"\n", **files}


def _settings(model: Tagger, precision: str) -> dict[str, Any]:
    data, parts = model.settings.data, model.settings
    return {
        "format": FORMAT,
        "precision": precision,
        "representation": parts.representation.representation,
        "encoder": parts.encoder.encoder,
        "decoder": parts.decoder.decoder,
        **dataclasses.asdict(model.options),
        "threshold": model.threshold,
        "label_scheme": model.label_scheme,
        "max_tokens": model.max_tokens,
        "token_column": data.token_column,
        "tokenizer": model.tokenizer.to_dict(),
        "normalize_digits": data.normalize_digits,
        "lowercase_words": data.lowercase_words,
        "max_chars": data.max_chars,
        "padding_id": PADDING_ID,
        "unknown_id": UNKNOWN_ID,
        "first_id": FIRST_ID,
    }


class TFLiteTagger:
    """A TensorFlow Lite file of ``export.py --tflite`` as a model for ``uanet_tf.tag``.

    Tokens become ids by the same ``TokenLookup`` as in training; all else is done by the
    TensorFlow Lite interpreter, one sentence after another.

    Args:
      path: the file.
      num_threads: of the interpreter.

    Attributes:
      settings: content of the file's settings.json.
      threshold: Gamma, nats; a part of the graph. None: there is no gate.
      label_names: labels, in the scheme of the training file.
      label_scheme: their tag scheme; None for labels of single tokens.
      max_tokens: longest sentence read in one piece.
      tokenizer: cuts raw text as the training data were cut.
      context: what is read in one piece, always one sentence.
      optional_answers: the optional ones of ``uanet_lite.answers`` that it gives.

    Raises:
      InputError: the file is missing, or was not written by ``export.py --tflite``.

    Example:

    >>> tagger = TFLiteTagger("uanet.tflite")
    >>> uanet_tf.tag(tagger, [["Chelsea", "beat", "Real", "Madrid"]])
    """

    thread_safe = False  # there is one interpreter
    num_passes = 1  # it reads sentence by sentence: batches change nothing

    def __init__(self, path: str | os.PathLike, *, num_threads: int = 1):
        path = pathlib.Path(path)
        files = read_stored_files(path)
        self.settings = files.settings
        self.threshold: float | None = self.settings["threshold"]
        self.label_scheme: str | None = self.settings["label_scheme"]
        self.max_tokens: int = self.settings["max_tokens"]
        self.tokenizer = Tokenizer.from_dict(self.settings["tokenizer"])
        self.context = self.refiner_context = "sentence"
        self.label_names = files.labels
        self._ids = _make_lookup(files)
        self._path = path
        self._run = _make_runner(path, num_threads)
        outputs = self._run.get_output_details()
        self._tensors = {name: each for name, each in _TENSORS.items() if each.lite_name in outputs}
        self.optional_answers = tuple(
            answer.name
            for answer in answers.answers(answers.IN_TEXT, optional=True)
            if answer.tensors[0].name in self._tensors
        )

    def ids(self, tokens: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Word ids [N] and character ids [N, W] of N tokens, int32."""
        word_ids, char_ids = self._ids(tf.constant(tokens, tf.string))
        return word_ids.numpy(), char_ids.numpy()

    def run(self, word_ids: np.ndarray, char_ids: np.ndarray) -> dict[str, np.ndarray]:
        """Calls the graph with [1, T] word ids and [1, T, W] character ids; see ``convert``.

        Raises:
          ValueError: the ids have another shape; the runtime would take the first row of several.
          RuntimeError: an id does not exist.
        """
        if word_ids.shape != (1, *word_ids.shape[1:2]) or char_ids.shape[:-1] != word_ids.shape:
            raise ValueError(
                "`word_ids` must be [1, T] and `char_ids` [1, T, W]. "
                f"Received: {list(word_ids.shape)} and {list(char_ids.shape)}"
            )
        return self._run(word_ids=word_ids, char_ids=char_ids)

    def tag_batch(self, tokens: np.ndarray, lengths: np.ndarray) -> dict[str, np.ndarray]:
        """Tags [B, T] padded tokens; labels are positions in ``label_names``, 0 at padding."""
        mask = np.arange(tokens.shape[1]) < lengths[:, np.newaxis]  # [B, T]
        word_ids, char_ids = self.ids(tokens[mask].tolist())
        found: dict[str, np.ndarray] = {}
        end = 0
        for row, length in enumerate(lengths):
            start, end = end, end + int(length)
            if start == end:
                continue
            chars = char_ids[start:end]
            width = max(1, np.count_nonzero(chars, axis=1).max())  # of this sentence
            outputs = self.run(word_ids[np.newaxis, start:end], chars[np.newaxis, :, :width])
            self._check_labels(outputs)
            for name, tensor in self._tensors.items():
                (values,) = outputs[tensor.lite_name]
                padded = np.zeros([*mask.shape, *values.shape[1:]], tensor.kind.array)
                found.setdefault(name, padded)[row, :length] = values
        return found

    def _check_labels(self, outputs: Mapping[str, np.ndarray]) -> None:
        """Raises InputError for labels that have no name."""
        for tensor in self._tensors.values():
            if tensor.kind is not answers.LABEL:
                continue
            ids = outputs[tensor.lite_name]
            if ids.min() < 0 or ids.max() >= len(self.label_names):
                raise InputError(
                    f"{self._path} is damaged: its graph answers the label {ids.max()}, and there "
                    f"are {len(self.label_names)}."
                )


def _make_lookup(files: StoredFiles) -> Any:
    lookup = TokenLookup(
        files.words,
        files.chars,
        normalize_digits=files.settings["normalize_digits"],
        lowercase_words=files.settings["lowercase_words"],
        max_chars=files.settings["max_chars"],
    )
    # A closure keeps the lookup's tables alive.
    return graph_function([tf.TensorSpec([None], tf.string)])(lambda tokens: lookup(tokens))


def _make_runner(path: pathlib.Path, num_threads: int) -> Any:
    try:
        foreign = custom_operations(path)
        if foreign:
            raise InputError(
                f"{path} holds the operation {shown(foreign[0])}, which is not one of TensorFlow "
                "Lite's: name a file that export.py --tflite wrote."
            )
        interpreter = tf.lite.Interpreter(
            model_path=str(path),
            num_threads=num_threads,
            # Delegates accept only graphs of fixed sizes, and print a message for each file.
            experimental_op_resolver_type=(
                tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
            ),
        )
        # The runner reads tensors of the interpreter, and keeps it.
        return interpreter.get_signature_runner(DEFAULT)
    except InputError:
        raise
    except ValueError as error:
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{path} is not a TensorFlow Lite model: {reason}") from error
