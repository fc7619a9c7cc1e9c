"""Eq. 7 and 8 against a plain NumPy transcription with explicit loops."""

import numpy as np
import pytest
import tensorflow as tf

from tests.layer_contract import check_layer
from uanet_tf.ops.sinusoid import relative_sinusoid
from uanet_tf.refiner.attention_stream import AttentionStream
from uanet_tf.refiner.relative_attention import RelativeAttention
from uanet_tf.refiner.two_stream_block import TwoStreamBlock

HEADS, HEAD_WIDTH = 3, 5
WIDTH = HEADS * HEAD_WIDTH


def reference_sinusoid(distance: int) -> np.ndarray:
    sines, cosines = (WIDTH + 1) // 2, WIDTH // 2
    angle = [distance / 10000 ** (2 * k / WIDTH) for k in range(sines)]
    return np.array([np.sin(a) for a in angle] + [np.cos(a) for a in angle[:cosines]])


def reference_attention(words, context, mask, w_q, w_k, w_v, w_kr, u, v):
    """Eq. 7, one number at a time."""
    batch, length = mask.shape
    outputs = np.zeros([batch, length, WIDTH])
    for b in range(batch):
        tokens = [j for j in range(length) if mask[b, j]]
        for head in range(HEADS):
            part = slice(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH)
            for i in range(length):
                query = words[b, i] @ w_q[:, part]
                scores = []
                for j in tokens:
                    key = context[b, j] @ w_k[:, part]
                    position = reference_sinusoid(i - j) @ w_kr[:, part]
                    score = query @ key + query @ position + u[part] @ key + v[part] @ position
                    scores.append(score / np.sqrt(HEAD_WIDTH))
                weights = np.exp(scores) / np.sum(np.exp(scores))
                for weight, j in zip(weights, tokens, strict=True):
                    outputs[b, i, part] += weight * (context[b, j] @ w_v[:, part])
    return outputs


def normal(x, scale, offset):
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True) * scale + offset


def reference_stream(stream: AttentionStream, w_kr, words, context, residual, mask):
    """Eq. 8 for one stream."""
    weights = {w.name.rsplit("/", 1)[-1][:-2]: w.numpy().astype(float) for w in stream.weights}
    if stream.context_width is None:
        w_q, w_k, w_v = np.split(weights["kernel"], 3, axis=1)
    else:
        w_q, (w_k, w_v) = weights["query_kernel"], np.split(weights["context_kernel"], 2, axis=1)
    u, v = weights["content_bias"], weights["position_bias"]
    attended = reference_attention(words, context, mask, w_q, w_k, w_v, w_kr, u, v)
    h = residual + attended @ weights["output_kernel"] + weights["output_bias"]
    h = normal(h, weights["attention_norm_scale"], weights["attention_norm_offset"])
    hidden = np.maximum(h @ weights["hidden_kernel"] + weights["hidden_bias"], 0)
    h = h + hidden @ weights["feedforward_kernel"] + weights["feedforward_bias"]
    return normal(h, weights["feedforward_norm_scale"], weights["feedforward_norm_offset"])


def make_inputs() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    arrays = {name: rng.standard_normal([3, 5, WIDTH]) for name in ("words", "labels")}
    inputs = {name: value.astype(np.float32) for name, value in arrays.items()}
    return {**inputs, "mask": np.arange(5) < np.array([[3], [5], [1]])}


def randomise(layer: tf.keras.layers.Layer) -> None:
    """Gives all weights, those that start at 0 or 1 as well, values that show in the outputs."""
    rng = np.random.default_rng(8)
    layer.set_weights([0.5 * rng.standard_normal(w.shape) for w in layer.get_weights()])


def call_block(block: TwoStreamBlock, inputs, dropout_seed, label_state=None):
    sinusoids = relative_sinusoid(tf.shape(inputs["words"])[1], WIDTH)
    return block(
        inputs["words"],
        sinusoids,
        labels=inputs["labels"],
        label_state=label_state,
        mask=inputs["mask"],
        dropout_seed=dropout_seed,
    )


