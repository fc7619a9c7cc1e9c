import numpy as np

from tests.layers.recurrence_transcription import loop_both_ways
from tests.representation.test_char_layers import WORDS, shaken
from uanet_tf.representation.char_gru import CharGRU


def test_equals_sums_over_each_word():
    layer = shaken(CharGRU(10, char_width=3, hidden_width=6, feedforward_width=4))
    embeddings, kernel = layer.embeddings.numpy(), layer.output_kernel.numpy()
    outputs = layer(WORDS).numpy()
    for ids, output in zip(WORDS, outputs, strict=True):
        ways = loop_both_ways(layer.gru, embeddings[ids[ids > 0]])
        sums = np.concatenate([ways["forward"].sum(axis=0), ways["backward"].sum(axis=0)])
        expected = np.maximum(sums @ kernel + layer.output_bias.numpy(), 0)
        np.testing.assert_allclose(output, expected, atol=1e-5)
    assert 0 < (outputs > 0).mean() < 1
