import numpy as np

from tests.layers.recurrence_transcription import loop_both_ways
from tests.representation.test_char_layers import WORDS, shaken
from uanet_tf.representation.char_bilstm import CharBiLSTM


def test_equals_last_states_of_each_word():
    layer = shaken(CharBiLSTM(10, char_width=3, hidden_width=4))
    embeddings = layer.embeddings.numpy()
    outputs = layer(WORDS).numpy()
    for ids, output in zip(WORDS, outputs, strict=True):
        ways = loop_both_ways(layer.lstm, embeddings[ids[ids > 0]])
        if (ids > 0).any():
            expected = np.concatenate([ways["forward"][-1], ways["backward"][0]])
            np.testing.assert_allclose(output, expected, atol=1e-6)
    np.testing.assert_array_equal(outputs[2], 0)  # no characters
