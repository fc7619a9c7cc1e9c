import functools

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.decoders.softmax import SoftmaxDecoder
from uanet_tf.encoders.variational_bilstm import VariationalBiLSTM
from uanet_tf.inference.adaptive import NUM_CHECKPOINTS, adaptive_draft, checkpoints
from uanet_tf.inference.monte_carlo import sample_states, sampling_seed
from uanet_tf.ops.entropy import entropy
from uanet_tf.ops.graph_function import graph_function

BATCH, STEPS, WIDTH, CLASSES, SAMPLES = 6, 4, 5, 3, 8
RANDOM = np.random.default_rng(1)
# Sentences of different scale: some certain, some not.
SCALE = np.array([0.1, 1.0, 3.0, 9.0, 2.0, 0.5])[:, np.newaxis, np.newaxis]
INPUTS = (SCALE * RANDOM.normal(size=[BATCH, STEPS, WIDTH])).astype(np.float32)
MASK = np.arange(STEPS) < np.array([4, 3, 1, 4, 2, 0])[:, np.newaxis]
SEED = sampling_seed(3)
NEVER = [[-1.0, np.inf]] * NUM_CHECKPOINTS
ALWAYS = [[np.inf, np.inf]] * NUM_CHECKPOINTS


@pytest.fixture(scope="module")
def parts():
    tf.keras.utils.set_random_seed(2)
    encoder = VariationalBiLSTM(8, input_dropout=0.3, recurrent_dropout=0.3)
    decoder = SoftmaxDecoder(CLASSES)
    decoder.decide(tf.expand_dims(encoder(INPUTS), 0))
    decoder.kernel.assign(4.0 * decoder.kernel)
    return encoder, decoder


@functools.cache
def graph(encoder, decoder, num_samples):
    def draft(inputs, mask, limits):
        options = {"limits": limits, "num_samples": num_samples, "seed": SEED, "keep_states": True}
        return adaptive_draft(encoder, decoder, inputs, mask, **options)

    specs = [tf.TensorSpec([None, None, WIDTH]), tf.TensorSpec([None, None], tf.bool)]
    specs.append(tf.TensorSpec([NUM_CHECKPOINTS, None, 1, 2]))
    return graph_function(specs)(draft)


def run(parts, limits, rows=slice(None), num_samples=SAMPLES):
    limits = np.array(limits, np.float32)
    if limits.ndim == 2:
        limits = limits[:, np.newaxis, np.newaxis]
    found = graph(*parts, num_samples)(INPUTS[rows], MASK[rows], limits)
    return found._replace(**{key: value.numpy() for key, value in found._asdict().items()})


def stages(parts, num_samples=SAMPLES):
    """p at each checkpoint by separate passes, [S + 1, B, T, C], and at all M samples."""
    encoder, decoder = parts
    mask = tf.constant(MASK)
    plain = decoder.decide(tf.expand_dims(encoder(INPUTS, mask=mask), 0), mask).probabilities
    states = sample_states(encoder, tf.constant(INPUTS), mask, num_samples=num_samples, seed=SEED)
    samples = decoder.decide(states, mask).samples.numpy()
    return [plain.numpy(), *(samples[:k].mean(axis=0) for k in checkpoints(num_samples)[1:])]


def test_where_nothing_is_settled_it_is_exact(parts):
    found = run(parts, NEVER)
    p = stages(parts)[-1]
    np.testing.assert_allclose(found.probabilities[:5], p[:5], atol=1e-6)
    u = np.where(MASK, entropy(tf.constant(p)), 0.0)
    np.testing.assert_allclose(found.uncertainty, u, atol=1e-5)
    np.testing.assert_array_equal(found.label_ids, np.where(MASK, p.argmax(-1), 0))
    # A sentence without tokens has nothing to wait for.
    assert found.samples_used.tolist() == [SAMPLES] * 5 + [0]


def test_where_all_is_settled_it_is_the_pass_without_dropout(parts):
    found = run(parts, ALWAYS)
    np.testing.assert_allclose(found.probabilities, stages(parts)[0], atol=1e-6)
    assert not found.samples_used.any()


def test_a_sentence_stops_at_the_first_checkpoint_at_which_all_its_tokens_are_settled(parts):
    limits = np.array([[0.02, 1.09], [0.1, 1.05], [0.3, 1.0]], np.float32)
    found, means = run(parts, limits), stages(parts)
    used = []
    for row in range(BATCH):
        stage = 0
        while stage < NUM_CHECKPOINTS:
            u = entropy(tf.constant(means[stage][row]))[: MASK[row].sum()].numpy()
            if ((u <= limits[stage, 0]) | (u >= limits[stage, 1])).all():
                break
            stage += 1
        used.append(checkpoints(SAMPLES)[stage])
        np.testing.assert_allclose(found.probabilities[row], means[stage][row], atol=1e-6)
    assert found.samples_used.tolist() == used
    assert len(set(used)) >= 3  # else the test says little


def test_states_are_the_mean_of_the_samples_used(parts):
    encoder, _ = parts
    mask = tf.constant(MASK)
    found = run(parts, [[0.02, 1.09], [0.1, 1.05], [0.3, 1.0]])
    plain = encoder(INPUTS, mask=mask).numpy()
    samples = sample_states(
        encoder, tf.constant(INPUTS), mask, num_samples=SAMPLES, seed=SEED
    ).numpy()
    for row, used in enumerate(found.samples_used):
        expected = samples[:used, row].mean(axis=0) if used else plain[row]
        np.testing.assert_allclose(found.states[row], expected, atol=1e-6)
    assert len(set(found.samples_used)) >= 3  # else the test says little


def test_states_are_not_kept_unasked(parts):
    limits = tf.constant(NEVER)
    found = adaptive_draft(*parts, INPUTS, MASK, limits=limits, num_samples=2, seed=SEED)
    assert found.states is None


def test_an_answer_does_not_depend_on_the_batch(parts):
    limits = [[0.02, 1.09], [0.1, 1.05], [0.3, 1.0]]
    together = run(parts, limits)
    for row in range(BATCH):
        alone = run(parts, limits, rows=slice(row, row + 1))
        assert alone.samples_used[0] == together.samples_used[row]
        np.testing.assert_allclose(alone.probabilities[0], together.probabilities[row], atol=1e-6)


@pytest.mark.parametrize("num_samples", [2, 3, 5])
def test_any_number_of_samples(parts, num_samples):
    found = run(parts, NEVER, num_samples=num_samples)
    expected = stages(parts, num_samples)[-1]
    np.testing.assert_allclose(found.probabilities[:5], expected[:5], atol=1e-6)


def test_limits_of_each_sentence(parts):
    limits = np.array([NEVER, ALWAYS, NEVER, ALWAYS, NEVER, ALWAYS], np.float32)
    found = run(parts, limits.transpose(1, 0, 2)[:, :, np.newaxis])  # [S, B, 1, 2]
    assert found.samples_used.tolist() == [SAMPLES, 0, SAMPLES, 0, SAMPLES, 0]
