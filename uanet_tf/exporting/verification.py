"""Checks, before anyone is served, that an exported model's answers equal the run's model's."""

import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from uanet_lite import answers
from uanet_tf.exporting.sample_inputs import pad, pad_documents, sample_sentences
from uanet_tf.exporting.saved_graph import PYTHON_OPERATIONS, foreign_operations
from uanet_tf.exporting.signatures import DEFAULT, DOCUMENT, ENTITIES, LENGTHS, TOKENS
from uanet_tf.models.outputs import Tensors
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.graphs import graph_function

TOLERANCE = 1e-5  # nats and probability
_TEXT_OUTPUTS = {*(place.name for place in answers.TOKEN_PLACES), "lengths"}
_OF_DRAFT = [tensor.name for row in answers.TOKEN_ANSWERS if row.of_draft for tensor in row.tensors]
Arrays = Mapping[str, np.ndarray]
Answer = Callable[[Arrays], dict[str, np.ndarray]]


class ExportMismatchError(RuntimeError):
    """An exported model's answers differ from those of the model that it was made from."""


def verify_tokens(
    model: Tagger,
    path: pathlib.Path,
    requests: Iterable[tuple[str, Arrays]],
    answer: Answer | None = None,
) -> Any:
    """Loads an exported model, compares its signatures with the run's model, and gives it.

    Sample sentences are tagged all together, in another order under more padding, one by itself, an
    empty one, and none: labels must be the same, uncertainty and confidence within ``TOLERANCE``.

    Args:
      model: the run's model, with its own tables.
      path: the SavedModel.
      requests: (signature, inputs) that it must answer.
      answer: ``reference(model)``, where it is made already.

    Raises:
      ExportMismatchError: an answer differs; names signature and output.
    """
    loaded, answer = _load(path), answer or reference(model)
    sentences = sample_sentences(model.vocabulary)
    moved = pad([*sentences[::-1], sentences[3]])
    moved["tokens"] = np.pad(moved["tokens"], [(0, 0), (0, 3)], constant_values="zzz")
    batches = [pad(sentences), moved, pad(sentences[4:5]), pad([[], sentences[2]]), pad([[]])]
    for inputs in batches:
        expected = answer(inputs)
        compare(ask(loaded, DEFAULT, inputs), expected, DEFAULT)
        if model.gate is not None:
            gamma = np.full(len(inputs["lengths"]), model.gate.gamma.numpy())
            gated = ask(loaded, "with_threshold", {**inputs, "threshold": gamma})
            compare(gated, expected, "with_threshold")
            draft = {name: expected[name] for name in _OF_DRAFT if name in expected}
            draft["labels"] = expected["draft_labels"]
            compare(ask(loaded, "draft", inputs), draft, "draft")
        if "ids" in loaded.signatures:
            compare(ask(loaded, "ids", ids_of(model, inputs)), expected, "ids")
    if DOCUMENT in loaded.signatures:
        _verify_documents(model, loaded, [sentences[:5], [], sentences[5:6], sentences[6:]])
    nothing = {"tokens": np.zeros([0, 0], object), "lengths": np.zeros([0], np.int32)}
    if any(values.size for values in ask(loaded, DEFAULT, nothing).values()):
        raise ExportMismatchError(f"{DEFAULT} gives answers for no sentence.")
    for signature, request in requests:
        ask(loaded, signature, request)
    return loaded


def _verify_documents(model: Tagger, loaded: Any, documents: list[list[list[str]]]) -> None:
    """Compares each document, among others, with its sentences read by the run's model."""
    together = ask(loaded, DOCUMENT, pad_documents(documents))
    for row, document in enumerate(documents):
        if not document:
            continue
        inputs = pad(document)
        numbers = np.zeros_like(inputs["lengths"])
        found = model.call({**_tensors(inputs), DOCUMENT: tf.constant(numbers)})
        kept = np.arange(inputs["tokens"].shape[1]) < inputs["lengths"][:, np.newaxis]
        expected = as_text({name: values.numpy()[kept] for name, values in found.items()})
        actual = {name: values[row, : kept.sum()] for name, values in together.items()}
        compare(actual, expected, DOCUMENT)


def verify_text(
    model: Tagger,
    path: pathlib.Path,
    requests: Iterable[tuple[str, Arrays]],
    answer: Answer | None = None,
) -> Any:
    """The same for the model that reads raw text: ``model`` tags the tokens that it found.

    Raises:
      ExportMismatchError: an answer differs, or an offset does not point at its token.
    """
    loaded = _load(path)
    texts = [" ".join(words) for words in sample_sentences(model.vocabulary)]
    texts += ["", "  ", "Don't e-mail Ωmega, 3.5 (東京)!"]
    outputs = ask(loaded, DEFAULT, {"text": np.array(texts, object)})
    found = {name: outputs.pop(name) for name in _TEXT_OUTPUTS}
    for row, text in enumerate(texts):
        for column in range(found["lengths"][row]):
            start, end = found["starts"][row, column], found["ends"][row, column]
            if text[start:end] != found["tokens"][row, column]:
                raise ExportMismatchError(f"An offset is wrong: {text!r}, token {column}.")
    inputs = {name: found[name] for name in ("tokens", "lengths")}
    compare(outputs, (answer or reference(model))(inputs), "text")
    if ENTITIES in loaded.signatures:
        _check_places(texts, ask(loaded, ENTITIES, {"text": np.array(texts, object)}))
    for signature, request in requests:
        ask(loaded, signature, request)
    return loaded


