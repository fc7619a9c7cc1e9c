"""Relative attention and the layer made of it; their mathematics with the refiner's blocks too."""

import numpy as np
import pytest
import tensorflow as tf

from tests.layer_contract import check_layer
from tests.layers.transcription import HEAD_WIDTH, HEADS, WIDTH, randomise, reference_stream
from uanet_tf.layers.attention_stream import AttentionStream
from uanet_tf.layers.relative_attention import RelativeAttention
from uanet_tf.ops.attention import relative_distances
from uanet_tf.ops.graphs import graph_function


def make_inputs() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    arrays = {name: rng.standard_normal([3, 5, WIDTH]) for name in ("words", "labels")}
    inputs = {name: value.astype(np.float32) for name, value in arrays.items()}
    return {**inputs, "mask": np.arange(5) < np.array([[3], [5], [1]])}


@pytest.mark.parametrize("context_width", [None, WIDTH])
def test_stream_equals_transcription(context_width):
    stream = AttentionStream(HEADS, HEAD_WIDTH, feedforward_width=7, context_width=context_width)
    words, labels, mask = make_inputs().values()
    context = words if context_width is None else labels
    positions = tf.transpose(relative_distances(5, WIDTH).sinusoids)
    stream(words, positions, context=context)
    randomise(stream)
    outputs = stream(words, positions, context=context, mask=mask)
    expected = reference_stream(stream, np.eye(WIDTH), words, context, words, mask)
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("context_width", [None, WIDTH])
def test_attention_and_stream_contracts(context_width):
    def call(layer, inputs, dropout_seed):
        length = tf.shape(inputs["words"])[1]
        positions = tf.transpose(relative_distances(length, WIDTH).sinusoids)
        context = None if context_width is None else inputs["labels"]
        return layer(
            inputs["words"],
            positions,
            context=context,
            mask=inputs["mask"],
            dropout_seed=dropout_seed,
        )

    for layer in (RelativeAttention, AttentionStream):
        check_layer(
            lambda layer=layer, **kwargs: layer(
                HEADS, HEAD_WIDTH, context_width=context_width, **{"dropout": 0.3, **kwargs}
            ),
            make_inputs,
            call=call,
            skip={"keras_file", "saved_model"},
        )


def test_attention_dropout_keeps_the_mean():
    attention, inputs = RelativeAttention(HEADS, HEAD_WIDTH, dropout=0.4), make_inputs()
    positions = tf.transpose(relative_distances(5, WIDTH).sinusoids)
    expected = attention(inputs["words"], positions)
    sample = graph_function([tf.TensorSpec([2], tf.int32)])(
        lambda seed: attention(inputs["words"], positions, dropout_seed=seed)
    )
    samples = [sample(tf.constant([1, step])) for step in range(1500)]
    np.testing.assert_allclose(np.mean(samples, axis=0), expected, atol=0.12)


def test_stream_refuses_another_width():
    with pytest.raises(ValueError, match="Received: 14, expected 15"):
        AttentionStream(HEADS, HEAD_WIDTH).build([None, None, 14])


def test_masks_stand_for_the_dropout_of_outputs():
    """Each is one row a sentence; with them the seed drops attention weights only."""
    words, _, mask = make_inputs().values()
    positions = tf.transpose(relative_distances(5, WIDTH).sinusoids)
    stream = AttentionStream(HEADS, HEAD_WIDTH, dropout=0.5)
    weighted = AttentionStream(HEADS, HEAD_WIDTH, dropout=0.5, attention_dropout=0.5)
    stream(words, positions), weighted(words, positions)
    randomise(stream), weighted.set_weights(stream.get_weights())
    seed, plain = tf.constant([1, 2]), stream(words, positions, mask=mask)

    def run(layer, masks, seed=None):
        masks = {name: tf.constant(rows, tf.float32) for name, rows in masks.items()}
        return layer(words, positions, mask=mask, dropout_masks=masks, dropout_seed=seed)

    rng = np.random.default_rng(2)
    masks = {name: rng.random([3, WIDTH]) for name in ("attention", "feedforward")}
    np.testing.assert_array_equal(run(stream, {}, seed), plain)
    assert (run(weighted, {}, seed).numpy() != plain.numpy()).any()
    np.testing.assert_array_equal(run(stream, masks, seed), run(stream, masks))
    expected = reference_stream(stream, np.eye(WIDTH), words, words, words, mask, masks)
    np.testing.assert_allclose(run(stream, masks), expected, rtol=1e-4, atol=1e-4)
