import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.dropout import (
    dropout,
    fold_in,
    keep_mask,
    make_seed,
    philox_uniform,
    stratified_mask,
)
from uanet_tf.ops.graphs import graph_function

SEED = make_seed(7, 3)


def test_seeds_differ_by_run_and_by_step():
    seeds = [make_seed(seed, step) for seed in range(3) for step in range(3)]
    draws = {tuple(keep_mask([40], 0.5, seed).numpy()) for seed in seeds}
    assert len(draws) == len(seeds)
    assert (seeds[0].shape, seeds[0].dtype) == ([2], tf.int32)


def test_a_seed_may_be_a_variable():
    step = tf.Variable(3)
    np.testing.assert_array_equal(make_seed(7, step), SEED)
    np.testing.assert_array_equal(graph_function()(lambda: make_seed(7, step))(), SEED)


def test_fold_in():
    assert fold_in(None, 3) is None
    derived = [tuple(fold_in(SEED, number).numpy()) for number in range(20)]
    assert len(set(derived)) == 20
    assert tuple(SEED.numpy()) not in derived
    assert derived[4] == tuple(graph_function()(lambda: fold_in(SEED, 4))().numpy())


@pytest.mark.parametrize("rate", [0.0, 0.25, 0.9])
def test_keep_mask_has_two_values_and_mean_one(rate):
    mask = keep_mask([200, 100], rate, SEED).numpy()
    kept = np.float32(1) / np.float32(1 - rate)
    assert set(np.unique(mask)) <= {np.float32(0), kept}
    assert np.mean(mask == 0) == pytest.approx(rate, abs=0.01)
    np.testing.assert_array_equal(mask, keep_mask([200, 100], rate, SEED))
    if rate:
        assert (mask != keep_mask([200, 100], rate, make_seed(8, 3)).numpy()).any()


def test_keep_mask_is_fixed_for_ever():
    """The numbers behind a seed are part of what a saved model answers."""
    mask = keep_mask([2, 8], 0.5, tf.constant([1, 0])).numpy()
    kept = [[1, 0, 1, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0, 1, 0]]
    np.testing.assert_array_equal(mask, 2 * np.array(kept, np.float32))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_keep_mask_is_the_same_in_every_dtype(dtype):
    mask = keep_mask([50], 0.5, SEED, tf.dtypes.as_dtype(dtype))
    assert mask.dtype == dtype
    np.testing.assert_array_equal(tf.cast(mask, tf.float32), keep_mask([50], 0.5, SEED))


def test_nothing_is_dropped_without_seed_or_rate():
    inputs = tf.ones([3, 4])
    assert dropout(inputs, 0.5, None) is inputs
    assert dropout(inputs, 0.0, SEED) is inputs


def test_dropout_scales_what_it_keeps():
    inputs = tf.random.normal([30, 20])
    outputs = dropout(inputs, 0.5, SEED).numpy()
    kept = outputs != 0
    assert 0.4 < kept.mean() < 0.6
    np.testing.assert_allclose(outputs[kept], 2 * inputs.numpy()[kept])


def test_a_noise_shape_shares_the_mask():
    outputs = dropout(tf.ones([5, 6, 7]), 0.5, SEED, noise_shape=[5, 1, 7]).numpy()
    np.testing.assert_array_equal(outputs, np.repeat(outputs[:, :1], 6, axis=1))
    assert len({tuple(row) for row in outputs[:, 0]}) == 5


def test_unknown_shapes():
    run = graph_function([tf.TensorSpec([None] * 3)])(lambda x: dropout(x, 0.5, SEED))
    inputs = tf.ones([2, 3, 4])
    np.testing.assert_array_equal(run(inputs), dropout(inputs, 0.5, SEED))


def dropped(shape, rate, seed=1):
    return stratified_mask(shape, rate, make_seed(seed)).numpy() == 0


@pytest.mark.parametrize("samples", [1, 2, 3, 4, 8, 16, 100])
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.25, 0.33, 0.5])
def test_each_unit_is_dropped_equally_often(samples, rate):
    """``rate`` * M times, rounded up or down, and on average without rounding."""
    times = dropped([samples, 4_000], rate).sum(axis=0)
    exact = rate * samples
    assert set(times) <= {np.floor(exact), np.ceil(exact)}
    assert times.mean() == pytest.approx(exact, abs=0.03)


def test_a_row_by_itself_is_ordinary_dropout():
    """Each place is dropped with probability ``rate``, whatever its neighbours are."""
    draw = graph_function([tf.TensorSpec([], tf.int32)])(
        lambda seed: stratified_mask([4, 5], 0.3, make_seed(seed)) == 0
    )
    draws = np.array([draw(tf.constant(seed)) for seed in range(3_000)])  # [N, M, width]
    np.testing.assert_allclose(draws.mean(axis=0), 0.3, atol=0.04)
    row = draws[:, 2].astype(float)
    np.testing.assert_allclose(np.corrcoef(row.T), np.eye(5), atol=0.07)


def test_any_two_samples_drop_a_unit_together_equally_often():
    """No sample repeats another: of 2 dropped in 4, each pair has a sixth."""
    draws = dropped([4, 12_000], 0.5).astype(float)
    together = draws @ draws.T / draws.shape[1]
    np.testing.assert_allclose(together[~np.eye(4, dtype=bool)], 1 / 6, atol=0.02)


def test_kept_units_are_scaled():
    mask = stratified_mask([8, 10], 0.25, make_seed(1)).numpy()
    assert set(np.unique(mask)) == {np.float32(0), np.float32(1 / 0.75)}
    assert stratified_mask([8, 10], 0.25, make_seed(1), tf.bfloat16).dtype == tf.bfloat16


SPEC = [tf.TensorSpec([2], tf.int32)]
SEEDS = [[0, 0], [1, 0], [7, 3], [-5, 2**31 - 1], [-(2**31), -1]]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_numbers_are_tensorflows(seed):
    seed = tf.constant(seed)
    expected = tf.random.stateless_uniform([3, 50], seed, alg="philox").numpy()
    np.testing.assert_array_equal(philox_uniform([3, 50], seed), expected)
    draw = graph_function(SPEC)(lambda seed: philox_uniform([3, 50], seed))
    np.testing.assert_array_equal(draw(seed), expected)
    folded = tf.random.experimental.stateless_fold_in(seed, 9, alg="philox")
    np.testing.assert_array_equal(fold_in(seed, 9), folded)
