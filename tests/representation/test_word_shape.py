import numpy as np
import pytest

from uanet_tf.data.lookup import TokenLookup
from uanet_tf.representation.word_shape import (
    ALL_CAPITALS,
    INITIAL_CAPITAL,
    INNER_CAPITAL,
    NO_CAPITAL,
    OTHER,
    UPPER,
    WordShape,
    char_classes,
)

CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0-.'éÉпПßא一"


def shape_of(word):
    """The definition, on the string itself."""
    if word and all(char.isupper() for char in word):
        return ALL_CAPITALS
    if word and word[0].isupper():
        return INITIAL_CAPITAL
    if any(char.isupper() for char in word):
        return INNER_CAPITAL
    return NO_CAPITAL


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("word", NO_CAPITAL),
        ("0000-00", NO_CAPITAL),
        ("", NO_CAPITAL),
        ("א一", NO_CAPITAL),
        ("ß", NO_CAPITAL),
        ("iPhone", INNER_CAPITAL),
        ("0D", INNER_CAPITAL),
        ("-A", INNER_CAPITAL),
        ("Word", INITIAL_CAPITAL),
        ("McDonald", INITIAL_CAPITAL),
        ("U.S.", INITIAL_CAPITAL),
        ("B0", INITIAL_CAPITAL),
        ("Été", INITIAL_CAPITAL),
        ("A", ALL_CAPITALS),
        ("USA", ALL_CAPITALS),
        ("ПÉ", ALL_CAPITALS),
    ],
)
def test_shape_table(word, shape):
    assert shape_of(word) == shape
    layer = WordShape(char_classes(CHARS))
    _, char_ids = TokenLookup(["a"], list(CHARS))(np.array([word, "padding-beyond"]))
    assert layer.shapes(char_ids).numpy().tolist() == [shape, NO_CAPITAL]
    vectors = layer(char_ids)
    np.testing.assert_array_equal(vectors[0], layer.embeddings.numpy()[shape])
    assert vectors.shape == (2, 5)


def test_an_unknown_character_is_no_capital():
    layer = WordShape(char_classes(CHARS))
    _, char_ids = TokenLookup(["a"], list(CHARS))(np.array(["Ω", "ΩA", "AΩ", "ωA"]))
    shapes = [NO_CAPITAL, INNER_CAPITAL, INITIAL_CAPITAL, INNER_CAPITAL]
    assert layer.shapes(char_ids).numpy().tolist() == shapes


def test_char_classes():
    assert char_classes("aB0") == [OTHER, OTHER, OTHER, UPPER, OTHER]  # padding, unknown first
    assert char_classes("") == [OTHER, OTHER]
