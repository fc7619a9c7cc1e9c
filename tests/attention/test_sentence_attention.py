"""Some tokens of one sentence get what they get among all."""

import numpy as np
import pytest
import tensorflow as tf

from tests.attention.transcription import HEAD_WIDTH, HEADS, WIDTH, randomise
from uanet_tf.attention.query_tokens import QueryTokens
from uanet_tf.attention.relative_attention import RelativeAttention
from uanet_tf.ops.graph_function import graph_function
from uanet_tf.ops.sinusoid import relative_sinusoid

CLASSES = 3
WANTED = {"some": [0, 1, 0, 0, 1, 1], "all": [1] * 6, "one": [0, 0, 0, 0, 0, 1], "alone": [1]}


@pytest.mark.parametrize("wanted", WANTED.values(), ids=WANTED)
@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("context", ["words", "labels", "mixed labels"])
@pytest.mark.parametrize("padded", [0, 2])
def test_equals_attention_of_all_tokens(wanted, exclude_self, context, padded):
    rng = np.random.default_rng(3)
    wanted = np.array([wanted + [0] * padded], bool)
    length = wanted.shape[1]
    mask = tf.constant(np.arange(length) < length - padded)[tf.newaxis] if padded else None

    def normal(*shape):
        return tf.constant(rng.normal(size=shape), tf.float32)

    words, given, context_width = normal(1, length, WIDTH), {}, None
    if context != "words":
        context_width = WIDTH
        given["context"] = normal(1, length, WIDTH if context == "labels" else CLASSES)
    if context == "mixed labels":
        given["context_map"] = (normal(CLASSES, WIDTH), normal(WIDTH))
    attention = RelativeAttention(
        HEADS, HEAD_WIDTH, context_width=context_width, exclude_self=exclude_self
    )
    positions = tf.transpose(relative_sinusoid(length, WIDTH))
    attention(words, positions, mask=mask, **given)
    randomise(attention)
    expected = attention(words, positions, mask=mask, **given).numpy()[wanted]
    given.setdefault("context", words)

    @graph_function([tf.TensorSpec([1, None], tf.bool)])
    def found(wanted):
        tokens = QueryTokens.of_sentence(wanted)
        rows = tokens.rows(words)
        return attention(rows, positions, mask=mask, query_tokens=tokens, **given)

    outputs = found(tf.constant(wanted))
    assert np.abs(expected).max() > 0.1 or (exclude_self and length - padded == 1)
    np.testing.assert_allclose(outputs, expected, atol=1e-5)
