"""What every layer over characters keeps, whatever it computes."""

import numpy as np
import pytest
import tensorflow as tf

from tests.layer_contract import check_layer
from tests.layers.recurrence_transcription import loop_both_ways
from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.representation.char_cnn import CharCNN
from uanet_tf.representation.char_layer import CharLayer
from uanet_tf.representation.char_recurrence import CharBiLSTM, CharGRU
from uanet_tf.representation.intnet import IntNet
from uanet_tf.representation.word_representation import WordRepresentation
from uanet_tf.representation.word_shape import WordShape, char_classes

CHARS = "abcXYZ0-"  # ids 2 to 9
WORDS = np.array([[5, 9, 3, 2], [4, 2, 3, 0], [0, 0, 0, 0], [6, 1, 0, 0], [7, 5, 6, 0]], np.int32)
NUM_CHARS = len(CHARS) + 2

LAYERS = {
    "char_cnn": lambda **kwargs: CharCNN(NUM_CHARS, char_width=3, filters=4, **kwargs),
    "char_bilstm": lambda **kwargs: CharBiLSTM(NUM_CHARS, char_width=3, hidden_width=4, **kwargs),
    "char_gru": lambda **kwargs: CharGRU(
        NUM_CHARS, char_width=3, hidden_width=6, feedforward_width=4, **kwargs
    ),
    "intnet": lambda **kwargs: IntNet(
        NUM_CHARS, char_width=3, num_layers=5, initial_filters=3, filters=4, **kwargs
    ),
    "word_shape": lambda **kwargs: WordShape(char_classes(CHARS), **kwargs),
}


@pytest.fixture(params=LAYERS, name="make_layer")
def _make_layer(request):
    return LAYERS[request.param]


def shaken(layer):
    """The layer with values unlike the first ones in every weight, biases too."""
    layer(WORDS)
    rng = np.random.default_rng(1)
    layer.set_weights([rng.normal(size=value.shape) for value in layer.get_weights()])
    return layer


def test_contract(make_layer):
    tf.keras.utils.set_random_seed(1)
    check_layer(
        make_layer,
        lambda: {"char_ids": np.delete(WORDS, 2, axis=0)},
        call=lambda layer, inputs, seed: layer(inputs["char_ids"]),
        has_dropout=False,
        outputs_have_time=False,
        # Padding is told from id 0 alone: see the tests below.
        skip=["padding", "single"],
    )


def test_padding_changes_nothing(make_layer):
    layer = shaken(make_layer())
    outputs = layer(WORDS).numpy()
    assert np.isfinite(outputs).all()
    if isinstance(layer, CharLayer):
        layer.embeddings[0].assign(tf.fill([3], 1e4))  # the vector of padding is never seen
        np.testing.assert_array_equal(layer(WORDS), outputs)
    near = {"rtol": 1e-6, "atol": 1e-6}  # sums of float32, of values up to 40
    for extra in (1, 5):
        np.testing.assert_allclose(layer(np.pad(WORDS, [(0, 0), (0, extra)])), outputs, **near)
    for word, output in zip(WORDS, outputs, strict=True):
        alone = word[np.newaxis, : max(1, np.count_nonzero(word))]
        np.testing.assert_allclose(layer(alone)[0], output, **near)


def test_a_word_of_padding_has_a_finite_gradient(make_layer):
    layer = shaken(make_layer())
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(layer(WORDS[2:3])))
    for gradient in tape.gradient(loss, layer.trainable_weights):
        assert gradient is None or np.isfinite(tf.convert_to_tensor(gradient)).all()


def test_output_width(make_layer):
    layer = make_layer()
    width = layer(WORDS).shape[-1]
    assert layer.output_width == width
    assert WordRepresentation(5, word_width=7, char_layer=layer).output_width == 7 + width


def test_base_must_be_completed():
    layer = CharLayer(5)
    with pytest.raises(NotImplementedError, match=r"CharLayer must define output_width\."):
        _ = layer.output_width


@pytest.mark.parametrize("kernel_size", [1, 2, 3, 6])
def test_words_in_a_line_are_as_padded_ones(kernel_size):
    layer = CharCNN(NUM_CHARS, char_width=3, filters=4, kernel_size=kernel_size)
    words = [[5, 2, 1], [], [3], [4, 4, 2, 6, 1, 2, 3], []]
    char_ids = tf.keras.utils.pad_sequences(words, padding="post")
    layer(char_ids)
    found = []
    for lite in (None, LiteGraph()):
        with tf.GradientTape() as tape:
            outputs = layer(char_ids, lite=lite)
            loss = tf.reduce_sum(outputs**2)
        gradients = tape.gradient(loss, layer.trainable_variables)
        found.append([outputs, *map(tf.convert_to_tensor, gradients)])
    for in_line, padded in zip(*found, strict=True):
        assert np.abs(in_line).max() > 0
        np.testing.assert_allclose(in_line, padded, atol=1e-6)


def test_equals_last_states_of_each_word():
    layer = shaken(CharBiLSTM(10, char_width=3, hidden_width=4))
    embeddings = layer.embeddings.numpy()
    outputs = layer(WORDS).numpy()
    for ids, output in zip(WORDS, outputs, strict=True):
        ways = loop_both_ways(layer.recurrence, embeddings[ids[ids > 0]])
        if (ids > 0).any():
            expected = np.concatenate([ways["forward"][-1], ways["backward"][0]])
            np.testing.assert_allclose(output, expected, atol=1e-6)
    np.testing.assert_array_equal(outputs[2], 0)  # no characters


def test_equals_sums_over_each_word():
    layer = shaken(CharGRU(10, char_width=3, hidden_width=6, feedforward_width=4))
    embeddings, kernel = layer.embeddings.numpy(), layer.output_kernel.numpy()
    outputs = layer(WORDS).numpy()
    for ids, output in zip(WORDS, outputs, strict=True):
        ways = loop_both_ways(layer.recurrence, embeddings[ids[ids > 0]])
        sums = np.concatenate([ways["forward"].sum(axis=0), ways["backward"].sum(axis=0)])
        expected = np.maximum(sums @ kernel + layer.output_bias.numpy(), 0)
        np.testing.assert_allclose(output, expected, atol=1e-5)
    assert 0 < (outputs > 0).mean() < 1
