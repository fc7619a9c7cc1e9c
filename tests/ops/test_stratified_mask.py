import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.dropout import make_seed, stratified_mask
from uanet_tf.ops.graphs import graph_function


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
    draws = np.array([dropped([4, 5], 0.3, seed) for seed in range(3_000)])  # [N, M, width]
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


def test_the_seed_alone_decides():
    first, again, other = (dropped([8, 50], 0.25, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_a_graph_draws_the_same_from_a_seed_that_it_is_given():
    draw = graph_function([tf.TensorSpec([2], tf.int32)])(
        lambda seed: stratified_mask([8, 50], 0.25, seed)
    )
    for number in (1, 2):
        seed = make_seed(number)
        np.testing.assert_array_equal(draw(seed), stratified_mask([8, 50], 0.25, seed))
