"""Some tokens of one sentence get what they get among all."""

import numpy as np
import pytest
import tensorflow as tf

from tests.layers.transcription import HEAD_WIDTH, HEADS, WIDTH, randomise
from uanet_tf.layers.attention_stream import AttentionStream
from uanet_tf.layers.relative_attention import QueryTokens
from uanet_tf.layers.sentence_streams import SentenceStream, sentence_streams
from uanet_tf.ops.attention import relative_sinusoid
from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.numerics import linear

CLASSES, VECTOR = 3, 7
WANTED = {"some": [0, 1, 0, 0, 1, 1], "all": [1] * 6, "one": [0, 0, 0, 0, 0, 1], "alone": [1]}
RNG = np.random.default_rng(3)


def normal(*shape):
    return tf.constant(RNG.normal(size=shape), tf.float32)


def make_streams(words, mapped, kinds):
    """Streams, and what each gives for all words."""
    length, positions = mapped.shape[1], tf.transpose(relative_sinusoid(mapped.shape[1], WIDTH))
    streams, calls = [], []
    for kind in kinds:
        layer = AttentionStream(HEADS, HEAD_WIDTH, context_width=None if kind == "words" else WIDTH)
        context, context_map, residual = words[0], words[1], None
        given = {}
        if kind != "words":
            context, context_map = normal(1, length, WIDTH), None
            if kind == "mixed labels":
                context = normal(1, length, CLASSES)
                context_map = (normal(CLASSES, WIDTH), normal(WIDTH))
            residual = normal(1, length, WIDTH)
            given = {"context": context, "context_map": context_map, "residual": residual}
        layer(mapped, positions, **given)
        randomise(layer)
        streams.append(SentenceStream(layer, context, context_map, residual))
        calls.append(
            lambda mask, layer=layer, given=given: layer(mapped, positions, mask=mask, **given)
        )
    return streams, calls


@pytest.mark.parametrize("wanted", WANTED.values(), ids=WANTED)
@pytest.mark.parametrize("kinds", [["words"], ["labels"], ["words", "mixed labels"]])
@pytest.mark.parametrize("padded", [0, 2])
@pytest.mark.parametrize("is_mapped", [False, True])
def test_equals_streams_of_all_tokens(wanted, kinds, padded, is_mapped):
    wanted = np.array([wanted + [0] * padded], bool)
    length = wanted.shape[1]
    mask = tf.constant(np.arange(length) < length - padded)[tf.newaxis] if padded else None
    words = mapped = normal(1, length, WIDTH)
    word_map = None
    if is_mapped:
        words, word_map = normal(1, length, VECTOR), (normal(VECTOR, WIDTH), normal(WIDTH))
        mapped = linear(words, *word_map)
    streams, calls = make_streams((words, word_map), mapped, kinds)
    heads = tf.reshape(relative_sinusoid(length, WIDTH), [-1, HEADS, HEAD_WIDTH])

    @graph_function([tf.TensorSpec([1, None], tf.bool)])
    def found(wanted):
        tokens = QueryTokens.of_sentence(wanted)
        given = [
            one if one.residual is None else one._replace(residual=tokens.rows(one.residual))
            for one in streams
        ]
        positions = tf.transpose(heads, [1, 0, 2])
        return sentence_streams(given, words, word_map, positions, tokens, mask)

    for states, call in zip(found(tf.constant(wanted)), calls, strict=True):
        expected = call(mask).numpy()[wanted]
        assert np.abs(expected).max() > 0.1
        np.testing.assert_allclose(states, expected, atol=2e-5)
