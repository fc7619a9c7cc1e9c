"""Two small SavedModels with the signatures of an exported tagger, whose answers are plain rules.

    python -m tests.serving.toy_models DIRECTORY

writes DIRECTORY/uanet/1 and DIRECTORY/uanet_text/1, for a TF Serving to test the client against.
A token with a capital is an ORG, its uncertainty is a tenth of its length, and the gate opens
above Gamma = 0.35; the draft says PER. The confidence tells the version of the model.
"""

import json
import sys
from pathlib import Path

import tensorflow as tf

from uanet_tf.exporting.text_tokens import in_characters
from uanet_tf.ops.graphs import graph_function

GAMMA = 0.35
_S = tf.TensorSpec


class ToyTagger(tf.Module):
    """The rules; a variable and a table, so that there is something to restore."""

    def __init__(self, version: int) -> None:
        super().__init__()
        self.mark = tf.Variable(1.0 / version, dtype=tf.float32)
        keys = tf.lookup.KeyValueTensorInitializer(["the", "a"], [1, 2], tf.string, tf.int32)
        self.words = tf.lookup.StaticHashTable(keys, 0)

    def answer(self, tokens, lengths, threshold):
        width = tf.shape(tokens)[1]
        tf.debugging.assert_less_equal(lengths, width, "A length is beyond the width of tokens.")
        mask = tf.sequence_mask(lengths, width)
        tokens = tf.where(mask, tokens, "")
        known = self.words.lookup(tokens) > 0
        named = tf.strings.regex_full_match(tokens, r"\p{Lu}.*") & ~known
        first = named & ~tf.concat([tf.zeros_like(named[:, :1]), named[:, :-1]], axis=1)
        prefix = tf.where(first, "B-", "I-")
        u = tf.cast(tf.strings.length(tokens, unit="UTF8_CHAR"), tf.float32) / 10.0
        refined = mask & (u > threshold[:, tf.newaxis])
        draft = tf.where(named, prefix + "PER", "O")
        org = tf.where(named, prefix + "ORG", "O")
        labels = tf.where(refined, org, draft)
        return {
            "labels": tf.where(mask, labels, ""),
            "draft_labels": tf.where(mask, draft, ""),
            "refined_labels": tf.where(mask, org, ""),
            "uncertainty": tf.where(mask, u, 0.0),
            "confidence": tf.where(mask, self.mark, 0.0),
            "refined": refined,
        }


def write_token_model(path: Path, version: int = 1) -> Path:
    """Writes the model of tokens."""
    toy = ToyTagger(version)

    def gamma(lengths):
        return tf.fill(tf.shape(lengths), GAMMA)

    tokens, lengths = _S([None, None], tf.string, "tokens"), _S([None], tf.int32, "lengths")

    @graph_function([tokens, lengths])
    def serving_default(tokens, lengths):
        return toy.answer(tokens, lengths, gamma(lengths))

    @graph_function([tokens, lengths, _S([None], tf.float32, "threshold")])
    def with_threshold(tokens, lengths, threshold):
        return toy.answer(tokens, lengths, threshold)

    @graph_function([tokens, lengths])
    def draft(tokens, lengths):
        answer = toy.answer(tokens, lengths, gamma(lengths))
        return {"labels": answer["draft_labels"], "uncertainty": answer["uncertainty"]}

    numbers = _S([None, None], tf.int32, "word_ids"), _S([None] * 3, tf.int32, "char_ids")

    @graph_function([*numbers, lengths])
    def ids(word_ids, char_ids, lengths):
        tokens = tf.where(word_ids > 0, tf.strings.as_string(word_ids), "")
        del char_ids
        return toy.answer(tokens, lengths, gamma(lengths))

    functions = (serving_default, with_threshold, draft, ids)
    signatures = {f.python_function.__name__: f for f in functions}
    tf.saved_model.save(toy, str(path), signatures=signatures)
    (path / "assets.extra").mkdir()
    (path / "assets.extra" / "gate.json").write_text(json.dumps({"threshold": GAMMA}), "utf-8")
    return path


def write_text_model(path: Path, version: int = 1) -> Path:
    import tensorflow_text

    toy = ToyTagger(version)

    def answer(text, threshold):
        tokens, starts, ends = tensorflow_text.regex_split_with_offsets(
            text, r"[\p{L}\p{M}\d]+|[^\s]|\s+", r"[\p{L}\p{M}\d]+|[^\s]"
        )
        lengths = tf.cast(tokens.row_lengths(), tf.int32)
        padded = tokens.to_tensor("")
        return {
            **toy.answer(padded, lengths, threshold),
            "tokens": padded,
            "starts": tf.cast(in_characters(text, starts).to_tensor(0), tf.int32),
            "ends": tf.cast(in_characters(text, ends).to_tensor(0), tf.int32),
            "lengths": lengths,
        }

    @graph_function([_S([None], tf.string, "text")])
    def serving_default(text):
        return answer(text, tf.fill(tf.shape(text), GAMMA))

    @graph_function([_S([None], tf.string, "text"), _S([None], tf.float32, "threshold")])
    def with_threshold(text, threshold):
        return answer(text, threshold)

    signatures = {"serving_default": serving_default, "with_threshold": with_threshold}
    tf.saved_model.save(toy, str(path), signatures=signatures)
    return path


def _spin(x):
    """Runs until it is stopped, if ``x`` starts with a positive number of steps as large."""

    def step(index, state):
        return index + 1.0, tf.linalg.matmul(state, state) / 100.0

    start = (tf.constant(0.0), tf.ones([100, 100]))
    _, state = tf.while_loop(lambda index, _: index < x[0], step, start)
    return {"y": x + 0.0 * state[0, 0]}


def _wait(x):
    """Waits for what never comes, without work for a processor."""
    nothing = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32], shapes=[[]])
    (value,) = tf.raw_ops.QueueDequeueV2(handle=nothing, component_types=[tf.float32])
    return {"y": x + value}


def write_types_model(path: Path) -> Path:
    """Signatures that give back a tensor of each type, and some that answer oddly."""
    module = tf.Module()
    signatures = {}

    def add(name, function, *specs):
        signatures[name] = graph_function(specs)(function)

    kinds = ("float32", "float64", "int8", "uint8", "int32", "int64", "uint32", "bool", "string")
    for kind in (*kinds, "float16"):
        add(kind, lambda x: {"y": tf.identity(x)}, _S(None, kind, "x"))
    add("bytes", lambda x: {"y_bytes": tf.identity(x)}, _S([None], tf.string, "x"))
    add("complex", lambda x: {"y": tf.complex(x, x)}, _S([None], tf.float32, "x"))
    add("scalar", lambda x: {"y": tf.reduce_sum(x)}, _S([None], tf.float32, "x"))
    add(
        "uneven",
        lambda x: {"all": x, "half": x[: tf.shape(x)[0] // 2]},
        _S([None], tf.float32, "x"),
    )
    add("narrow", lambda x: {"y": tf.reduce_sum(x, 1)}, _S([None, 1], tf.float32, "x"))
    add("two", lambda a, b: {"sum": a + b, "a": a}, *(_S(None, tf.float32, n) for n in "ab"))
    add("slow", _spin, _S([None], tf.float32, "x"))
    add("endless", _wait, _S([None], tf.float32, "x"))
    tf.saved_model.save(module, str(path), signatures=signatures)
    return path


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    write_token_model(folder / "uanet" / "1")
    write_text_model(folder / "uanet_text" / "1")
