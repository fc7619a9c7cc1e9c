"""The losses of the parts of a batch, and their gradients, add up to those of the batch."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import make_sentences, make_vocabulary, small
from tests.models.test_contract import config_of
from tests.quick_params import quick_params
from tests.tiny_encoder import write_tiny_encoder
from uanet_tf.data.batching import PART, BatchBuilder, encode_corpus, part_of_batch, part_seed
from uanet_tf.models.build import make_tagger
from uanet_tf.ops.dropout import make_seed

# Of each kind of tensor that is dropped somewhere, a system that does.
QUICK = (
    "uanet_shared_argmax",
    "uanet_plain_lstm",  # masks [T, B, D]
    "rel_transformer_crf",  # attention weights [h, B, T, T]
    "char_attention_crf",  # a loss of the representation
    "id_cnn_crf",  # several states of each token
)
SYSTEMS = (*QUICK, "bilstm_lan", "seq2seq_beam", "seq2biseq_transformer")


def make(config, count=7):
    sentences = make_sentences("IOB2", count)
    vocabulary = make_vocabulary(sentences, "IOB2")
    dropped = {"unknown_word_rate": 0.9, "refiner_dropout": 0.3, "embedding_dropout": 0.3}
    if config.representation.representation == "transformer":
        del dropped["unknown_word_rate"]
    tagger = make_tagger(config.replace(**dropped), vocabulary)
    corpus = encode_corpus(sentences, tagger.vocabulary, tagger.lookup)
    return tagger, BatchBuilder(corpus)(tf.range(count, dtype=tf.int64))


def slopes(tagger, features, labels, seed):
    with tf.GradientTape() as tape:
        losses = tagger.loss_terms(features, labels, part_seed(features, seed))
        total = tf.add_n(list(losses.values()))
    found = tape.gradient(total, tagger.trainable_variables)
    gradients = [
        np.zeros(v.shape) if g is None else tf.convert_to_tensor(g).numpy()
        for g, v in zip(found, tagger.trainable_variables, strict=True)
    ]
    return {name: float(value) for name, value in losses.items()}, gradients


def assert_parts_add_up(tagger, batch, parts=3):
    features, labels = batch
    seed = make_seed(3, 5)
    whole, expected = slopes(tagger, features, labels, seed)
    found = [
        slopes(tagger, *part_of_batch(features, labels, number, parts), seed)
        for number in range(parts)
    ]
    sums = {name: sum(losses[name] for losses, _ in found) for name in whole}
    np.testing.assert_allclose(
        [sums[name] for name in whole], list(whole.values()), rtol=1e-5, err_msg=str(list(whole))
    )
    for variable, whole_slope, *part in zip(
        tagger.trainable_variables, expected, *(g for _, g in found), strict=True
    ):
        tolerance = 1e-5 * (1 + np.abs(whole_slope).max())
        np.testing.assert_allclose(sum(part), whole_slope, atol=tolerance, err_msg=variable.name)


@pytest.mark.parametrize("name", quick_params(SYSTEMS, QUICK))
def test_losses_and_gradients_add_up(name):
    assert_parts_add_up(*make(small(config_of(name))))


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_windows_of_an_encoder_add_up(tmp_path, pooling):
    """Some sentences have several rows of sub-words, so parts have other rows than sentences."""
    rates = {"hidden_dropout_prob": 0.3, "attention_probs_dropout_prob": 0.3}
    preset = write_tiny_encoder(tmp_path / "bert", max_position_embeddings=8, **rates)
    config = small(config_of("transformer_uanet")).replace(pretrained=str(preset))
    assert_parts_add_up(*make(config.replace(subword_pooling=pooling)))


def test_a_dropped_part_differs_from_a_batch_of_its_own():
    """Else the test above would hold without masks that know their place."""
    tagger, (features, labels) = make(small(config_of("uanet_fast")))
    part, ids = part_of_batch(features, labels, 1, 2)
    with_place, _ = slopes(tagger, part, ids, make_seed(3, 5))
    alone = {name: value for name, value in part.items() if name != PART}
    without, _ = slopes(tagger, alone, ids, make_seed(3, 5))
    assert abs(with_place["draft"] - without["draft"]) > 1e-3


@pytest.mark.parametrize(("count", "parts"), [(7, 3), (2, 2), (1, 3), (5, 4)])
def test_parts_are_the_batch_in_order(count, parts):
    features = {
        "form_index": tf.reshape(tf.range(count * 2), [count, 2]),
        "lengths": tf.range(count) + 1,
        "form_word_ids": tf.range(9),
    }
    labels = tf.reshape(tf.range(count * 2), [count, 2])
    rows, sizes = [], []
    for number in range(parts):
        part, ids = part_of_batch(features, labels, number, parts)
        first, size, total = part[PART].numpy()
        assert total == count
        assert len(part["lengths"]) == len(ids) == max(size, 1)
        np.testing.assert_array_equal(part["form_index"], ids)
        np.testing.assert_array_equal(part["form_word_ids"], range(9))
        sizes.append(size)
        if size:
            assert first == len(rows)
            rows += part["lengths"].numpy().tolist()
    assert rows == list(range(1, count + 1))
    assert max(sizes) - min(sizes) <= 1
