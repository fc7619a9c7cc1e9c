import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.representation.char_cnn import CharCNN

IDS = np.array([[5, 9, 3, 2], [4, 0, 0, 0], [0, 0, 0, 0], [6, 1, 0, 0]], np.int32)


def make_layer(**options):
    return CharCNN(12, **{"char_width": 3, "filters": 5, **options})


def loop_cnn(layer, char_ids):
    """One filter at one place of one word at a time."""
    embeddings, kernel, bias = (weight.numpy() for weight in layer.weights)
    size = layer.kernel_size
    before = (size - 1) // 2
    outputs = np.zeros([len(char_ids), layer.filters])
    for row, ids in enumerate(char_ids):
        word = [embeddings[k] for k in ids if k > 0]
        for number in range(layer.filters):
            values = []
            for place in range(len(word)):
                total = bias[number]
                for offset in range(size):
                    at = place + offset - before
                    if 0 <= at < len(word):
                        total += word[at] @ kernel[offset, :, number]
                values.append(total)
            outputs[row, number] = max(values, default=bias[number])
    return outputs


@pytest.mark.parametrize("kernel_size", [1, 2, 3, 5, 7])
def test_equals_loops(kernel_size):
    layer = make_layer(kernel_size=kernel_size)
    layer(IDS)
    layer.bias.assign(tf.random.normal([5]))
    np.testing.assert_allclose(layer(IDS), loop_cnn(layer, IDS), atol=1e-6)


@pytest.mark.parametrize("width", [0, 1])
def test_words_without_characters_get_the_bias(width):
    layer = make_layer(kernel_size=5)
    layer(IDS)
    layer.bias.assign(np.arange(5.0))
    found = layer(tf.zeros([7, width], tf.int32))
    np.testing.assert_array_equal(found, np.tile(np.arange(5.0), [7, 1]))


def test_negative_features_are_not_hidden_by_padding():
    """The maximum is over the word's characters, not over the zeros of its padding."""
    layer = make_layer()
    layer(IDS)
    layer.bias.assign(tf.fill([5], 0.25))
    layer.kernel.assign(-tf.ones_like(layer.kernel))
    layer.embeddings.assign(tf.ones_like(layer.embeddings))
    outputs = layer(IDS).numpy()
    np.testing.assert_allclose(outputs[0], 0.25 - 6)  # at an end: two characters of width 3
    np.testing.assert_allclose(outputs[1], 0.25 - 3)
    np.testing.assert_allclose(outputs[2], 0.25)  # no characters: the bias


def test_only_the_characters_of_a_batch_are_trained():
    """Of other rows a lazy optimizer must not see gradients, not even zeros."""
    layer = make_layer()
    layer(IDS)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(IDS) ** 2)
    gradient = tape.gradient(loss, layer.embeddings)
    assert isinstance(gradient, tf.IndexedSlices)
    assert set(gradient.indices.numpy()) <= {*IDS.flat, 0}
