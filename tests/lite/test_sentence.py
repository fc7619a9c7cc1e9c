from uanet_lite.sentence import joined_offsets


def test_offsets_of_joined_tokens():
    tokens = ["Café", "日本", "x"]
    text, starts, ends = joined_offsets(tokens)
    assert text == "Café 日本 x"
    assert [text[start:end] for start, end in zip(starts, ends, strict=True)] == tokens
    assert joined_offsets([]) == ("", [], [])
