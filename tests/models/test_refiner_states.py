"""A refiner that reads the drafter's states beside the words (`--refiner_states`)."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.tagger_setup import (
    assert_refiner_reads,
    assert_some_are_refined_as_all,
    make_batch,
    make_model,
)
from uanet_tf.models.sampling import sample_states, sampling_seed


def test_the_refiner_reads_the_mean_of_the_sampled_states():
    """Beside its words, and only with `refiner_states`."""
    plain, model = make_model(), make_model(refiner_states=True)
    width = model.settings.encoder.hidden_width
    assert (
        model.refiner.stack.word_kernel.shape[0] == plain.refiner.stack.word_kernel.shape[0] + width
    )
    features, _ = make_batch(model)
    assert plain.draft(features).states is None
    drafted = model.draft(features)
    words, mask, seed = (
        model.drafter.representation(features),
        drafted.mask,
        sampling_seed(model.mc_seed),
    )
    states = sample_states(
        model.drafter.encoder, words, mask, num_samples=model.num_samples, seed=seed
    )
    mean = tf.reduce_mean(states, axis=0)
    np.testing.assert_allclose(drafted.states, mean, atol=1e-6)
    assert_refiner_reads(model, features, drafted, mean)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_states_are_refined_alike_for_some_tokens_and_for_all(share):
    model = make_model(refiner_states=True)
    assert_some_are_refined_as_all(model, make_batch(model)[0], share)
