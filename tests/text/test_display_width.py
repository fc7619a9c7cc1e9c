import pytest

from uanet_tf.text.display_width import display_width, pad, shorten


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("東京", 4), ("e\u0301", 1), ("ｱ", 1), ("🙂", 2), ("👩\u200d👩\u200d👧", 2)],
)
def test_display_width(text, width):
    assert display_width(text) == width
    assert display_width(pad(text, 9)) == 9


def test_shorten():
    assert shorten("a" * 40, 32) == "a" * 31 + "…"
    assert display_width(shorten("東" * 40, 32)) <= 32
    assert shorten("東東東", 6) == "東東東"
    family = "👩\u200d👩\u200d👧"
    assert shorten(3 * family, 5) == 2 * family + "…"  # no emoji is cut in two
    assert shorten("\x1b[31mred\n", 32) == "\\x1b[31mred\\n"
    assert shorten("\u202eevil", 32) == "\\u202eevil"