@pytest.mark.parametrize("has_state", [False, True])
def test_block_equals_transcription(has_state):
    block, inputs = TwoStreamBlock(HEADS, HEAD_WIDTH, feedforward_width=7), make_inputs()
    words, labels, mask = inputs.values()
    state = np.roll(words, 1, axis=0) if has_state else words
    call_block(block, inputs, None)
    randomise(block)
    word_state, label_state = call_block(block, inputs, None, state if has_state else None)

    w_kr = block.position_kernel.numpy().astype(float)
    expected = reference_stream(block.word_attention, w_kr, words, words, words, mask)
    np.testing.assert_allclose(word_state, expected, rtol=1e-4, atol=1e-4)
    expected = reference_stream(block.label_attention, w_kr, words, labels, state, mask)
    np.testing.assert_allclose(label_state, expected, rtol=1e-4, atol=1e-4)


def test_sign_of_distance():
    """With position scores alone, attention to the left differs from attention to the right."""
    attention = RelativeAttention(1, 2)
    attention.build([None, None, 2])
    kernel = np.zeros([2, 6], np.float32)
    kernel[:, 4:] = np.eye(2)  # no queries, no keys; the words are the values
    attention.set_weights([kernel, np.zeros(2, np.float32), np.array([1, 0], np.float32)])
    distances = np.arange(2, -4, -1)
    positions = np.stack([np.where(distances == 1, 50.0, 0.0), np.zeros(6)])  # only i - j = 1
    words = np.arange(6.0).reshape([1, 3, 2])
    outputs = attention(tf.constant(words, tf.float32), tf.constant(positions, tf.float32))
    np.testing.assert_allclose(outputs[0, 1:], words[0, :2], atol=1e-5)  # the word before
    np.testing.assert_allclose(outputs[0, 0], words[0].mean(axis=0), atol=1e-5)


def test_block_without_labels_passes_label_state_on():
    block = TwoStreamBlock(HEADS, HEAD_WIDTH, label_stream=False)
    inputs = make_inputs()
    word_state, label_state = call_block(block, inputs, None)
    assert label_state is None
    assert word_state.shape == [3, 5, WIDTH]
    assert not any("label" in weight.name for weight in block.weights)


def test_streams_share_the_position_kernel_only():
    block, inputs = TwoStreamBlock(HEADS, HEAD_WIDTH), make_inputs()
    with tf.GradientTape(persistent=True) as tape:
        outputs = call_block(block, inputs, None)
        sums = [tf.reduce_sum(output * tf.random.normal(output.shape)) for output in outputs]
    reached = [
        {
            weight.name
            for weight, gradient in zip(
                block.weights, tape.gradient(total, block.weights), strict=True
            )
            if gradient is not None
        }
        for total in sums
    ]
    assert reached[0] & reached[1] == {block.position_kernel.name}
    assert reached[0] | reached[1] == {weight.name for weight in block.weights}


def test_block_contract():
    check_layer(
        lambda **kwargs: TwoStreamBlock(
            HEADS, HEAD_WIDTH, dropout=0.3, attention_dropout=0.2, **kwargs
        ),
        make_inputs,
        call=call_block,
        make_layer_without_dropout=lambda: TwoStreamBlock(HEADS, HEAD_WIDTH),
        skip={"keras_file"},  # positions depend on T: the refiner's to compute
    )


@pytest.mark.parametrize("context_width", [None, WIDTH])
def test_attention_and_stream_contracts(context_width):
    def call(layer, inputs, dropout_seed):
        length = tf.shape(inputs["words"])[1]
        positions = tf.transpose(relative_sinusoid(length, WIDTH))
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
    positions = tf.transpose(relative_sinusoid(5, WIDTH))
    expected = attention(inputs["words"], positions)
    sample = tf.function(
        lambda seed: attention(inputs["words"], positions, dropout_seed=seed),
        input_signature=[tf.TensorSpec([2], tf.int32)],
    )
    samples = [sample(tf.constant([1, step])) for step in range(1500)]
    np.testing.assert_allclose(np.mean(samples, axis=0), expected, atol=0.12)


def test_stream_refuses_another_width():
    with pytest.raises(ValueError, match="Received: 14, expected 15"):
        AttentionStream(HEADS, HEAD_WIDTH).build([None, None, 14])
