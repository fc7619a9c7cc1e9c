import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.shapes import fill_rows, filled_size, rows_multiple_of


@pytest.mark.parametrize(("batch", "multiple"), [(1, 1), (2, 1), (6, 1), (12, 4), (8, 8), (48, 8)])
def test_rows_come_in_the_multiples_of_their_batch(batch, multiple):
    assert rows_multiple_of(tf.constant(batch)) == multiple


@pytest.mark.parametrize(
    ("rows", "multiple", "filled"),
    [([3, 5], 1, [3, 5]), ([3, 5], 2, [3, 5]), ([3, 5], 4, [3, 5, 0, 0]), ([], 4, [])],
)
def test_row_0_fills_up(rows, multiple, filled):
    assert fill_rows(tf.constant(rows, tf.int64), multiple).numpy().tolist() == filled


def test_sizes_are_filled_up_to_few_values():
    sizes = np.arange(1, 20_000, dtype=np.int32)
    filled = filled_size(tf.constant(sizes)).numpy()
    assert (filled >= sizes).all()
    assert (filled <= sizes * 1.125 + 8).all()
    assert len(set(filled)) < 200
    assert (np.diff(filled) >= 0).all()
