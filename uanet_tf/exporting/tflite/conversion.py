"""A tagger as a TensorFlow Lite model: one sentence of ids in, label ids and uncertainty out.

The graph is the tagger's own, traced for one sentence: nothing is written a second time. The
dropout masks of the samples are constants in it, so that only built-in operations are left.
"""

import contextlib
import os
import pathlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.lite.python.convert_phase import ConverterError

from uanet_lite.answers import IN_GRAPHS, tensors
from uanet_tf.errors import InputError
from uanet_tf.exporting.saved_graph import save_signatures
from uanet_tf.exporting.signatures import DEFAULT
from uanet_tf.models.outputs import Tensors
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.graphs import LiteGraph, graph_function

FLOAT32, FLOAT16, DYNAMIC = "float32", "float16", "dynamic"
PRECISIONS = (FLOAT32, FLOAT16, DYNAMIC)
# The runtime's own LSTM is a tenth faster with 8-bit weights. With others it is no faster, and less
# exact: it cuts off large cells.
_FUSED = {DYNAMIC}
_LONGEST_TABLE = 512  # tokens of a sentence whose distances a table has, a row for each, twice
DRAFT = "draft"
# Representations that need only ids of words and characters.
_FEATURES = {"form_word_ids", "form_char_ids", "form_index", "lengths"}
_CALL = "tf.StatefulPartitionedCall"
_SPECS = [
    tf.TensorSpec([1, None], tf.int32, name="word_ids"),
    tf.TensorSpec([1, None, None], tf.int32, name="char_ids"),
]


def convert(model: Tagger, precisions: Sequence[str] = (FLOAT32,)) -> dict[str, bytes]:
    """A tagger as TensorFlow Lite files, {precision: bytes}, with built-in operations only.

    T tokens, W characters of the longest word; both may change from call to call.
    ``model.refine_all`` decides whether certain tokens are refined too.

    ``serving_default``: ``word_ids`` [1, T], ``char_ids`` [1, T, W] int32, ids as ``TokenLookup``
      gives them -> the answers of ``uanet_lite.answers``, [1, T], labels as positions in
      ``model.label_names``: label_ids, draft_label_ids, ...
    ``draft``: the same inputs -> label_ids and uncertainty of the draft, without the refiner.

    Args:
      model: with its M, ``mc_seed`` and Gamma, which the result keeps.
      precisions: of the weights: "float32"; "float16", computed in float32; "dynamic", 8-bit
        integers, and activations quantised as they come.

    Raises:
      InputError: the model reads sub-words, draws new masks at each call, or needs an operation
        that TensorFlow Lite does not have, which is named.
    """
    check_convertible(model)
    # The runtime's own LSTM has no masks of samples.
    wanted = _FUSED if model.num_passes == 1 else set()
    parts = [[name for name in precisions if (name in wanted) == fused] for fused in (False, True)]
    files = _converted(model, parts[0]) | _converted(model, parts[1], fused=True)
    return {precision: files[precision] for precision in precisions}


def _converted(
    model: Tagger, precisions: Sequence[str], *, fused: bool = False
) -> dict[str, bytes]:
    if not precisions:
        return {}
    longest = model.max_tokens if model.max_tokens <= _LONGEST_TABLE else 0
    signatures = _signatures(model, LiteGraph(longest, fused))
    with tempfile.TemporaryDirectory(prefix="uanet_tf_") as name:
        folder = pathlib.Path(name)
        save_signatures(signatures, folder, owner=model)
        _write_transpositions(folder / "saved_model.pb")
        converter = tf.lite.TFLiteConverter.from_saved_model(name, signature_keys=list(signatures))
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
        return {precision: _convert(converter, precision) for precision in precisions}


