"""Labels with and without the search for the most probable valid sequence."""

import tensorflow as tf

from tests.models.tagger_setup import make_batch, make_model


def test_labels_token_by_token():
    """Without the search for valid sequences each token has its most probable label."""
    model = make_model(num_samples=0)
    features, _ = make_batch(model)
    searched = model.decide(features)
    model.valid_labels = False
    decided = model.decide(features)
    mask = decided.draft.mask.numpy()
    for result, greedy in ((searched, False), (decided, True)):
        likeliest = tf.argmax(result.probabilities, axis=-1).numpy()[mask]
        assert (result.label_ids.numpy()[mask] == likeliest).all() == greedy
