import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import pad
from tests.models.tagger_setup import SENTENCES, make_model
from tests.representation.token_contract import check_representation
from uanet_lite.token_ids import PADDING_ID, UNKNOWN_ID
from uanet_tf.ops.dropout import make_seed
from uanet_tf.representation.char_cnn import CharCNN
from uanet_tf.representation.representation import features_of_rows
from uanet_tf.representation.word_representation import WordRepresentation

COUNTS = [1, 1, 3, 50, 0]
FEATURES = {
    "form_word_ids": np.array([2, 5, 1, 4], np.int32),
    "form_char_ids": np.array([[3, 4, 0], [5, 0, 0], [2, 2, 2], [0, 0, 0]], np.int32),
    "form_index": np.array([[0, 1, 0], [2, 3, 3]], np.int32),
}


def make_layer(chars=True, **options):
    defaults = {"word_width": 4, "embedding_dropout": 0.5}
    char_layer = CharCNN(9, char_width=3, filters=2, name="chars") if chars else None
    return WordRepresentation(7, char_layer=char_layer, **{**defaults, **options})


@pytest.mark.parametrize("chars", [False, True])
def test_words_and_characters_of_each_token(chars):
    layer = make_layer(chars)
    outputs = layer(FEATURES).numpy()
    assert outputs.shape == (2, 3, 6 if chars else 4)
    table = layer.embeddings.numpy()
    for row, step in np.ndindex(2, 3):
        form = FEATURES["form_index"][row, step]
        word = table[FEATURES["form_word_ids"][form]]
        np.testing.assert_array_equal(outputs[row, step, :4], word)
        if chars:
            spelled = layer.char_layer(FEATURES["form_char_ids"][form : form + 1])[0]
            np.testing.assert_allclose(outputs[row, step, 4:], spelled, atol=1e-6)


def test_embedding_dropout_is_drawn_token_by_token():
    layer = make_layer()
    features = {**FEATURES, "form_index": np.zeros([20, 30], np.int32)}
    plain, dropped = layer(features).numpy(), layer(features, dropout_seed=make_seed(1)).numpy()
    kept = dropped != 0
    assert kept.mean() == pytest.approx(0.5, abs=0.03)
    np.testing.assert_allclose(dropped[kept], 2 * plain[kept], rtol=1e-6)
    assert len({row.tobytes() for row in kept.reshape(-1, 6)}) > 40  # of 64 patterns
    again = layer(features, dropout_seed=make_seed(1))
    np.testing.assert_array_equal(again, dropped)
    assert (layer(features, dropout_seed=make_seed(2)).numpy() != dropped).any()


def shares_hidden(word_id, rate):
    """How often, over many draws, a word is read as unknown."""
    layer = make_layer(
        chars=False, embedding_dropout=0.0, unknown_word_rate=rate, word_counts=COUNTS
    )
    ids = np.full([4000], word_id, np.int32)
    features = {"form_word_ids": ids, "form_index": np.arange(4000, dtype=np.int32)[None]}
    outputs = layer(features, dropout_seed=make_seed(3)).numpy()[0]
    np.testing.assert_array_equal(layer(features)[0], layer.embeddings.numpy()[ids])
    return (outputs == layer.embeddings.numpy()[UNKNOWN_ID]).all(axis=-1).mean()


@pytest.mark.parametrize("rate", [0.25, 2.0])
@pytest.mark.parametrize(("word_id", "count"), [(2, 1), (4, 3), (5, 50)])
def test_rare_words_are_read_as_unknown(word_id, count, rate):
    assert shares_hidden(word_id, rate) == pytest.approx(rate / (rate + count), abs=0.03)


def test_padding_is_never_read_as_unknown():
    assert shares_hidden(PADDING_ID, 2.0) == 0.0
    assert shares_hidden(UNKNOWN_ID, 2.0) == 1.0  # it is what it is


def test_hiding_and_dropping_are_drawn_apart():
    """Were one seed behind both, a word's fate would tell which of its numbers drop."""
    layer = make_layer(chars=False, unknown_word_rate=1.0, word_counts=COUNTS)
    ids = np.full([2000], 2, np.int32)
    features = {"form_word_ids": ids, "form_index": np.arange(2000, dtype=np.int32)[None]}
    layer(features)
    layer.embeddings.assign(tf.repeat(tf.range(1.0, 8.0)[:, None], 4, axis=1))
    outputs = layer(features, dropout_seed=make_seed(4)).numpy()[0]
    seen = outputs.max(axis=-1)
    hidden = seen == 2 * 2.0
    first_dropped = outputs[:, 0] == 0
    told = seen > 0
    rates = [first_dropped[told & (hidden == value)].mean() for value in (False, True)]
    assert rates[0] == pytest.approx(rates[1], abs=0.08)


