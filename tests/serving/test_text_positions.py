import pytest

from uanet_lite.sentence import joined_offsets
from uanet_tf.serving.text_positions import character_offsets


@pytest.mark.parametrize("text", ["", "abc", "Café é", "日本 x", "a😀b", "e\u0301 x", "\u200dü\n"])
def test_bytes_to_characters(text):
    positions = range(len(text) + 1)
    offsets = [len(text[:position].encode()) for position in positions]
    assert character_offsets(text, offsets) == list(positions)


def test_an_offset_inside_a_character_is_that_characters():
    assert character_offsets("aé😀b", [1, 2, 3, 4, 5, 6, 7, 8]) == [1, 1, 2, 2, 2, 2, 3, 4]


def test_offsets_of_joined_tokens():
    tokens = ["Café", "日本", "x"]
    text, starts, ends = joined_offsets(tokens)
    assert text == "Café 日本 x"
    assert [text[start:end] for start, end in zip(starts, ends, strict=True)] == tokens
    assert joined_offsets([]) == ("", [], [])
