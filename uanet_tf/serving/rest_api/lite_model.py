"""A TensorFlow Lite file as a version of a model: ``uanet_lite`` runs it, without TensorFlow."""

import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from uanet_lite import answers
from uanet_lite.lite_tagger import Tagger
from uanet_lite.tagged_sentence import Entity, TaggedSentence
from uanet_tf.errors import InputError
from uanet_tf.files.checksums import check_checksums
from uanet_tf.serving.rest_api.model_config import lite_files
from uanet_tf.serving.rest_api.rest_error import RestError, bad_request
from uanet_tf.serving.rest_api.served_model import DEFAULT_SIGNATURE, from_proto, numpy_type

_METHOD = "tensorflow/serving/predict"
_STRING, _INT, _FLOAT, _BOOL = "DT_STRING", "DT_INT32", "DT_FLOAT", "DT_BOOL"
# {name: (type, rank)}: [B, T] and [B], as in the signatures of a SavedModel.
_TOKEN_INPUTS = {"tokens": (_STRING, 2), "lengths": (_INT, 1)}
_TEXT_INPUTS = {"text": (_STRING, 1)}
_TYPES = {
    answers.LABEL: _STRING,
    answers.TEXT: _STRING,
    answers.NUMBER: _FLOAT,
    answers.BOOLEAN: _BOOL,
    answers.POSITION: _INT,
}
_TEXT_OUTPUTS = {
    **{place.name: (_TYPES[place.kind], 2) for place in answers.TOKEN_PLACES},
    "lengths": (_INT, 1),
}
_ENTITIES = "entities"


class LiteModel:
    """One version of a model that is a TensorFlow Lite file, ready to answer.

    Its signatures are ``serving_default``, of tokens or of texts, and ``entities`` of texts, with
    the inputs and outputs of an exported SavedModel. The file is read once: later changes of it do
    not matter.

    Args:
      path: directory that holds the file, which ``export --tflite`` wrote.
      text: it takes texts; else tokens and lengths.
      threads: sentences of a request that are tagged at the same time.

    Raises:
      InputError: there is no such file, or more than one; it is damaged; or its runtime is missing.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, text: bool = False, threads: int = 1
    ) -> None:
        self.path = os.fspath(path)
        check_checksums(pathlib.Path(path))
        self._text = text
        self._tagger = _load(self.path, threads)
        self.gamma: float | None = self._tagger.threshold
        try:
            # The first call takes longest; a graph that does not run is found here.
            (tagged,) = self._tag([["."]])
        except RestError as error:
            raise InputError(f"{self.path}: {error.message}") from None
        self._inputs = _TEXT_INPUTS if text else _TOKEN_INPUTS
        tensors, found = answers.tensors(answers.IN_GRAPHS), answers.to_tensors(tagged)
        outputs = {
            **{name: (_TYPES[tensors[name].kind], len(tensors[name].axes)) for name in found},
            **(_TEXT_OUTPUTS if text else {}),
        }
        # Of each signature.
        self._outputs = {DEFAULT_SIGNATURE: outputs}
        if text and self._tagger.label_scheme is not None:
            self._outputs[_ENTITIES] = _entity_outputs(tagged)
        # Of the values of one token: none but where it has several.
        self._shapes = {name: np.shape(values)[1:] for name, values in found.items()}
        self.metadata: dict[str, Any] = {
            signature: {
                "inputs": _about(self._inputs),
                "outputs": _about(outputs),
                "method_name": _METHOD,
                "defaults": {},
            }
            for signature, outputs in self._outputs.items()
        }

    def input_types(self, signature: str) -> dict[str, str]:
        """See ``ServedModel``."""
        self.method(signature)
        return {name: from_proto(kind) for name, (kind, _) in sorted(self._inputs.items())}

    def method(self, signature: str) -> str:
        """See ``ServedModel``."""
        if signature and signature not in self._outputs:
            raise bad_request(
                f'Serving signature name: "{signature}" not found: a TensorFlow Lite file has '
                f"{' and '.join(self._outputs)} alone, with the Gamma that it was exported with."
            )
        return _METHOD

    def predict(self, signature: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Tags ``tokens`` [B, T], of ``lengths`` [B], or ``text`` [B]; see ``ServedModel``.

        The signature "" is ``serving_default``. The outputs are [B, T]; "", 0 and false beyond the
        lengths. For texts also ``tokens``, ``starts`` and ``ends`` [B, T], and ``lengths`` [B].
        Those of ``entities`` are [B, E], ``count`` [B].
        """
        self.method(signature)
        if self._text:
            texts = inputs["text"]
            if texts.ndim != 1:
                raise bad_request(f"text must be [B]. Received: {list(texts.shape)}")
            tagged = self._tag([_text(text, f"text[{row}]") for row, text in enumerate(texts)])
            if signature == _ENTITIES:
                width = max((len(each.entities) for each in tagged), default=0)
                return self._stacked(signature, map(_entity_row, tagged), len(tagged), width)
            width = max(map(len, tagged), default=0)
        else:
            tagged = self._tag(_words(inputs["tokens"], inputs["lengths"]))
            width = inputs["tokens"].shape[1]
        return self._stacked(DEFAULT_SIGNATURE, map(_row, tagged), len(tagged), width)

    def _tag(self, sentences: Sequence[str | list[str]]) -> list[TaggedSentence]:
        try:
            return list(self._tagger.tag_stream(sentences))
        except InputError as error:
            raise bad_request(str(error)) from None

    def _stacked(
        self, signature: str, rows: Iterable[dict[str, Any]], count: int, width: int
    ) -> dict[str, np.ndarray]:
        """The outputs of a signature for ``count`` sentences, padded to [B, width]."""
        stacked = {}
        outputs = sorted(self._outputs[signature].items())
        for name, (kind, rank) in outputs:
            shape = (count, width, *self._shapes.get(name, ()))[:rank]
            dtype = numpy_type(from_proto(kind))
            stacked[name] = (
                np.full(shape, b"", dtype) if kind == _STRING else np.zeros(shape, dtype)
            )
        for number, row in enumerate(rows):
            for name, (kind, rank) in outputs:
                values = _encoded(row[name]) if kind == _STRING else row[name]
                if rank == 1:
                    stacked[name][number] = values
                else:
                    stacked[name][number, : len(values)] = values
        return stacked


