"""Splits text into tokens: the rules of ``uanet_tf.text.tokenizer``, repeated."""

import dataclasses
import functools
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from uanet_lite.errors import InputError

MAX_ABBREVIATIONS = 500
KINDS = ("unicode", "ptb", "whitespace")
MARKS = "@#"  # of names and topics in posts
SEPARATOR = "\x1f"  # a kind of blank, put where a word is to be cut

_JOINERS = "\u200c\u200d"
# Rare letters that replace combining marks and joiners, which `re` does not know.
_MARK, _JOINER = "\U000103a0", "\U000103a1"
_FLAG = r"[\U0001f1e6-\U0001f1ff]{2}"
# A character that is no letter, with the rest of an emoji: marks, joined ones, skin tones.
_SYMBOL = rf"[^\w\s](?:{_JOINER}[^\w\s]|[{_MARK}{_JOINER}\U0001f3fb-\U0001f3ff])*"

# Letters of a word, roughly: all but ASCII and punctuation of the usual blocks.
_LETTERS = "0-9A-Za-z_\u00c0-\u1fff\u200c\u200d\u2070-\u2fff\u3040-\U0010ffff"
# (pattern, replacement with SEPARATOR): in this order, in Python and in the graph.
CUTS = (
    (rf"([{_LETTERS}])([nN]['’][tT])(\Z|[^{_LETTERS}])", rf"\1{SEPARATOR}\2\3"),
    (
        rf"([{_LETTERS}])(['’](?:[sSmMdD]|ll|LL|re|RE|ve|VE))(\Z|[^{_LETTERS}])",
        rf"\1{SEPARATOR}\2\3",
    ),
    (rf"(^|[^{_LETTERS}])([cC]an)(not)(\Z|[^{_LETTERS}])", rf"\1\2{SEPARATOR}\3\4"),
    # The full stop after a sentence's last number, or its last letter: not "J. Smith".
    (r"([0-9])(\.[\"'”’»)\]]*[ \t\n]*)\Z", rf"\1{SEPARATOR}\2"),
    (r"(^|[ \t\n(\[\"'“‘«])([A-Z])(\.[\"'”’»)\]]*[ \t\n]*)\Z", rf"\1\2{SEPARATOR}\3"),
)
CURRENCY, INITIAL = r"[A-Z]{1,3}\$", r"[A-Z]\."
RUNS = r"\.\.+|--+|!!+|\?\?+|==+|\*\*+|''|``|<<|>>"


@dataclasses.dataclass(frozen=True)
class Tokenizer:
    """How text is cut into tokens.

    Attributes:
      kind: "unicode": a token is a run of letters and digits, joined over one apostrophe, hyphen or
        full stop ("don't", "e-mail", "U.S"), between digits also over one comma or colon, or one
        other character, with what belongs to an emoji. "ptb": as in the Penn Treebank and most
        corpora of English: "do" "n't", "Apple" "'s", "U.S.", "J." before a name, "Corp.", "US$",
        "...", web and mail addresses. "whitespace": the parts between blanks.
      abbreviations: for "ptb": words that keep their full stop.
      ordinals: for "ptb": whether numbers keep a full stop within a sentence ("14. marta").
      marks: for "ptb": which of "@" and "#" stay with the word behind them ("@name", "#topic").
    """

    kind: str = "unicode"
    abbreviations: tuple[str, ...] = ()
    ordinals: bool = False
    marks: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"the tokenizer must be one of {', '.join(KINDS)}: {self.kind!r}")
        if not set(self.marks) <= set(MARKS):
            raise InputError(f"the tokenizer's marks must be of {MARKS}: {self.marks!r:.60}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Tokenizer":
        """From the values in settings.json.

        Raises:
          InputError: these are not a tokenizer's values.
        """
        words = tuple(values["abbreviations"])
        if len(words) > MAX_ABBREVIATIONS or not all(
            word and isinstance(word, str) for word in words
        ):
            raise InputError("the tokenizer has abbreviations that are none.")
        # Files from before have no marks.
        return cls(values["kind"], words, bool(values["ordinals"]), str(values.get("marks", "")))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """(first character, character after the last) of each token, in order."""
        if self.kind == "ptb":
            return _cut_spans(_shadow(text), self._pattern)
        return [match.span() for match in self._pattern.finditer(_shadow(text))]

    @functools.cached_property
    def _pattern(self) -> re.Pattern[str]:
        if self.kind == "whitespace":
            return re.compile(r"\S+")
        if self.kind == "unicode":
            return re.compile(rf"{_words('[,:]')}|{_FLAG}|{_SYMBOL}")
        parts = [
            r"(?:https?://|www\.)\S*\w",
            r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
            r"(?:[A-Za-z]\.){2,}",
            *map(re.escape, sorted(self.abbreviations, key=lambda word: (-len(word), word))),
            *([r"\d+\."] if self.ordinals else []),
            *([rf"[{self.marks}]\w+"] if self.marks else []),
            CURRENCY,
            _words("[,:/]", "+"),
            INITIAL,
            r"\w+",
            r"['’]\w+",
            RUNS,
        ]
        return re.compile("|".join([*parts, _FLAG, _SYMBOL]))


def _words(between_digits: str, times: str = "*") -> str:
    """Runs of letters and digits, joined over single marks as often as ``times`` says."""
    return rf"\w+(?:(?:['’.-]|(?<=\d){between_digits}(?=\d))\w+){times}"


def _shadow(text: str) -> str:
    """The text with letters instead of combining marks and joiners; of the same length."""
    if text.isascii():
        return text
    return "".join(map(_shadow_character, text))


def _shadow_character(character: str) -> str:
    if character in _JOINERS:
        return _JOINER
    return _MARK if unicodedata.category(character)[0] == "M" else character


@functools.cache
def _compiled_cuts() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), replacement) for pattern, replacement in CUTS]


def _cut_spans(text: str, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    """Spans in ``text`` of the tokens of the text with its separators."""
    text = text.replace(SEPARATOR, " ")
    for cut, replacement in _compiled_cuts():
        text = cut.sub(replacement, text)
    spans, added, position = [], 0, 0
    for match in pattern.finditer(text):
        added += text.count(SEPARATOR, position, match.start())
        position = match.start()
        spans.append((match.start() - added, match.end() - added))
    return spans
