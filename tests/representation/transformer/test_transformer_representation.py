import numpy as np
import pytest
import tensorflow as tf

from tests.layer_contract import check_layer
from tests.tiny_encoder import count_runs
from uanet_tf.config import Config
from uanet_tf.data.encoder_spec import Architecture
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError
from uanet_tf.ops.dropout import make_seed
from uanet_tf.representation.transformer.transformer_encoder import TransformerEncoder
from uanet_tf.representation.transformer.transformer_representation import TransformerRepresentation

FIRST, LAST, UNKNOWN = 2, 3, 1
# Sub-words of forms 0 to 3: positions in the vocabulary.
FORMS = [[UNKNOWN], [7, 8, 9], [10], [11, 12]]


def make_layer(max_positions=20, dropout=0.0, **options):
    architecture = Architecture(
        vocabulary_size=20,
        width=8,
        num_layers=2,
        num_heads=2,
        feedforward_width=12,
        max_positions=max_positions,
        hidden_dropout=dropout,
        attention_dropout=dropout,
    )
    transformer = TransformerEncoder(architecture, name="transformer")
    return TransformerRepresentation(
        transformer, first_id=FIRST, last_id=LAST, **{"embedding_dropout": 0.0, **options}
    )


def spread_weights(layer):
    """Larger weights than a new encoder has, so that context matters."""
    layer.transformer.build([None, None])
    rng = np.random.default_rng(1)
    for weight in layer.transformer.weights:
        weight.assign_add(0.5 * rng.standard_normal(weight.shape))
    return layer


def features_of(sentences, forms=FORMS):
    """Features of sentences of form numbers."""
    width = max(len(form) for form in forms)
    ids = [[number + 1 for number in form] + [0] * (width - len(form)) for form in forms]
    longest = max(1, *(len(sentence) for sentence in sentences))
    index = [[*sentence, *[0] * (longest - len(sentence))] for sentence in sentences]
    return {
        "form_subword_ids": tf.constant(ids, tf.int32),
        "form_index": tf.constant(index, tf.int32),
        "lengths": tf.constant([len(sentence) for sentence in sentences], tf.int32),
    }


def states_of(layer, ids):
    """States [S, D] of one row of sub-words."""
    return layer.transformer(tf.constant([ids]), tf.ones([1, len(ids)], tf.bool)).numpy()


def test_a_word_is_the_state_of_its_first_sub_word():
    layer = spread_weights(make_layer())
    outputs = layer(features_of([[1, 2, 3, 1], [3], []])).numpy()
    assert outputs.shape == (3, 4, 8)
    states = states_of(layer, [FIRST, 7, 8, 9, 10, 11, 12, 7, 8, 9, LAST])
    np.testing.assert_allclose(outputs[0], states[[1, 4, 5, 7]], atol=1e-5)
    np.testing.assert_allclose(outputs[1, 0], states_of(layer, [FIRST, 11, 12, LAST])[1], atol=1e-5)
    assert (outputs[1, 1:] == 0).all()
    assert (outputs[2] == 0).all()


def test_a_long_sentence_is_read_in_windows():
    """11 sub-words a row: of 9 between the ends, 2 are context on each side."""
    layer = spread_weights(make_layer(max_positions=11))
    sentence = [2, 3] * 8  # 24 sub-words
    outputs = layer(features_of([sentence, [1]])).numpy()
    assert outputs.shape == (2, 16, 8)
    flat = [number for form in sentence for number in FORMS[form]]
    offsets = np.cumsum([0] + [len(FORMS[form]) for form in sentence])[:-1]
    starts = [0, 5, 10, 15]
    for step, offset in enumerate(offsets):
        window = min(max(0, (offset - 2) // 5), 3)
        row = flat[starts[window] : starts[window] + 9]
        states = states_of(layer, [FIRST, *row, LAST])
        expected = states[1 + offset - starts[window]]
        np.testing.assert_allclose(outputs[0, step], expected, atol=1e-5)
    short = layer(features_of([[1]])).numpy()
    np.testing.assert_allclose(outputs[1, 0], short[0, 0], atol=1e-5)


def test_the_encoder_runs_once():
    """What was read is used as it is; a call without it gives the same."""
    layer = make_layer(embedding_dropout=0.4)
    features = features_of([[1, 2], [3]])
    calls = count_runs(layer.transformer)
    read = layer.read(features)
    assert set(read) == {*features, "token_vectors"}
    assert layer.read(read) is read
    outputs = [
        layer(read, dropout_seed=seed).numpy() for seed in (None, make_seed(1), make_seed(2))
    ]
    assert len(calls) == 1
    np.testing.assert_array_equal(outputs[0], read["token_vectors"])
    dropped = outputs[1] == 0
    assert dropped[0].any()
    assert (outputs[1] != outputs[2]).any()
    np.testing.assert_allclose(outputs[1][~dropped], outputs[0][~dropped] / 0.6, rtol=1e-5)
    np.testing.assert_array_equal(layer(features), outputs[0])
    assert len(calls) == 2


def test_dropout_inside_the_encoder_only_where_it_is_tuned():
    features = features_of([[1, 2, 3], [3]])
    for frozen in (False, True):
        layer = make_layer(dropout=0.5, frozen=frozen)
        plain, dropped = layer(features), layer(features, dropout_seed=make_seed(1))
        assert (plain.numpy() == dropped.numpy()).all() == frozen
        assert bool(layer.trainable_variables) == (not frozen)
        assert len(layer.weights) == 28


def test_a_frozen_encoder_has_no_backward_pass():
    layer = make_layer(frozen=True)
    with tf.GradientTape() as tape:
        outputs = layer(features_of([[1, 2]]))
        loss = tf.reduce_sum(outputs * tf.Variable(2.0))
    assert tape.gradient(loss, layer.weights) == [None] * len(layer.weights)


def test_contract():
    """As a layer of ids [B, T] and lengths, each token a form of its own."""

    def call(layer, inputs, seed):
        ids = inputs["ids"]
        return layer(
            {
                "form_subword_ids": tf.reshape(ids, [-1, 2]),
                "form_index": tf.reshape(tf.range(tf.size(ids) // 2), tf.shape(ids)[:2]),
                "lengths": inputs["lengths"],
            },
            dropout_seed=seed,
        )

    def make_inputs():
        ids = np.random.default_rng(1).integers(1, 20, [3, 4, 2]).astype(np.int32)
        return {"ids": ids, "lengths": np.array([4, 2, 1], np.int32)}

    check_layer(
        lambda **kwargs: make_layer(dropout=0.3, embedding_dropout=0.2, **kwargs),
        make_inputs,
        call=call,
        make_layer_without_dropout=make_layer,
        skip=["keras_file"],  # `tf.size` above does not come back; every tagger's file does
    )


def test_settings_without_an_encoder():
    vocabulary = Vocabulary((), (), (), ("O",), None)
    config = Config().replace(representation="transformer", refiner_embeddings="shared")
    with pytest.raises(
        InputError, match="`representation=transformer` needs a vocabulary with a pretrained enc"
    ):
        TransformerRepresentation.from_settings(config, vocabulary)
