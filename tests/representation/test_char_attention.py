import numpy as np
import pytest
import tensorflow as tf

from tests.representation.token_contract import check_representation
from uanet_lite.token_ids import UNKNOWN_ID
from uanet_tf.ops.dropout import make_seed
from uanet_tf.representation.char_attention import CharAttention
from uanet_tf.representation.char_recurrence import CharBiLSTM

COUNTS = [1, 1, 3, 50, 0]
FEATURES = {
    "form_word_ids": np.array([2, 5, 1, 4, 0], np.int32),
    "form_char_ids": np.array([[3, 4, 0], [5, 0, 0], [2, 2, 2], [4, 5, 0], [0, 0, 0]], np.int32),
    "form_index": np.array([[0, 1, 0, 2], [2, 3, 1, 4]], np.int32),
    "lengths": np.array([4, 2], np.int32),  # of the third form of row 1 nothing is seen
}


def make_layer(**options):
    chars = CharBiLSTM(9, char_width=3, hidden_width=6, name="chars")
    defaults = {"word_width": 4, "embedding_dropout": 0.5, "char_layer": chars}
    return CharAttention(7, **{**defaults, **options})


def shaken(layer):
    layer(FEATURES)
    rng = np.random.default_rng(1)
    layer.set_weights([rng.normal(size=value.shape) for value in layer.get_weights()])
    return layer


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def parts(layer):
    """x, m and z of each form, from the weights."""
    value = {weight.name.split(":")[0].split("/")[-1]: weight.numpy() for weight in layer.weights}
    x = layer.embeddings.numpy()[FEATURES["form_word_ids"]]
    h = layer.char_layer(FEATURES["form_char_ids"]).numpy()
    m = np.tanh(h @ value["char_kernel"] + value["char_bias"])
    hidden = x @ value["gate_word_kernel"] + m @ value["gate_char_kernel"]
    hidden = np.tanh(hidden + value["gate_hidden_bias"])
    return x, m, sigmoid(hidden @ value["gate_kernel"] + value["gate_bias"])


def cosine(a, b):
    return a @ b / np.sqrt(a @ a) / np.sqrt(b @ b)


def test_gate_equals_numpy():
    layer = shaken(make_layer())
    x, m, z = parts(layer)
    assert (z > 0).all()
    assert (z < 1).all()
    expected = (z * x + (1 - z) * m)[FEATURES["form_index"]]
    np.testing.assert_allclose(layer(FEATURES), expected, atol=1e-6)


def test_objective_equals_numpy():
    layer = shaken(make_layer())
    x, m, _ = parts(layer)
    expected = 0.0
    for row, length in enumerate(FEATURES["lengths"]):
        for form in FEATURES["form_index"][row, :length]:
            if FEATURES["form_word_ids"][form] > UNKNOWN_ID:
                expected += 1 - cosine(x[form], m[form])
    vectors, loss = layer.with_auxiliary_loss(FEATURES)
    assert loss.numpy() == pytest.approx(expected, rel=1e-5)
    np.testing.assert_array_equal(vectors, layer(FEATURES))


def gradients(layer, take):
    """{name: gradient} of the layer's own weights."""
    with tf.GradientTape() as tape:
        target = take(*layer.with_auxiliary_loss(FEATURES))
    chars = {weight.ref() for weight in layer.char_layer.weights}
    own = [weight for weight in layer.trainable_weights if weight.ref() not in chars]
    names = [weight.name.split(":")[0].split("/")[-1] for weight in own]
    return dict(zip(names, tape.gradient(target, own), strict=True))


def test_objective_draws_characters_to_words_and_not_words_to_characters():
    layer = shaken(make_layer())
    found = gradients(layer, lambda vectors, loss: loss)
    with_gradient = {name for name, value in found.items() if value is not None}
    assert with_gradient == {"char_kernel", "char_bias"}
    assert np.abs(found["char_kernel"]).max() > 0
    # The labels' loss goes through both sides and through the gate.
    found = gradients(layer, lambda vectors, loss: tf.reduce_sum(vectors**2))
    assert all(value is not None for value in found.values())


def test_unknown_words_are_left_out():
    layer = shaken(make_layer())
    features = {**FEATURES, "form_word_ids": np.array([1, 1, 1, 1, 0], np.int32)}
    assert layer.with_auxiliary_loss(features)[1] == 0.0
    # So are words that this step reads as unknown.
    hiding = make_layer(unknown_word_rate=1e9, word_counts=COUNTS)
    hiding(FEATURES)
    assert hiding.with_auxiliary_loss(FEATURES)[1] > 0
    hidden = {**FEATURES, "form_word_ids": np.array([2, 3, 4, 2, 0], np.int32)}
    assert hiding.with_auxiliary_loss(hidden, dropout_seed=make_seed(1))[1] == 0.0


def test_padding_is_left_out():
    layer = shaken(make_layer())
    expected = layer.with_auxiliary_loss(FEATURES)[1]
    index = np.pad(FEATURES["form_index"], [(0, 0), (0, 2)], constant_values=3)
    index[1, 2:] = 0  # whatever stands there
    padded = {**FEATURES, "form_index": index}
    np.testing.assert_allclose(layer.with_auxiliary_loss(padded)[1], expected, rtol=1e-6)
    nothing = {**FEATURES, "lengths": np.zeros([2], np.int32)}
    assert layer.with_auxiliary_loss(nothing)[1] == 0.0


def test_contract():
    counts = {"unknown_word_rate": 0.5, "word_counts": COUNTS}
    check_representation(
        lambda **kwargs: make_layer(**counts, **kwargs),
        lambda **kwargs: make_layer(embedding_dropout=0.0, **kwargs),
    )