def with_base(rate=0.0, num_trained=5):
    """Words 2 to 4 are trained, 3 and 5 have a base, 6 has nothing."""
    layer = make_layer(
        chars=False,
        embedding_dropout=0.0,
        num_trained=num_trained,
        unknown_word_rate=rate,
        word_counts=[1, 2, 5] if rate else None,
    )
    layer.build(None)
    rows, scales = np.zeros([7, 4], np.int8), np.zeros([7], np.float32)
    rows[[3, 5]], scales[[3, 5]] = [[1, -2, 3, 127], [9, 8, 7, -127]], [0.5, 0.25]
    layer.pretrained.rows.assign(rows)
    layer.pretrained.scales.assign(scales)
    return layer, rows * scales[:, None], layer.embeddings.numpy()


def read(layer, ids, seed=None):
    features = {
        "form_word_ids": np.array(ids, np.int32),
        "form_index": np.arange(len(ids), dtype=np.int32)[None],
    }
    return layer(features, dropout_seed=seed).numpy()[0]


def test_a_vector_is_what_was_pretrained_and_what_was_learnt():
    layer, base, delta = with_base()
    assert delta.shape == (5, 4)
    expected = [*(base[:5] + delta), base[5], delta[UNKNOWN_ID]]
    np.testing.assert_allclose(read(layer, range(7)), expected, rtol=1e-6)
    assert [weight.name for weight in layer.trainable_weights] == [layer.embeddings.name]


def test_a_rare_word_with_a_base_is_read_as_if_training_had_not_had_it():
    layer, base, delta = with_base(rate=1.0)
    both, alone = base[3] + delta[3], base[3]
    outputs = read(layer, [3] * 4000, make_seed(5))
    is_alone = (outputs == alone).all(axis=-1)
    assert is_alone.mean() == pytest.approx(1 / (1 + 2), abs=0.03)
    np.testing.assert_allclose(outputs[~is_alone], np.tile(both, [(~is_alone).sum(), 1]))
    outputs = read(layer, [2] * 4000, make_seed(5))
    assert (outputs == delta[UNKNOWN_ID]).all(axis=-1).mean() == pytest.approx(0.5, abs=0.03)
    np.testing.assert_array_equal(
        read(layer, [5, 6], make_seed(5)), np.float32([base[5], delta[UNKNOWN_ID]])
    )


def test_the_base_gets_no_gradient_and_a_word_without_delta_none():
    layer, _, _ = with_base()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(
            layer.word_vectors({"form_word_ids": tf.constant([3, 5, 6])})[0] * [1.0, 2.0, 3.0, 4.0]
        )
    (gradient,) = tape.gradient(loss, layer.trainable_weights)
    dense = tf.convert_to_tensor(gradient).numpy()
    np.testing.assert_array_equal(dense[[1, 3]], [[1, 2, 3, 4]] * 2)
    np.testing.assert_array_equal(dense[[0, 2, 4]], 0)


def test_contract():
    counts = {"unknown_word_rate": 0.5, "word_counts": COUNTS}
    check_representation(
        lambda **kwargs: make_layer(**counts, **kwargs),
        lambda **kwargs: make_layer(embedding_dropout=0.0, **kwargs),
    )
    check_representation(
        lambda **kwargs: make_layer(num_trained=4, **kwargs),
        lambda **kwargs: make_layer(num_trained=4, embedding_dropout=0.0, **kwargs),
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"embedding_dropout": 1.0}, r"`embedding_dropout` must be in \[0, 1\). Received: "),
        ({"unknown_word_rate": 0.25}, "a count for each of the 5 words. Received: .*None"),
        ({"num_trained": 8}, "from 2 to num_words=7. Received: num_trained=8"),
        ({"unknown_word_rate": 0.25, "word_counts": [1]}, r"5 words. Received: word_counts=\[1\]"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        make_layer(**options)


def test_part_of_a_batch_has_its_own_words_only():
    model = make_model()
    sentences = [sentence.tokens for sentence in SENTENCES]
    batch = model.features(pad(sentences))
    rows = [3, 0]
    part = features_of_rows(batch, tf.constant(rows))
    np.testing.assert_allclose(
        model.drafter.representation(part),
        model.drafter.representation(batch).numpy()[rows],
        atol=1e-6,
    )
    np.testing.assert_array_equal(part["lengths"], batch["lengths"].numpy()[rows])
    distinct = {token for row in rows for token in sentences[row]}
    words = len(np.unique(batch["form_index"].numpy()[rows]))
    assert len(distinct) <= words <= len(part["form_word_ids"])
    assert len(part["form_word_ids"]) < len(batch["form_word_ids"])
    assert part["form_index"].numpy().max() == words - 1
