"""Eq. 7 and 8 against a plain NumPy transcription with explicit loops."""

import numpy as np
import pytest
import tensorflow as tf

from tests.layer_contract import check_layer
from tests.layers.transcription import HEAD_WIDTH, HEADS, WIDTH, randomise, reference_stream
from uanet_tf.layers.relative_attention import Mapped, QueryTokens
from uanet_tf.ops.attention import relative_distances
from uanet_tf.refiner.two_stream_block import TwoStreamBlock


def make_inputs() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    arrays = {name: rng.standard_normal([3, 5, WIDTH]) for name in ("words", "labels")}
    inputs = {name: value.astype(np.float32) for name, value in arrays.items()}
    return {**inputs, "mask": np.arange(5) < np.array([[3], [5], [1]])}


def call_block(block: TwoStreamBlock, inputs, dropout_seed, label_state=None, **asked):
    distances = relative_distances(tf.shape(inputs["words"])[1], WIDTH)
    return block(
        inputs["words"],
        distances,
        labels=inputs["labels"],
        label_state=label_state,
        mask=inputs["mask"],
        dropout_seed=dropout_seed,
        **asked,
    )


@pytest.mark.parametrize("has_state", [False, True])
def test_block_equals_transcription(has_state):
    block, inputs = TwoStreamBlock(HEADS, HEAD_WIDTH), make_inputs()
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


def test_labels_may_be_given_by_a_linear_map():
    block, inputs = TwoStreamBlock(HEADS, HEAD_WIDTH), make_inputs()
    rng = np.random.default_rng(5)
    shares = rng.standard_normal([3, 5, 4]).astype(np.float32)
    kernel = rng.standard_normal([4, WIDTH]).astype(np.float32)
    bias = rng.standard_normal([WIDTH]).astype(np.float32)
    call_block(block, inputs, None)
    randomise(block)
    distances = relative_distances(5, WIDTH)
    outputs = block(inputs["words"], distances, labels=Mapped(shares, kernel, bias))
    for output, expected in zip(
        outputs, block(inputs["words"], distances, labels=shares @ kernel + bias), strict=True
    ):
        np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("has_state", [False, True])
def test_each_stream_gives_states_of_its_query_tokens(has_state):
    block, inputs = TwoStreamBlock(HEADS, HEAD_WIDTH), make_inputs()
    wanted = np.array([[1, 0, 0, 0, 1], [0, 0, 1, 0, 0], [0, 1, 1, 1, 0]], bool)
    queries = QueryTokens.of_mask(tf.constant(wanted))
    state = np.roll(inputs["words"], 1, axis=0) if has_state else None

    def some(rows):
        return np.asarray(rows)[wanted]

    words, labels = call_block(block, inputs, None, state)
    some_state = None if state is None else some(state)
    some_words, some_labels = call_block(
        block, inputs, None, some_state, word_queries=queries, label_queries=queries
    )
    np.testing.assert_allclose(some_words, some(words), atol=1e-5)
    np.testing.assert_allclose(some_labels, some(labels), atol=1e-5)
    all_words, _ = call_block(block, inputs, None, some_state, label_queries=queries)
    np.testing.assert_allclose(all_words, words, atol=1e-5)


def test_each_stream_has_query_tokens_of_its_own():
    block = TwoStreamBlock(HEADS, HEAD_WIDTH)
    inputs = {name: values[1:2] for name, values in make_inputs().items()}
    masks = [np.array([flags], bool) for flags in ([1, 0, 0, 1, 1], [0, 1, 0, 0, 0])]
    queries = [QueryTokens.of_sentence(tf.constant(wanted)) for wanted in masks]
    states = call_block(block, inputs, None)
    found = call_block(block, inputs, None, word_queries=queries[0], label_queries=queries[1])
    for given, wanted, state in zip(found, masks, states, strict=True):
        np.testing.assert_allclose(given, np.asarray(state)[wanted], atol=1e-5)


def test_block_without_labels_passes_label_state_on():
    block = TwoStreamBlock(HEADS, HEAD_WIDTH, label_stream=False)
    inputs = make_inputs()
    word_state, label_state = call_block(block, inputs, None)
    assert label_state is None
    assert word_state.shape == [3, 5, WIDTH]
    assert not any("label" in weight.name for weight in block.weights)


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