def _check_places(texts: Sequence[str], entities: Arrays) -> None:
    for kind in ("", "candidate_"):
        if f"{kind}count" not in entities:
            continue
        starts, ends, own = (entities[f"{kind}{name}"] for name in ("start", "end", "text"))
        for row, text in enumerate(texts):
            for column in range(entities[f"{kind}count"][row]):
                if text[starts[row, column] : ends[row, column]] != own[row, column]:
                    raise ExportMismatchError(f"A place is wrong: {text!r}, entity {column}.")


def verify_operations(path: pathlib.Path) -> set[str]:
    """The operations of a SavedModel that are not of TensorFlow's core.

    Raises:
      ExportMismatchError: some call back into Python, which no server can.
    """
    foreign = foreign_operations(path)
    if python := sorted(foreign & PYTHON_OPERATIONS):
        raise ExportMismatchError(f"{path} calls Python: {', '.join(python)}.")
    return foreign


def _load(path: pathlib.Path) -> Any:
    try:
        return tf.saved_model.load(str(path))
    except tf.errors.InvalidArgumentError as error:  # a vocabulary does not match its hash
        raise ExportMismatchError(f"{path} cannot be loaded: {error.message}") from error


def reference(model: Tagger) -> Answer:
    """The answers of the run's model, from a graph of its own, made at the first call."""

    @graph_function([{"tokens": TOKENS, "lengths": LENGTHS}])
    def answer(inputs: Tensors) -> Tensors:
        return model(inputs)

    def call(inputs: Arrays) -> dict[str, np.ndarray]:
        outputs = answer(_tensors(inputs))
        return as_text({name: values.numpy() for name, values in outputs.items()})

    return call


def _tensors(inputs: Arrays) -> Tensors:
    tokens = tf.constant(inputs["tokens"], tf.string)
    return {"tokens": tokens, "lengths": tf.constant(inputs["lengths"])}


def ids_of(model: Tagger, inputs: Arrays) -> dict[str, np.ndarray]:
    """The inputs of the signature ``ids`` for these tokens; padding is filled with id 0."""
    tokens = inputs["tokens"]
    word_ids, char_ids = model.lookup(tf.constant(tokens.ravel(), tf.string))
    mask = np.arange(tokens.shape[1]) < inputs["lengths"][:, np.newaxis]
    return {
        "word_ids": np.where(mask, word_ids.numpy().reshape(tokens.shape), 0),
        "char_ids": np.where(mask[..., None], char_ids.numpy().reshape(*tokens.shape, -1), 0),
        "lengths": inputs["lengths"],
    }


def ask(loaded: Any, signature: str, inputs: Arrays) -> dict[str, np.ndarray]:
    """Calls a signature with arrays."""
    call = loaded.signatures[signature]
    specs = call.structured_input_signature[1]
    tensors = {name: tf.constant(inputs[name], specs[name].dtype) for name in specs}
    return as_text({name: values.numpy() for name, values in call(**tensors).items()})


def compare(actual: Arrays, expected: Arrays, signature: str) -> None:
    """Raises ExportMismatchError where answers differ."""
    if set(actual) != set(expected):
        raise ExportMismatchError(
            f"{signature} returns {sorted(actual)} instead of {sorted(expected)}."
        )
    for name, values in expected.items():
        if actual[name].shape != values.shape:
            same = np.zeros([1], bool)
        elif np.issubdtype(values.dtype, np.floating):
            same = np.abs(actual[name] - values) <= TOLERANCE  # False for NaN
        else:
            same = np.equal(actual[name], values) | _is_tied(name, expected)
        if not np.all(same):
            raise ExportMismatchError(
                f"The exported model's {signature} gives other {name} than the run's model, for "
                f"{int(np.sum(~same.astype(bool)))} tokens: nothing was exported."
            )


def _is_tied(name: str, outputs: Arrays) -> np.ndarray | bool:
    """Where ranked labels are about as probable as the ones next to them, or as one left out."""
    for answer in answers.TOKEN_ANSWERS:
        if answer.kind is answers.RANKED and name == answer.tensors[0].name:
            steps = -np.diff(outputs[answer.tensors[1].name], axis=-1)
            edge = [(0, 0)] * (steps.ndim - 1)
            above = np.pad(steps, [*edge, (1, 0)], constant_values=np.inf)
            below = np.pad(steps, [*edge, (0, 1)])
            return np.minimum(above, below) <= TOLERANCE
    return False


def as_text(outputs: Arrays) -> dict[str, np.ndarray]:
    """Byte strings as strings; other arrays as they are."""
    return {
        name: np.array([text.decode() for text in values.flat], object).reshape(values.shape)
        if values.dtype == object
        else values
        for name, values in outputs.items()
    }
