"""Warm-up requests are TF Serving's messages, to the byte."""

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2

from uanet_tf.exporting.saved_model import WARM_UP, prediction_log

# What tensorflow-serving-api 2.15.1 makes of the same request.
GOLDEN = bytes.fromhex(
    "32ff010afc010a170a0575616e65741a0e776974685f7468726573686f6c6412160a076c656e6774"
    "6873120b08031204120208013a0102121b0a097468726573686f6c64120e08011204120208012a04"
    "0000803e12ab010a06746f6b656e7312a0010807120812020801120208024203416e6e428c01c3a9"
    "c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9"
    "c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9"
    "c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9"
    "c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9"
)
INPUTS = {
    "lengths": np.array([2], np.int32),
    "tokens": np.array([["Ann", "é" * 70]], object),
    "threshold": np.array([0.25], np.float32),
}


def fields(message):
    """(number, content) of a message of length-delimited fields."""
    found, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        assert key & 7 == 2
        size = varint()
        found.append((key >> 3, message[at : at + size]))
        at += size
    return found


def read(message):
    """(model, signature, inputs) of a PredictionLog."""
    ((number, log),) = fields(message)
    assert number == 6
    ((number, request),) = fields(log)
    assert number == 1
    spec, *inputs = fields(request)
    names = dict(fields(spec[1]))
    arrays = {}
    for number, entry in inputs:
        assert number == 2
        content = dict(fields(entry))
        tensor = tensor_pb2.TensorProto.FromString(content[2])
        arrays[content[1].decode()] = tf.make_ndarray(tensor)
    return names[1].decode(), names[3].decode(), arrays


def test_to_the_byte():
    assert prediction_log("uanet", "with_threshold", INPUTS) == GOLDEN


def test_an_export_warms_every_signature_at_several_lengths(exported, loaded):
    path = exported.path / "assets.extra" / WARM_UP
    requests = [read(record.numpy()) for record in tf.data.TFRecordDataset(str(path))]
    assert {model for model, _, _ in requests} == {"tiny"}
    widths: dict[str, set] = {}
    for _, signature, arrays in requests:
        call = loaded.signatures[signature]
        call(**{name: tf.constant(values) for name, values in arrays.items()})
        words = arrays["word_ids" if signature == "ids" else "tokens"]
        widths.setdefault(signature, set()).add(words.shape)
    assert widths.keys() == loaded.signatures.keys()
    assert all(len(shapes) >= 4 for shapes in widths.values())


def test_the_text_model_is_warmed_too(exported):
    path = exported.text_path / "assets.extra" / WARM_UP
    requests = [read(record.numpy()) for record in tf.data.TFRecordDataset(str(path))]
    assert {(model, signature) for model, signature, _ in requests} == {
        ("tiny_text", "serving_default"),
        ("tiny_text", "with_threshold"),
        ("tiny_text", "entities"),
    }
    assert max(len(text) for _, _, arrays in requests for text in arrays["text"]) > 100
