"""What Monte Carlo sampling promises of every encoder that has masks."""

import numpy as np
import tensorflow as tf

from uanet_tf.models.sampling import sample_states, sampling_seed
from uanet_tf.ops.dropout import make_seed

BATCH, STEPS, WIDTH, SAMPLES = 3, 5, 6, 4
INPUTS = np.random.default_rng(1).normal(size=[BATCH, STEPS, WIDTH]).astype(np.float32)
LENGTHS = [5, 3, 1]
MASK = np.arange(STEPS) < np.array(LENGTHS)[:, None]
SEED = sampling_seed(7)


def call(layer, inputs, seed):
    """For the layer contract: a seed stands for the pass of training."""
    if seed is None:
        return layer(inputs["inputs"], mask=inputs["mask"])
    return layer.training_states(inputs["inputs"], inputs["mask"], seed)[-1]


def randomise(layer):
    """All weights, those that start at 0 or 1 as well, get values that show in the outputs."""
    rng = np.random.default_rng(2)
    layer.set_weights([0.5 * rng.normal(size=weight.shape) for weight in layer.weights])


def sample(encoder, inputs=INPUTS, mask=MASK, num_samples=SAMPLES, seed=SEED):
    inputs, mask = tf.constant(inputs), tf.constant(mask)
    return sample_states(encoder, inputs, mask, num_samples=num_samples, seed=seed).numpy()


def check_sampling(encoder, tolerance=1e-5):
    """Runs all checks on an encoder whose every rate is above 0."""
    encoder(INPUTS)
    randomise(encoder)
    states = sample(encoder)
    for check in (samples_are_networks, one_row_a_sentence, each_mask_matters):
        check(encoder, states, tolerance)
    a_sentence_is_the_same_anywhere(encoder, states, tolerance)
    words_of_a_table(encoder, tolerance)
    plain = encoder.training_states(tf.constant(INPUTS), tf.constant(MASK), None)
    np.testing.assert_array_equal(plain[-1], encoder(INPUTS, mask=MASK))
    assert (states[:, ~MASK] == 0).all()
    np.testing.assert_array_equal(sample(encoder, num_samples=0)[0], encoder(INPUTS, mask=MASK))
    assert np.abs(sample(encoder, seed=sampling_seed(8)) - states).max() > 1e-3


def samples_are_networks(encoder, states, tolerance):
    """M samples tiled are M passes, each under one row of masks for all sentences."""
    masks = encoder.sampling_masks(SEED, SAMPLES, WIDTH)
    assert states.shape[:3] == (SAMPLES, BATCH, STEPS)
    for j in range(SAMPLES):
        rows = {name: tf.repeat(m[j : j + 1], BATCH, axis=0) for name, m in masks.items()}
        alone = encoder(INPUTS, mask=MASK, dropout_masks=rows)
        np.testing.assert_allclose(states[j], alone, atol=tolerance)
        assert j == 0 or (states[j] != states[0]).any()


def a_sentence_is_the_same_anywhere(encoder, states, tolerance):
    """Whatever the batch, the row, the padding and what stands in it."""
    order = [2, 0, 1, 0]
    moved = sample(encoder, INPUTS[order], MASK[order])
    np.testing.assert_allclose(moved, states[:, order], atol=tolerance)
    for row, length in enumerate(LENGTHS):
        alone = sample(encoder, INPUTS[row : row + 1, :length], MASK[row : row + 1, :length])
        np.testing.assert_allclose(alone[:, 0], states[:, row, :length], atol=tolerance)
    garbage = np.where(MASK[..., None], INPUTS, np.nan).astype(np.float32)
    garbage = np.pad(garbage, [(0, 0), (0, 4), (0, 0)], constant_values=-9.0)
    padded = sample(encoder, garbage, np.pad(MASK, [(0, 0), (0, 4)]))
    np.testing.assert_allclose(padded[:, :, :STEPS], states, atol=tolerance)


def words_of_a_table(encoder, tolerance=1e-5):
    """Words that are rows of a table have the states of the same words in place.

    Nothing is read at padding: not the row that stands there, and not what is in it.
    """
    random = np.random.default_rng(5)
    table = np.concatenate([random.normal(size=[4, WIDTH]), np.full([1, WIDTH], np.nan)])
    table = tf.constant(table, tf.float32)
    index = np.where(MASK, random.integers(0, 4, MASK.shape), 4).astype(np.int32)
    for count in (SAMPLES, 0):
        for mask in (MASK, np.ones_like(MASK)):
            places = np.where(mask, index % 4, index)
            found = sample_states(
                encoder, table, tf.constant(mask), num_samples=count, seed=SEED, index=places
            )
            dense = sample(encoder, table.numpy()[places], mask, num_samples=count)
            np.testing.assert_allclose(found, dense, atol=tolerance)
            assert np.isfinite(found).all()


def one_row_a_sentence(encoder, states, tolerance):
    """In training, sentences have rows of their own, and a row touches its sentence only."""
    masks = encoder.draw_masks(make_seed(5), BATCH, WIDTH)
    outputs = encoder(INPUTS, mask=MASK, dropout_masks=masks).numpy()
    for row in range(BATCH):
        alone = encoder(
            INPUTS[row : row + 1],
            mask=MASK[row : row + 1],
            dropout_masks={name: rows[row : row + 1] for name, rows in masks.items()},
        )
        np.testing.assert_allclose(outputs[row], alone[0], atol=tolerance)


def each_mask_matters(encoder, states, tolerance):
    plain = encoder(INPUTS, mask=MASK).numpy()
    masks = encoder.draw_masks(make_seed(5), BATCH, WIDTH)
    assert set(masks) == set(encoder.mask_widths(WIDTH))
    for name, rows in masks.items():
        outputs = encoder(INPUTS, mask=MASK, dropout_masks={name: rows}).numpy()
        assert (outputs != plain).any(), f"{name} changes nothing"
        ones = encoder(INPUTS, mask=MASK, dropout_masks={name: tf.ones_like(rows)})
        np.testing.assert_allclose(ones, plain, atol=tolerance)