def _row(tagged: TaggedSentence) -> dict[str, Any]:
    """The outputs of one sentence."""
    return {
        **answers.to_tensors(tagged),
        "tokens": tagged.tokens,
        "starts": tagged.starts,
        "ends": tagged.ends,
        "lengths": len(tagged),
    }


def _entity_outputs(tagged: TaggedSentence) -> dict[str, tuple[str, int]]:
    """Those of ``entities``: the scores are those that the tagger's tokens have."""
    scores = [each for each in answers.ENTITY_SCORES if getattr(tagged, each.name) is not None]
    return {
        **{each.name: (_TYPES[each.kind], 2) for each in (*answers.ENTITY_PLACES, *scores)},
        "count": (_INT, 1),
    }


def _entity_row(tagged: TaggedSentence) -> dict[str, Any]:
    """The entities of one sentence, a list for each output."""
    fields = enumerate(Entity._fields)
    columns = {name: [entity[place] for entity in tagged.entities] for place, name in fields}
    return {**columns, "count": len(tagged.entities)}


def _encoded(values: Any) -> Any:
    """Texts, in lists or not, in UTF-8."""
    return values.encode() if isinstance(values, str) else [_encoded(each) for each in values]


def _load(path: str, threads: int) -> Tagger:
    """The tagger of the one file of a directory, which is read into memory."""
    try:
        files = lite_files(path)
        if len(files) != 1:
            raise InputError(f"{path}: must hold one .tflite file. Found: {len(files)}.")
        content = pathlib.Path(files[0]).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None
    return Tagger(files[0], threads=threads, content=content)


def _about(tensors: Mapping[str, tuple[str, int]]) -> dict[str, Any]:
    """Tensors of a signature as the metadata has them."""
    return {
        name: {
            "name": name,
            "dtype": kind,
            "tensor_shape": {"dim": [{"size": "-1", "name": ""}] * rank, "unknown_rank": False},
        }
        for name, (kind, rank) in sorted(tensors.items())
    }


def _words(tokens: np.ndarray, lengths: np.ndarray) -> list[list[str]]:
    """The words of each sentence, without padding."""
    if tokens.ndim != 2 or lengths.shape != tokens.shape[:1]:
        raise bad_request(
            "tokens must be [B, T] and lengths [B]. "
            f"Received: {list(tokens.shape)} and {list(lengths.shape)}"
        )
    if lengths.size and lengths.min() < 0:
        raise bad_request("A length is negative.")
    if lengths.size and lengths.max() > tokens.shape[1]:
        raise bad_request("A length is beyond the width of tokens.")
    return [
        [_text(token, f"tokens[{row}]") for token in tokens[row, :length]]
        for row, length in enumerate(lengths.tolist())
    ]


def _text(value: bytes, name: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise bad_request(f"{name} is not valid UTF-8: {value!r:.60}") from None
