import numpy as np

from uanet_tf.encoders.no_encoder import NoEncoder
from uanet_tf.ops.dropout import make_seed

INPUTS = np.random.default_rng(1).normal(size=[3, 4, 6]).astype(np.float32)
MASK = np.arange(4) < np.array([[4], [2], [0]])


def test_words_pass_and_padding_is_zero():
    outputs = NoEncoder()(INPUTS, mask=MASK)
    np.testing.assert_array_equal(outputs, np.where(MASK[..., None], INPUTS, 0))
    np.testing.assert_array_equal(NoEncoder()(INPUTS), INPUTS)


def test_nan_at_padding_does_not_pass():
    inputs = np.where(MASK[..., None], INPUTS, np.nan)
    assert np.isfinite(NoEncoder()(inputs, mask=MASK)).all()


def test_the_mask_is_tied_over_time():
    layer = NoEncoder(output_dropout=0.5)
    masks = layer.draw_masks(make_seed(1), 3, 6)
    outputs = layer(INPUTS, dropout_masks=masks)
    np.testing.assert_allclose(outputs, INPUTS * masks["output"].numpy()[:, None])
    assert NoEncoder().draw_masks(make_seed(1), 3, 6) == {}
