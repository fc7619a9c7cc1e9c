"""Splitting text into tokens: the rule of ``uanet_tf.tag --format=text``."""

import re
import unicodedata

_JOINERS = "\u200c\u200d"
# What stands for combining marks and for joiners, which `re` does not know: rare letters.
_MARK, _JOINER = "\U000103a0", "\U000103a1"
_TOKEN = re.compile(
    r"\w+(?:(?:['’.-]|(?<=\d)[,:](?=\d))\w+)*"
    r"|[\U0001f1e6-\U0001f1ff]{2}"  # a flag
    rf"|[^\w\s](?:{_JOINER}[^\w\s]|[{_MARK}{_JOINER}\U0001f3fb-\U0001f3ff])*"  # colours of skin
)


def token_offsets(text: str) -> list[tuple[int, int]]:
    """Start and end of each token, in characters.

    A token is a run of letters, digits, marks and underscores, joined over one apostrophe, hyphen
    or full stop ("don't", "e-mail", "3.5"), between digits also over one comma or colon; or one
    other character that is no blank, with the marks and joined characters of an emoji.
    """
    # Combining marks and joiners belong to the letters they stand with.
    shadow = text if text.isascii() else "".join(map(_shadow, text))
    return [match.span() for match in _TOKEN.finditer(shadow)]


def _shadow(character: str) -> str:
    if character in _JOINERS:
        return _JOINER
    return _MARK if unicodedata.category(character)[0] == "M" else character
