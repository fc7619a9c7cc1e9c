"""Options that change between the making of signatures and that of their graphs."""

import numpy as np
import tensorflow as tf

from tests.exporting.tflite.agreement import make_model, random_words
from uanet_tf.exporting.signatures import Signatures


def test_labels_follow_the_options_of_their_graph():
    model = make_model(representation="words", num_samples=2)
    tokens = random_words(model, 60)
    words, lengths = np.array([tokens], object), np.array([len(tokens)])
    before = model.tag_batch(words, lengths)["labels"]
    signatures = Signatures(model)
    model.set_options(valid_labels=False)
    expected = model.tag_batch(words, lengths)["labels"]
    assert (before != expected).any()
    run = signatures.of_tokens()["serving_default"]
    found = run(tf.constant(words.astype(str)), tf.constant(lengths, tf.int32))["labels"][0]
    names = np.array(model.label_names)[expected[0]]
    np.testing.assert_array_equal(found.numpy().astype(str), names)
