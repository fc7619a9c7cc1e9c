import numpy as np
import pytest
import tensorflow as tf

from tests.training.tiny_run import TINY
from uanet_lite.token_ids import FIRST_ID
from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError
from uanet_tf.models.build import make_tagger
from uanet_tf.training.fill_vectors import add_pretrained, fill_embeddings, word_representations

WORDS = ("Rio", "ran", "0")
VECTORS = {"rio": [1, 1], "ran": [2, 2], "Oslo": [3, 3], "7": [4, 4], "the": [5, 5]}


@pytest.fixture
def vocabulary():
    return Vocabulary(
        words=WORDS, word_counts=(1, 1, 1), chars=("a",), labels=("A", "B"), scheme=None
    )


@pytest.fixture
def configure(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{word} {x} {y}\n" for word, (x, y) in VECTORS.items()))

    def configure(**settings):
        return Config().replace(**(TINY | {"word_vectors": str(path), "word_width": 2} | settings))

    return configure


def test_no_file(vocabulary):
    assert add_pretrained(Config(), vocabulary) == (vocabulary, {})


def test_words_of_the_data(vocabulary, configure):
    same, vectors = add_pretrained(configure(), vocabulary)
    assert same == vocabulary
    assert {word: row.tolist() for word, row in vectors.items()} == {"Rio": [1, 1], "ran": [2, 2]}


def test_all_words_of_the_file(vocabulary, configure):
    grown, vectors = add_pretrained(configure(vector_words="all"), vocabulary)
    assert grown.words == (*WORDS, "Oslo", "rio", "the")
    assert grown.word_counts == (1, 1, 1, 0, 0, 0)
    assert vectors["Oslo"].tolist() == [3, 3]
    assert vectors["0"].tolist() == [4, 4]


def test_width(vocabulary, configure):
    with pytest.raises(InputError, match="its vectors have 2 numbers, but --word_width is 5"):
        add_pretrained(configure(word_width=5), vocabulary)


def test_every_word_embedding_is_filled(vocabulary, configure):
    config = configure()
    tagger = make_tagger(config, vocabulary)
    before = [part.embeddings.numpy() for part in word_representations(tagger)]
    fill_embeddings(tagger, add_pretrained(config, vocabulary)[1])
    assert len(before) == 2
    for part, old in zip(word_representations(tagger), before, strict=True):
        new = part.embeddings.numpy()
        np.testing.assert_array_equal(new[FIRST_ID : FIRST_ID + 2], [[1, 1], [2, 2]])
        np.testing.assert_array_equal(new[:FIRST_ID], old[:FIRST_ID])
        np.testing.assert_array_equal(new[FIRST_ID + 2 :], old[FIRST_ID + 2 :])
    tf.debugging.assert_all_finite(word_representations(tagger)[0].embeddings, "finite")


def test_a_rare_training_word_with_a_vector_is_known_with_its_count(tmp_path):
    """Left out for its rarity alone; with the count 0 it would always be read as unknown."""
    path = tmp_path / "rare.txt"
    path.write_text("rare 1 2\nunseen 3 4\n")
    vocabulary = Vocabulary(("often",), (9,), ("o",), ("O",), "IOB2")
    for mode, words in (("data", ("often", "rare")), ("all", ("often", "rare", "unseen"))):
        config = Config().replace(word_vectors=str(path), vector_words=mode, word_width=2)
        grown, vectors = add_pretrained(config, vocabulary, {"often": 9, "rare": 1})
        assert grown.words == words
        assert grown.word_counts[:2] == (9, 1)
        assert set(vectors) == set(words) - {"often"}
