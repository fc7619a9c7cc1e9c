import numpy as np
import pytest

from tests.layer_contract import check_layer
from uanet_tf.decoders.softmax import SoftmaxDecoder

STATES = np.random.default_rng(1).normal(size=[2, 3, 5]).astype(np.float32)


def test_logits_of_each_token():
    layer = SoftmaxDecoder(4)
    layer(STATES)
    layer.bias.assign([1.0, 2.0, 3.0, 4.0])
    logits = layer(STATES)
    for row, step in np.ndindex(2, 3):
        expected = STATES[row, step] @ layer.kernel.numpy() + [1, 2, 3, 4]
        np.testing.assert_allclose(logits[row, step], expected, atol=1e-6)


def test_samples_may_stand_in_front():
    layer = SoftmaxDecoder(4)
    samples = np.stack([STATES, 2 * STATES])
    np.testing.assert_allclose(layer(samples)[1], layer(2 * STATES), atol=1e-6)


def test_contract():
    check_layer(
        lambda **kwargs: SoftmaxDecoder(4, **kwargs),
        lambda: {"states": STATES},
        call=lambda layer, inputs, seed: layer(inputs["states"]),
        has_dropout=False,
    )


def test_bad_arguments():
    with pytest.raises(
        ValueError, match=r"`num_classes` must be positive. Received: num_classes=0"
    ):
        SoftmaxDecoder(0)


def test_output_shape():
    assert list(SoftmaxDecoder(4).compute_output_shape([None, None, 7])) == [None, None, 4]
