import numpy as np
import pytest
import tensorflow as tf

from tests.encoders.sampling import INPUTS, MASK, SAMPLES, WIDTH, sample, words_of_a_table
from uanet_tf.encoders.recurrent_encoders import VariationalBiLSTM
from uanet_tf.models.sampling import encode_samples, sampling_seed
from uanet_tf.ops.dropout import make_seed
from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.losses import entropy, mutual_information


def draft_from_samples(logits):
    """Mean distribution, entropy and mutual information of logits [M, B, T, C]."""
    samples = tf.nn.softmax(tf.cast(logits, tf.float32))
    mean = tf.reduce_mean(samples, axis=0)
    return mean, entropy(mean), mutual_information(samples)


def make_encoder(rate=0.4):
    tf.keras.utils.set_random_seed(3)
    encoder = VariationalBiLSTM(
        8, num_layers=2, input_dropout=rate, recurrent_dropout=rate, output_dropout=rate
    )
    encoder(INPUTS)
    return encoder


@pytest.mark.parametrize("dropped", ["input_dropout", "recurrent_dropout", "output_dropout"])
def test_words_of_a_table_whatever_is_dropped(dropped):
    rates = dict.fromkeys(["input_dropout", "recurrent_dropout", "output_dropout"], 0.0)
    encoder = VariationalBiLSTM(8, num_layers=2, projection_width=3, **rates | {dropped: 0.4})
    encoder(INPUTS)
    words_of_a_table(encoder)


def test_balanced_samples_come_nearer_to_many_than_independent_ones():
    """Where each unit is dropped in 2 of 8, their mean has half the variance at most, no bias."""
    encoder, draws = make_encoder(rate=0.25), 200

    def means(draw, count, samples):
        """Mean states of the samples of each of ``count`` draws."""
        drawn = [draw(make_seed(seed), samples, WIDTH) for seed in range(count)]
        masks = {name: tf.concat([one[name] for one in drawn], axis=0) for name in drawn[0]}
        inputs, mask = tf.constant(INPUTS), tf.constant(MASK)
        states = encode_samples(encoder, inputs, mask, masks, count * samples)
        return states.numpy().reshape(count, samples, *states.shape[1:]).mean(axis=1)

    truth = means(encoder.draw_masks, 1, 20_000)[0]
    independent = means(encoder.draw_masks, draws, 8) - truth
    balanced = means(encoder.sampling_masks, draws, 8) - truth
    assert np.mean(balanced**2) < 0.5 * np.mean(independent**2)
    np.testing.assert_allclose(balanced.mean(axis=0), 0, atol=0.02 * np.abs(truth).max())


def test_rate_zero_equals_the_deterministic_pass():
    encoder = make_encoder(rate=0.0)
    states = sample(encoder)
    for one in states:
        np.testing.assert_allclose(one, encoder(INPUTS, mask=MASK), atol=1e-6)
    logits = tf.constant(states)
    np.testing.assert_allclose(draft_from_samples(logits)[2], 0, atol=1e-6)


def test_a_negative_seed_draws_anew_at_each_call():
    draw = graph_function()(lambda: sampling_seed(-1))
    assert len({tuple(draw().numpy()) for _ in range(5)}) == 5
    fixed = graph_function()(lambda: sampling_seed(2**31 - 1))
    assert fixed().numpy().tolist() == fixed().numpy().tolist() == [2**31 - 1, 0]
    assert sampling_seed(1).numpy().tolist() != sampling_seed(2).numpy().tolist()


def numpy_entropy(p):
    return -sum(x * np.log(x) for x in p if x > 0)


def test_mean_and_uncertainty_equal_numpy():
    logits = np.random.default_rng(2).normal(size=[SAMPLES, 2, 3, 5]) * 3
    logits[:, 0, 0] = [200, 0, 0, 0, 0]  # certain: 0 log 0 = 0
    mean, u, information = draft_from_samples(tf.constant(logits))
    assert mean.dtype == u.dtype == tf.float32
    for row, step in np.ndindex(2, 3):
        samples = [np.exp(x) / np.exp(x).sum() for x in logits[:, row, step]]
        p = np.mean(samples, axis=0)
        total, expected = numpy_entropy(p), np.mean([numpy_entropy(q) for q in samples])
        np.testing.assert_allclose(mean[row, step], p, atol=1e-6)
        np.testing.assert_allclose(u[row, step], total, atol=1e-5)
        np.testing.assert_allclose(information[row, step], total - expected, atol=1e-5)
    # To rounding: a processor's quick division may give 1 - 6e-8 for 1.
    np.testing.assert_allclose([u[0, 0], information[0, 0]], 0.0, atol=1e-6)
