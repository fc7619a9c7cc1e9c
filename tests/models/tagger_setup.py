"""Small models and batches for the tests of the tagger and its refiner."""

import numpy as np
import tensorflow as tf

from tests.models.contract_setup import make_sentences, make_vocabulary, small
from uanet_tf.config import Config
from uanet_tf.data.batching import BatchBuilder, encode_corpus
from uanet_tf.models.build import make_tagger
from uanet_tf.ops.dropout import make_seed

SENTENCES = make_sentences("IOB2", 5)
SEED = make_seed(1, 2)
# With the encoders and representations that the other tests have not.
OTHER_DECODERS = {
    "lan": {"encoder": "bilstm", "decoder": "lan"},
    "seq2seq": {
        "representation": "intnet",
        "encoder": "relative_transformer",
        "decoder": "seq2seq",
    },
    "seq2biseq": {
        "representation": "char_gru",
        "encoder": "bigru_transformer",
        "decoder": "seq2biseq",
    },
}


def make_model(sentences=SENTENCES, scheme="IOB2", **settings):
    tf.keras.utils.set_random_seed(6)
    config = small(Config()).replace(**settings)
    return make_tagger(config, make_vocabulary(sentences, scheme))


def make_batch(model, sentences=SENTENCES):
    corpus = encode_corpus(sentences, model.vocabulary, model.lookup)
    return BatchBuilder(corpus)(tf.range(len(sentences), dtype=tf.int64))


def gradients(model, name, seed=SEED):
    """{variable name: gradient or None} of one loss, by group."""
    features, labels = make_batch(model)
    groups = model.variable_groups()
    with tf.GradientTape() as tape:
        loss = model.loss_terms(features, labels, seed)[name]
    found = tape.gradient(loss, groups)
    return {
        group: {
            v.name + str(k): g for k, (v, g) in enumerate(zip(groups[group], parts, strict=True))
        }
        for group, parts in found.items()
    }


def size(gradient):
    return 0.0 if gradient is None else float(tf.reduce_max(tf.abs(tf.convert_to_tensor(gradient))))


def assert_refiner_reads(model, features, drafted, beside):
    """The refined labels are those of the refiner's words with ``beside`` concatenated."""
    words = tf.concat([model.refiner.representation(features), beside], axis=-1)
    logits = model.refiner.stack(words, drafted.probabilities, mask=drafted.mask)
    np.testing.assert_allclose(
        model.refine(features, drafted), tf.nn.softmax(logits), atol=1e-5, rtol=1e-4
    )


def assert_some_are_refined_as_all(model, features, share):
    """A random share of the tokens is refined as all are; the others keep the draft."""
    drafted = model.draft(features)
    mask = drafted.mask.numpy()
    wanted = (np.random.default_rng(1).random(mask.shape) < share) & mask
    some = model.refine(features, drafted, tf.constant(wanted)).numpy()
    everything = model.refine(features, drafted).numpy()
    np.testing.assert_allclose(some[wanted], everything[wanted], atol=1e-5)
    np.testing.assert_array_equal(some[~wanted], drafted.probabilities.numpy()[~wanted])
