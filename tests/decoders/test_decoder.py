"""What every decoder promises, whatever its mathematics."""

import numpy as np
import pytest
import tensorflow as tf

from tests.layer_contract import check_layer
from tests.quick_params import quick_params
from uanet_tf.decoders.crf import CRFDecoder
from uanet_tf.decoders.decoder import Decoder
from uanet_tf.decoders.label_attention import LabelAttentionDecoder
from uanet_tf.decoders.seq2biseq import Seq2BiseqDecoder
from uanet_tf.decoders.seq2seq import Seq2SeqDecoder
from uanet_tf.decoders.softmax import SoftmaxDecoder
from uanet_tf.ops.graphs import graph_function

NAMES = ["O", "B-X", "I-X", "E-X", "S-X"]
CLASSES, WIDTH = len(NAMES), 6
SMALL = {"hidden_width": 7, "label_width": 3}
MAKERS = {
    "softmax": lambda **kwargs: SoftmaxDecoder(CLASSES, **kwargs),
    "crf": lambda **kwargs: CRFDecoder(CLASSES, **kwargs),
    "crf_constrained": lambda **kwargs: CRFDecoder(CLASSES, label_names=NAMES, **kwargs),
    "lan": lambda **kwargs: LabelAttentionDecoder(CLASSES, num_heads=2, **kwargs),
    "seq2seq": lambda **kwargs: Seq2SeqDecoder(CLASSES, **SMALL, **kwargs),
    "seq2seq_beam": lambda **kwargs: Seq2SeqDecoder(CLASSES, **SMALL, beam_width=3, **kwargs),
    "seq2biseq": lambda **kwargs: Seq2BiseqDecoder(CLASSES, **SMALL, **kwargs),
}
SEQUENTIAL = [name for name in MAKERS if name != "softmax"]
all_decoders = pytest.mark.parametrize("name", MAKERS)


def make_states(samples=3, batch=3, steps=4, seed=1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=[samples, batch, steps, WIDTH]).astype(np.float32)


MASK = np.arange(4) < np.array([[3], [4], [1]])
LABELS = np.array([[1, 2, 3, 0], [0, 4, 1, 3], [4, 0, 0, 0]], np.int32)  # valid BIOES


def randomise(decoder: Decoder) -> Decoder:
    """Gives all weights, those that start at 0 as well, values that show in the outputs."""
    decoder.decide(make_states(), MASK)
    rng = np.random.default_rng(8)
    decoder.set_weights([rng.normal(size=w.shape) for w in decoder.get_weights()])
    return decoder


@pytest.mark.parametrize(
    "name", quick_params(MAKERS, {*MAKERS} - {"crf_constrained", "seq2seq_beam"})
)
def test_contract(name):
    """Of ``decide``; samples are told apart by sign. Integers have no gradient: left out."""

    def call(layer, inputs, seed):
        del seed
        states = tf.stack([inputs["states"], -inputs["states"]])
        decision = layer(states, mask=inputs["mask"])
        return decision.probabilities, tf.transpose(decision.samples, [1, 2, 0, 3])

    check_layer(
        MAKERS[name],
        lambda: {"states": make_states()[0], "mask": MASK},
        call=call,
        has_dropout=False,
    )


@all_decoders
@pytest.mark.parametrize("samples", [1, 3])
def test_decision(name, samples):
    decision = randomise(MAKERS[name]()).decide(make_states(samples), MASK)
    assert decision.label_ids.dtype == tf.int32
    assert decision.label_ids.shape == MASK.shape
    assert decision.samples.shape == [samples, *MASK.shape, CLASSES]
    np.testing.assert_allclose(tf.reduce_sum(decision.samples, -1), 1.0, atol=1e-5)
    mean = np.mean(decision.samples, axis=0)
    np.testing.assert_allclose(decision.probabilities, mean, atol=1e-6)
    assert (decision.label_ids.numpy()[~MASK] == 0).all()
    # Several samples disagree about some token: there is an uncertainty.
    spread = np.ptp(decision.samples.numpy(), axis=0)[MASK]
    assert (spread.max() > 0.01) == (samples == 3)


@all_decoders
def test_like_samples_are_as_one(name):
    """M copies of a sample decide as the sample alone."""
    decoder, states = randomise(MAKERS[name]()), make_states(1)
    one, three = (decoder.decide(np.repeat(states, m, axis=0), MASK) for m in (1, 3))
    np.testing.assert_array_equal(one.label_ids, three.label_ids)
    np.testing.assert_allclose(one.probabilities, three.probabilities, atol=1e-5)


@all_decoders
def test_labels_do_not_depend_on_batch_and_padding(name):
    decoder, states = randomise(MAKERS[name]()), make_states(3, 4, 6, seed=2)
    lengths = [6, 2, 4, 1]
    mask = np.arange(6) < np.array(lengths)[:, np.newaxis]
    together = decoder.decide(states, mask).label_ids.numpy()
    for row, length in enumerate(lengths):
        alone = decoder.decide(states[:, row : row + 1, :length]).label_ids
        np.testing.assert_array_equal(alone[0], together[row, :length])


