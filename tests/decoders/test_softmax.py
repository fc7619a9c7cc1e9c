import numpy as np

from uanet_tf.decoders.softmax import SoftmaxDecoder

STATES = np.random.default_rng(1).normal(size=[2, 3, 5]).astype(np.float32)


def test_logits_of_each_token():
    layer = SoftmaxDecoder(4)
    layer(STATES[None])
    layer.bias.assign([1.0, 2.0, 3.0, 4.0])
    logits = layer.logits(STATES)
    for row, step in np.ndindex(2, 3):
        expected = STATES[row, step] @ layer.kernel.numpy() + [1, 2, 3, 4]
        np.testing.assert_allclose(logits[row, step], expected, atol=1e-6)


def test_loss_and_decision():
    layer = SoftmaxDecoder(4)
    mask = np.array([[True, True, False], [True, True, True]])
    labels = np.array([[1, 0, 9], [2, 3, 1]])  # of no class at padding
    samples = np.stack([STATES, STATES[::-1]])
    decision = layer.decide(samples, mask)
    p = np.exp(layer.logits(STATES))
    p /= p.sum(axis=-1, keepdims=True)
    expected = -sum(
        np.log(p[place][labels[place]]) for place in zip(*np.nonzero(mask), strict=True)
    )
    np.testing.assert_allclose(layer.loss(STATES, labels, mask), expected, rtol=1e-5)
    np.testing.assert_allclose(decision.probabilities, (p + p[::-1]) / 2, atol=1e-6)
    np.testing.assert_array_equal(
        decision.label_ids, np.where(mask, (p + p[::-1]).argmax(axis=-1), 0)
    )
