"""Labels with and without the search for the most probable valid sequence."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import make_sentences, pad
from tests.models.tagger_setup import make_batch, make_model
from uanet_lite.tag_schemes import valid_transitions


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


@pytest.mark.parametrize("refine_all", [True, False])
def test_draft_gated_and_refined_labels_are_each_searched(refine_all):
    """Of each the most probable valid sequence, found by trying all."""
    sentences = make_sentences("IOB2", 40)
    model = make_model(sentences, num_samples=0)
    features = model.features(pad([list(sentence.tokens)[:3] for sentence in sentences]))
    model.threshold = float(np.median(model.draft(features).uncertainty))
    model.refine_all = refine_all
    decided = model.decide(features)
    refined = model.refine(features, decided.draft).numpy()
    if not refine_all:
        refined = decided.probabilities.numpy()
    sources = {
        "draft": (decided.draft.label_ids, decided.draft.probabilities.numpy()),
        "gated": (decided.label_ids, decided.probabilities.numpy()),
        "refined": (decided.refined_label_ids, refined),
    }
    start, steps, end = valid_transitions(model.class_names, model.vocabulary.internal_scheme)
    lengths = decided.draft.mask.numpy().sum(axis=1)
    for name, (found, p) in sources.items():
        assert (p.argmax(-1) != found.numpy())[decided.draft.mask.numpy()].any(), name
        for row, length in enumerate(lengths):
            best = max(
                (
                    path
                    for path in itertools.product(range(p.shape[-1]), repeat=int(length))
                    if start[path[0]] and end[path[-1]]
                    if all(steps[pair] for pair in itertools.pairwise(path))
                ),
                key=lambda path: sum(np.log(p[row, k, label]) for k, label in enumerate(path)),
            )
            assert tuple(found[row, :length].numpy()) == best, name
    if refine_all:
        assert (decided.label_ids.numpy() != decided.refined_label_ids.numpy()).any()
