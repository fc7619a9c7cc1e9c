"""Untrained models, and whether a converted one answers as its tagger."""

import numpy as np
import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as schema

from tests.models.contract_setup import make_sentences, make_vocabulary, small
from uanet_tf.config import Config
from uanet_tf.models.build import make_tagger
from uanet_tf.tensorflow_stack import series

LABELS = {
    "label_ids": "labels",
    "draft_label_ids": "draft_labels",
    "refined_label_ids": "refined_labels",
}


def make_model(**settings):
    """An untrained model, of which about half of the tokens are refined."""
    tf.keras.utils.set_random_seed(5)
    config = small(Config().replace(refiner_layers=1, **settings))
    model = make_tagger(config, make_vocabulary(make_sentences("IOB2"), "IOB2"))
    if model.gate is None:
        return model
    words = random_words(model, 200)
    u = model({"tokens": tf.constant([words]), "lengths": tf.constant([len(words)])})["uncertainty"]
    # Beside, not at, the uncertainty of a word: there rounding would decide.
    model.threshold = float(np.median(u)) + 1e-4
    return model


def random_words(model, count, seed=1):
    words = [*model.vocabulary.words, "Ωmega", "x" * 30, "東京"]
    return list(np.random.default_rng([seed, count]).choice(words, count))


def runners(content):
    resolvers = tf.lite.experimental.OpResolverType
    # XNNPack of newer releases fails on some files, or changes numbers: our readers go without.
    plain = series() == "2.15"
    resolver = resolvers.AUTO if plain else resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = tf.lite.Interpreter(model_content=content, experimental_op_resolver_type=resolver)
    return [interpreter.get_signature_runner(name) for name in ("serving_default", "draft")]


def custom_operations(content):
    """Names of those that not every TensorFlow Lite runtime has; Select TF's too."""
    model = schema.Model.GetRootAs(content, 0)
    codes = (model.OperatorCodes(k).CustomCode() for k in range(model.OperatorCodesLength()))
    return {name for name in codes if name is not None}


def assert_agree(model, run, run_draft, tokens):
    """Labels are identical, uncertainty and confidence the same but for rounding."""
    expected = model.tag_batch(np.array([tokens], object), np.array([len(tokens)]))
    word_ids, char_ids = (ids.numpy()[np.newaxis] for ids in model.lookup(tf.constant(tokens)))
    outputs = run(word_ids=word_ids, char_ids=char_ids)
    asked = {"mutual_information"} if model.return_mutual_information else set()
    assert set(outputs) == {*LABELS, "uncertainty", "confidence", "refined"} | asked
    for name, keras_name in LABELS.items():
        assert outputs[name].dtype == np.int32
        np.testing.assert_array_equal(outputs[name], expected[keras_name], name)
    np.testing.assert_array_equal(outputs["refined"], expected["refined"])
    for name in ("uncertainty", "confidence", *asked):
        np.testing.assert_allclose(outputs[name], expected[name], rtol=0, atol=1e-5, err_msg=name)
    draft = run_draft(word_ids=word_ids, char_ids=char_ids)
    assert set(draft) == {"label_ids", "uncertainty"} | asked
    np.testing.assert_array_equal(draft["label_ids"], expected["draft_labels"])
    np.testing.assert_allclose(draft["uncertainty"], expected["uncertainty"], rtol=0, atol=1e-5)
    return expected
