import json

import pytest

from uanet_lite.sentence import joined_offsets
from uanet_lite.tagged_sentence import TaggedSentence
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


def sentence(labels, scheme="IOB2"):
    count = len(labels)
    text, starts, ends = joined_offsets(["Real", "Madrid", "beat", "Ävle"][:count])
    return TaggedSentence(
        text.split(),
        labels,
        labels,
        labels,
        [0.5] * count,
        [0.25] * count,
        [True] * count,
        scheme,
        text,
        starts,
        ends,
    )


def test_entities():
    first, second = sentence(["B-ORG", "I-ORG", "O", "B-LOC"]).entities
    assert tuple(first) == ("Real Madrid", "ORG", 0, 11, 0, 2, 0.25, 0.5, None, None)
    assert tuple(second) == ("Ävle", "LOC", 17, 21, 3, 4, 0.25, 0.5, None, None)
    assert sentence(["NN", "NN"], None).entities == []


def test_plain_values():
    values = sentence(["B-ORG", "I-ORG"]).to_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["text"] == "Real Madrid"
    assert values["entities"] == [
        {
            "text": "Real Madrid",
            "type": "ORG",
            "start": 0,
            "end": 11,
            "token_start": 0,
            "token_end": 2,
            "confidence": 0.25,
            "uncertainty": 0.5,
        }
    ]
    assert (values["starts"], values["ends"]) == ([0, 5], [4, 11])
    assert values["uncertainty"] == [0.5, 0.5]