def _write_transpositions(path: pathlib.Path) -> None:
    """Writes ``Transpose`` for the ``Einsum`` of one input, which TensorFlow Lite does not have.

    ``ops.shapes.permute`` takes it, since it is faster in TensorFlow.
    """
    saved = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    for function in saved.meta_graphs[0].graph_def.library.function:
        renamed = {}
        for node in [n for n in function.node_def if n.op == "Einsum" and n.attr["N"].i == 1]:
            before, after = node.attr["equation"].s.decode().split("->")
            order = np.array([before.index(axis) for axis in after], np.int32)
            axes = function.node_def.add(name=f"{node.name}/axes", op="Const")
            axes.attr["dtype"].type = types_pb2.DT_INT32
            axes.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(order))
            dtype = node.attr["T"].type
            node.op = "Transpose"
            node.input.insert(1, f"{axes.name}:output:0")
            node.attr.clear()
            node.attr["T"].type, node.attr["Tperm"].type = dtype, types_pb2.DT_INT32
            renamed[f"{node.name}:output:0"] = f"{node.name}:y:0"
        for node in function.node_def:
            node.input[:] = [renamed.get(name, name) for name in node.input]
        for key, name in function.ret.items():
            function.ret[key] = renamed.get(name, name)
    path.write_bytes(saved.SerializeToString())


def check_convertible(model: Tagger) -> None:
    """Raises InputError for a model that cannot be a TensorFlow Lite model."""
    sentence = {"tokens": tf.constant([["a"]]), "lengths": tf.constant([1])}
    if set(model.features(sentence)) != _FEATURES:
        raise InputError(
            "A TensorFlow Lite model reads ids of words and characters, and this one's "
            f"representation {model.settings.representation.representation!r} reads more: export "
            "it as a SavedModel."
        )
    if model.mc_seed < 0 and model.num_samples:
        raise InputError(
            "A TensorFlow Lite model stores its sampling masks, but the seed "
            f"{model.mc_seed} draws new ones at each call: name a seed of at least 0."
        )


def _signatures(model: Tagger, lite: LiteGraph) -> dict[str, Any]:
    @graph_function(_SPECS)
    def serving_default(word_ids: tf.Tensor, char_ids: tf.Tensor) -> Tensors:
        decision = model.decide(_features(word_ids, char_ids), lite=lite)
        return _lite(model.answers.positions(decision, model.graph_options))

    @graph_function(_SPECS)
    def draft(word_ids: tf.Tensor, char_ids: tf.Tensor) -> Tensors:
        drafted = model.draft(_features(word_ids, char_ids), lite)
        return _lite(model.answers.draft_positions(drafted, model.graph_options))

    return {DEFAULT: serving_default, DRAFT: draft}


def _lite(found: Tensors) -> Tensors:
    """The outputs of a file, under its names."""
    known = tensors(IN_GRAPHS)
    return {known[name].lite_name: found[name] for name in known if name in found}


def _features(word_ids: tf.Tensor, char_ids: tf.Tensor) -> Tensors:
    """Every token is a form of its own, and there is no padding: no index, no lengths.

    But for one character, so that a word without characters has one: some of the runtime's
    operations end the process where a tensor has no elements.
    """
    return {"form_word_ids": word_ids[0], "form_char_ids": tf.pad(char_ids[0], [[0, 0], [0, 1]])}


def _convert(converter: Any, precision: str) -> bytes:
    converter.optimizations = [] if precision == FLOAT32 else [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_types = [tf.float16] if precision == FLOAT16 else []
    try:
        with _without_stderr():
            return converter.convert()
    except ConverterError as error:
        told = f"{_missing(str(error))}. Export it as a SavedModel."
        raise InputError(f"This model cannot be a TensorFlow Lite model: {told}") from error


def _missing(message: str) -> str:
    """The operations that the converter does not know; else the start of its message."""
    # An operation's name, or what it was made from.
    found = re.findall(r"'tf\.(\w+)' op|\ttf\.(\w+)\(|fused\[\"(\w+):", message)
    names = sorted({f"tf.{name}" for names in found for name in names if name} - {_CALL})
    if names:
        return f"TensorFlow Lite has no operation for {', '.join(names)} as used here"
    return " ".join(message.split())[:200]


@contextlib.contextmanager
def _without_stderr() -> Iterator[None]:
    """Drops the output of the converter's C++ code: pages on operations that it did convert."""
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
