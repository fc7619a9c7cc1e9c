import numpy as np
import pytest

from tests.training.tiny_run import TINY
from uanet_lite.token_ids import FIRST_ID
from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError
from uanet_tf.models.build import make_tagger
from uanet_tf.representation.pretrained_vectors import quantize
from uanet_tf.training.fill_vectors import (
    add_pretrained,
    fill_embeddings,
    round_differences,
    word_representations,
)

WORDS = ("Rio", "ran", "0", "none")
VECTORS = {"rio": [1, -1], "ran": [2, 1], "Oslo": [3, 3], "7": [4, 4], "the": [5, 5]}


@pytest.fixture
def vocabulary():
    return Vocabulary(
        words=WORDS, word_counts=(1, 1, 1, 1), chars=("a",), labels=("A", "B"), scheme=None
    )


@pytest.fixture
def configure(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{word} {x} {y}\n" for word, (x, y) in VECTORS.items()))

    def configure(**settings):
        return Config().replace(**(TINY | {"word_vectors": str(path), "word_width": 2} | settings))

    return configure


def vectors_of(vocabulary, table):
    values = table.rows[FIRST_ID:] * table.scales[FIRST_ID:, None]
    return dict(zip(vocabulary.words, values.round(1).tolist(), strict=True))


def test_no_file(vocabulary):
    assert add_pretrained(Config(), vocabulary) == (vocabulary, None)


def test_all_words_of_the_file_after_those_of_the_data(vocabulary, configure):
    grown, table = add_pretrained(configure(), vocabulary)
    assert grown.words == (*WORDS, "rio", "Oslo", "the")
    assert grown.word_counts == vocabulary.word_counts
    assert vectors_of(grown, table) == {
        "Rio": [1, -1],  # that of its lower case
        "ran": [2, 1],
        "0": [4, 4],  # that of a word that is looked up as 0
        "none": [0, 0],
        "rio": [1, -1],
        "Oslo": [3, 3],
        "the": [5, 5],
    }
    assert (table.scales[FIRST_ID:] > 0).tolist() == [word != "none" for word in grown.words]


def test_the_first_words_of_the_file_and_those_of_the_data(vocabulary, configure):
    grown, table = add_pretrained(
        configure(vector_limit=1), vocabulary, dict.fromkeys([*WORDS, "the"], 1)
    )
    assert grown.words == (*WORDS, "the", "rio")
    found = vectors_of(grown, table)
    assert found["ran"] == [2, 1]
    assert found["the"] == [5, 5]
    assert found["0"] == [0, 0]  # 7 is not read


def test_width(vocabulary, configure):
    with pytest.raises(InputError, match="its vectors have 2 numbers, but `word_width` is 5"):
        add_pretrained(configure(word_width=5), vocabulary)


def test_one_table_for_all_and_what_is_learnt_begins_at_zero(vocabulary, configure):
    config = configure()
    vocabulary, table = add_pretrained(config, vocabulary)
    tagger = make_tagger(config, vocabulary)
    parts = list(word_representations(tagger))
    before = [part.embeddings.numpy() for part in parts]
    fill_embeddings(tagger, table)
    assert len(parts) == 2
    assert parts[0].pretrained is parts[1].pretrained
    assert sum(weight.dtype == "int8" for weight in tagger.weights) == 1
    for part, old in zip(parts, before, strict=True):
        new = part.embeddings.numpy()
        assert new.shape == (len(WORDS) + FIRST_ID, 2)
        begun = [FIRST_ID, FIRST_ID + 1, FIRST_ID + 2]
        np.testing.assert_array_equal(new[begun], 0)
        kept = [0, 1, FIRST_ID + 3]
        np.testing.assert_array_equal(new[kept], old[kept])
        features = {"form_word_ids": np.arange(FIRST_ID, 9, dtype=np.int32)}
        vectors, ids = part.word_vectors(features)
        expected = table.rows[FIRST_ID:] * table.scales[FIRST_ID:, None]
        expected[3] = old[FIRST_ID + 3]
        np.testing.assert_allclose(vectors, expected, rtol=1e-6)
        np.testing.assert_array_equal(ids, features["form_word_ids"])


def test_learnt_differences_are_rounded_to_steps_far_below_them(vocabulary, configure):
    config = configure()
    vocabulary, _ = add_pretrained(config, vocabulary)
    tagger = make_tagger(config, vocabulary)
    (first, *_) = word_representations(tagger)
    learnt = np.random.default_rng(1).normal(scale=0.1, size=first.embeddings.shape)
    first.embeddings.assign(learnt)
    round_differences(tagger)
    rounded = first.embeddings.numpy()
    np.testing.assert_array_equal(rounded * 256, np.rint(learnt.astype(np.float32) * 256))
    round_differences(tagger)
    np.testing.assert_array_equal(first.embeddings.numpy(), rounded)


def test_a_rare_training_word_with_a_vector_is_known_with_its_count(tmp_path):
    """Left out for its rarity alone; with the count 0 it would always be read as unknown."""
    path = tmp_path / "rare.txt"
    path.write_text("rare 1 2\nunseen 3 4\n")
    vocabulary = Vocabulary(("often",), (9,), ("o",), ("O",), "IOB2")
    config = Config().replace(word_vectors=str(path), word_width=2)
    grown, _ = add_pretrained(config, vocabulary, {"often": 9, "rare": 1})
    assert grown.words == ("often", "rare", "unseen")
    assert grown.word_counts == (9, 1)


def test_eight_bits():
    vectors = np.random.default_rng(1).normal(size=[50, 20]).astype(np.float32)
    vectors[7] = 0
    rows, scales = quantize(vectors)
    assert rows.dtype == np.int8
    np.testing.assert_allclose(scales, np.abs(vectors).max(axis=1) / 63, rtol=1e-6)
    assert (np.abs(rows * scales[:, None] - vectors) <= scales[:, None] * 0.501).all()
    assert (rows[7] == 0).all()