@all_decoders
def test_loss_is_a_sum_over_sentences(name):
    """Of each sentence alone and unpadded; what stands at padding is never looked at."""
    decoder, states = randomise(MAKERS[name]()), make_states(1)[0]
    alone = [
        float(
            decoder.loss(
                states[row : row + 1, :n], LABELS[row : row + 1, :n], MASK[row : row + 1, :n]
            )
        )
        for row, n in enumerate(MASK.sum(axis=1))
    ]
    garbage = np.where(MASK, LABELS, 3)
    noise = np.where(MASK[..., np.newaxis], states, 50.0)
    compiled = graph_function()(decoder.loss)
    for loss in (
        decoder.loss(states, LABELS, MASK),
        decoder.loss(noise, garbage, MASK),
        compiled(tf.constant(noise), tf.constant(garbage), tf.constant(MASK)),
    ):
        assert loss.shape == []
        np.testing.assert_allclose(loss, sum(alone), rtol=1e-5)
    assert min(alone) > 0


@all_decoders
def test_over_fits(name):
    """Gradient descent on ``loss`` alone: every label of 8 random sentences is learnt."""
    decoder = MAKERS[name]()
    # Wide enough for a linear map to tell 20 random tokens apart.
    states = np.random.default_rng(5).normal(size=[1, 8, 4, 24]).astype(np.float32)
    mask = np.arange(4) < np.array([[4], [3], [2], [1]] * 2)
    paths = [[1, 2, 3, 0], [4, 0, 4, 0], [1, 3, 0, 0], [4, 0, 0, 0], [0, 1, 3, 4], [1, 2, 3, 0]]
    labels = np.array([*paths, [0, 4, 0, 0], [0, 0, 0, 0]], np.int32)
    optimizer = tf.keras.optimizers.Adam(0.05)
    decoder.decide(states, mask)
    weights = decoder.trainable_weights

    @graph_function()
    def train():
        with tf.GradientTape() as tape:
            loss = decoder.loss(states[0], labels, mask)
        gradients = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(gradients, weights, strict=True))
        return loss

    optimizer.build(weights)
    losses = [float(train()) for _ in range(80)]
    assert losses[-1] < 0.1 * losses[0]
    decision = decoder.decide(states, mask)
    np.testing.assert_array_equal(decision.label_ids, labels)
    confidence = np.take_along_axis(decision.probabilities.numpy(), labels[..., np.newaxis], 2)
    assert confidence[mask].min() > 0.5


@pytest.mark.parametrize("name", SEQUENTIAL)
@pytest.mark.parametrize("bad", [[[0, 1, 1, 1]], [[1, 0, 1, 0]]])
def test_refuses_masks_that_are_not_right_padded(name, bad):
    decoder = MAKERS[name](name="tags")
    states, mask = tf.constant(make_states(1, 1)), tf.constant(np.array(bad, bool))
    labels = tf.zeros([1, 4], tf.int32)
    for decide, loss in (
        (decoder.decide, decoder.loss),
        (graph_function()(decoder.decide), graph_function()(decoder.loss)),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="`mask` of tags must be right"):
            decide(states, mask)
        with pytest.raises(tf.errors.InvalidArgumentError, match="`mask` of tags must be right"):
            loss(states[0], labels, mask)


@all_decoders
def test_nothing_to_decide(name):
    """No sentence, no token, or neither, in one trace for all sizes."""
    decoder = MAKERS[name]()
    states = tf.TensorSpec([None, None, None, WIDTH])
    mask = tf.TensorSpec([None, None], tf.bool)
    decide = graph_function([states, mask])(decoder.decide)
    for run in (decide, decoder.decide):
        for batch, steps in ((0, 4), (2, 0), (0, 0), (2, 1)):
            empty = tf.constant(make_states(2, batch, steps)), tf.zeros([batch, steps], tf.bool)
            decision = run(*empty)
            assert decision.label_ids.shape == [batch, steps]
            assert decision.samples.shape == [2, batch, steps, CLASSES]
            assert np.isfinite(decision.probabilities).all()
            labels = tf.zeros([batch, steps], tf.int32)
            assert float(decoder.loss(empty[0][0], labels, empty[1])) == 0.0


@pytest.mark.parametrize("name", ["lan", "seq2seq", "seq2biseq"])
def test_dropout_of_training(name):
    """The seed alone decides what is dropped, and only where one is given."""
    plain, dropping = randomise(MAKERS[name]()), randomise(MAKERS[name](dropout=0.5))
    states = make_states(1)[0]
    expected = float(plain.loss(states, LABELS, MASK))
    assert float(dropping.loss(states, LABELS, MASK)) == pytest.approx(expected)
    one, same, other = (
        float(dropping.loss(states, LABELS, MASK, dropout_seed=tf.constant([1, seed])))
        for seed in (1, 1, 2)
    )
    assert one == same
    assert len({one, other, expected}) == 3
    assert float(plain.loss(states, LABELS, MASK, tf.constant([1, 1]))) == pytest.approx(expected)


@all_decoders
def test_bad_arguments(name):
    decoder = MAKERS[name]()
    for value in (0, -1, 2.5, True):
        config = {**decoder.get_config(), "num_classes": value}
        with pytest.raises(ValueError, match=r"`num_classes` must be a positive integer. Received"):
            type(decoder)(**config)
    with pytest.raises(ValueError, match=r"`states` must be \[M, B, T, H\]. Received"):
        decoder.decide(make_states()[0], MASK)
    with pytest.raises(ValueError, match=r"`states` must be \[N, T, H\]. Received"):
        decoder.loss(make_states(), LABELS, MASK)
