import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.encoders.encoder import Encoder, apply_mask
from uanet_tf.ops.dropout import make_seed


class Masked(Encoder):
    def mask_widths(self, input_width):
        return {"wide": (input_width, 0.5), "never": (9, 0.0), "narrow": (3, 0.2)}


def test_draws_a_row_for_each_sample():
    masks = Masked().draw_masks(make_seed(1), 400, 50)
    assert {name: mask.shape.as_list() for name, mask in masks.items()} == {
        "wide": [400, 50],
        "narrow": [400, 3],
    }
    assert np.mean(masks["wide"].numpy() == 0) == pytest.approx(0.5, abs=0.02)
    assert np.mean(masks["narrow"].numpy() == 0) == pytest.approx(0.2, abs=0.04)
    assert len({row.tobytes() for row in masks["wide"].numpy()}) == 400


def test_the_seed_alone_decides():
    draw = [Masked().draw_masks(make_seed(seed), 4, 50)["wide"].numpy() for seed in (1, 1, 2)]
    np.testing.assert_array_equal(draw[0], draw[1])
    assert (draw[0] != draw[2]).any()


def test_a_sample_does_not_depend_on_how_many_there_are():
    few, many = (Masked().draw_masks(make_seed(1), count, 50)["wide"] for count in (2, 8))
    np.testing.assert_array_equal(few, many[:2])


def test_masks_of_one_draw_are_independent():
    class Twins(Encoder):
        def mask_widths(self, input_width):
            return {"a": (input_width, 0.5), "b": (input_width, 0.5)}

    masks = Twins().draw_masks(make_seed(1), 100, 50)
    assert np.mean(masks["a"].numpy() == masks["b"].numpy()) == pytest.approx(0.5, abs=0.05)


def test_masks_have_the_dtype_of_the_computation():
    masks = Masked(dtype="mixed_bfloat16").draw_masks(make_seed(1), 2, 5)
    assert masks["wide"].dtype == tf.bfloat16


def test_apply_mask_is_the_same_at_every_step():
    inputs = tf.random.normal([2, 3, 4])
    mask = tf.constant([[0.0, 2.0, 2.0, 0.0], [2.0, 0.0, 2.0, 0.0]])
    outputs = apply_mask(inputs, {"x": mask}, "x")
    for step in range(3):
        np.testing.assert_array_equal(outputs[:, step], inputs[:, step] * mask)
    assert apply_mask(inputs, {"x": mask}, "y") is inputs
    assert apply_mask(inputs, None, "x") is inputs


def test_a_subclass_must_name_its_masks():
    with pytest.raises(NotImplementedError, match="Encoder must define mask_widths"):
        Encoder().draw_masks(make_seed(1), 1, 1)
