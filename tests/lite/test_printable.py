import pytest

from uanet_lite.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("B-PER", "B-PER"),
        ("", ""),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x9b31m\x85", r"\x9b31m\x85"),
        ("\u202etxt.exe\u2066", r"\u202etxt.exe\u2066"),
        ("a\u2028b\u2029", r"a\u2028b\u2029"),
        ("\udcff", r"\udcff"),
        ("10\u00a0000 東京\u3000 👩\u200d🚀 नमस्ते", "10\u00a0000 東京\u3000 👩\u200d🚀 नमस्ते"),
    ],
)
def test_what_acts_is_escaped_and_nothing_else(text, shown):
    assert printable(text) == shown
    assert printable(shown) == shown


def test_kept_characters():
    assert printable("a\n\tb\x1b", keep="\n\t") == "a\n\tb\\x1b"
