r"""From text to tokens, each a stretch of the text, by one of three rules; and back.

All rules are regular expressions that TensorFlow's RE2 can run as well
(``exporting/text_tokens.py``; a test compares the two): no look-around. Splits that depend on what
follows, such as "don't" -> "do", "n't", are made first: a separator is put between the parts.
"""

import dataclasses
import functools
import re
import string
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from uanet_lite.input_error import InputError
from uanet_lite.strict_json import Kinds, all_strings, check_fields, shown

MAX_ABBREVIATIONS = 500
KINDS = ("unicode", "ptb", "whitespace")
MARKS = "@#"  # of names and topics in posts
SEPARATOR = "\x1f"  # a kind of blank, put where a word is to be cut

_JOINERS = "\u200c\u200d"
# Invisible characters of format: soft hyphen, marks of direction, zero-width blank, ... As in UAX
# 29 (WB4) they break no word. At its ends they belong to none, and by themselves they are no token.
FORMAT = (
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0001\U000e0020-\U000e007f"
)
# Rare letters that replace combining marks, joiners and FORMAT, which `re` does not know.
_MARK, _JOINER, _INVISIBLE = "\U000103a0", "\U000103a1", "\U000103a2"
_FLAG = r"[\U0001f1e6-\U0001f1ff]{2}"
# A character that is no letter, with the rest of an emoji: marks, joined ones, skin tones.
_SYMBOL = rf"[^\w\s](?:{_JOINER}[^\w\s]|[{_MARK}{_JOINER}\U0001f3fb-\U0001f3ff])*"

# Letters of a word, roughly: all but ASCII and punctuation of the usual blocks.
_ABOVE = "\u00ad\u00c0-\u1fff\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2fff\u3040-\U0010ffff"
_LETTERS = f"0-9A-Za-z_{_ABOVE}"
# Words that begin with an apostrophe; before any other word of letters it is a quotation mark.
_CLIPPED = (
    *("bout", "cause", "cos", "d", "em", "ll", "m", "n"),
    *("re", "round", "s", "t", "til", "tis", "twas", "ve"),
)


def _other_word(words: Sequence[str], *, root: bool = True) -> str:
    """A pattern of the start of a word that shows that it is none of these, upper case or not.

    RE2 has no look-around, so that "another word" has to be spelt out, letter by letter.
    """
    starts: dict[str, list[str]] = {}
    for word in words:
        if word:
            starts.setdefault(word[0], []).append(word[1:])
    used = "".join(letter + letter.upper() for letter in starts)
    others = "".join(letter for letter in string.ascii_letters if letter not in used)
    parts = [f"[{others}{_ABOVE}{'' if root else '0-9_'}]"]
    for letter, rest in starts.items():
        parts.append(f"[{letter}{letter.upper()}]{_other_word(rest, root=False)}")
    if not root and "" not in words:
        parts.append(rf"(?:\Z|[^{_LETTERS}])")
    return f"(?:{'|'.join(parts)})"


_OPENING = (rf"(^|[^{_LETTERS}'’])(['’])({_other_word(_CLIPPED)})", rf"\1\2{SEPARATOR}\3")
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
    _OPENING,
    _OPENING,  # again: a match takes the character behind a short word, and so before the next
)
QUOTES = "'\"‘’“”«»<>"  # end an address
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
            raise InputError(f"the tokenizer's marks must be of {MARKS}: {shown(self.marks)}")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return dataclasses.asdict(self) | {"abbreviations": list(self.abbreviations)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Tokenizer":
        """Inverse of ``to_dict``; raises InputError for what are not a tokenizer's values."""
        kinds: dict[str, Kinds] = {"kind": str, "abbreviations": list, "ordinals": bool}
        check_fields(values, {**kinds, "marks": str}, {}, where="the tokenizer")
        words = tuple(values["abbreviations"])
        if len(words) > MAX_ABBREVIATIONS or not all_strings(words) or "" in words:
            raise InputError(f"the tokenizer has abbreviations that are none: {shown(words)}")
        return cls(values["kind"], words, values["ordinals"], values["marks"])

    def spans(self, text: str) -> list[tuple[int, int]]:
        """(first character, character after the last) of each token, in order."""
        # With letters instead of combining marks and joiners; of the same length.
        shadow = text if text.isascii() else text.translate(_SHADOWS)
        if self.kind == "ptb":
            spans = _cut_spans(shadow, self._pattern)
        else:
            spans = [match.span() for match in self._pattern.finditer(shadow)]
        return spans if _INVISIBLE not in shadow else list(_visible(shadow, spans))

    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text."""
        return [text[start:end] for start, end in self.spans(text)]

    @functools.cached_property
    def _pattern(self) -> re.Pattern[str]:
        if self.kind == "whitespace":
            return re.compile(r"\S+")
        if self.kind == "unicode":
            return re.compile(rf"{_words('[,:]')}|{_FLAG}|{_SYMBOL}")
        parts = [
            rf"(?:https?://|www\.)[^\s{QUOTES}]*\w",
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
    return rf"\w+(?:(?:['’‘.-]|(?<=\d){between_digits}(?=\d))\w+){times}"


def _visible(shadow: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans without invisible characters at their ends; those of nothing else go."""
    for start, end in spans:
        token = shadow[start:end]
        start, end = end - len(token.lstrip(_INVISIBLE)), start + len(token.rstrip(_INVISIBLE))
        if start < end:
            yield start, end


_IS_FORMAT = re.compile(f"[{FORMAT}]")


class _Shadows(dict[int, str]):
    """What stands for each character, by its code; found when it is first read."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character in _JOINERS:
            shadow = _JOINER
        elif _IS_FORMAT.match(character):
            shadow = _INVISIBLE
        elif character in (_MARK, _JOINER, _INVISIBLE):  # the letters themselves
            shadow = "\U000103a3"
        else:
            shadow = _MARK if unicodedata.category(character)[0] == "M" else character
        self[code] = shadow
        return shadow


_SHADOWS = _Shadows()


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


_NO_BLANK_BEFORE = re.compile(
    r"[.,;:?!%)\]}»”…]|\.{2,}|[.!?]+|n['’]t|N['’]T|['’](?:s|S|m|M|d|D|ll|LL|re|RE|ve|VE)|''"
)
_NO_BLANK_BEHIND = frozenset("([{«“$£€#@") | {"``"}
_QUOTES = ('"', "'")


def detokenize(tokens: Sequence[str]) -> tuple[str, list[tuple[int, int] | None]]:
    """The text of tokens, and each one's place in it; None for a full stop that is left out.

    Punctuation and clitics are attached, others joined by blanks. Quotation marks open and close by
    turns. A full stop after an abbreviation ("Corp." and ".") is not written twice.
    """
    text = ""
    spans: list[tuple[int, int] | None] = []
    close, opened, abbreviated = True, dict.fromkeys(_QUOTES, False), False
    for token in tokens:
        after_stop, abbreviated = abbreviated, token[-1:] == "." and token[-2:-1].isalnum()
        if token == "." and after_stop:
            spans.append(None)
            close = False
            continue
        if token in _QUOTES and opened[token]:
            close = True
        if text and not close and not _NO_BLANK_BEFORE.fullmatch(token):
            text += " "
        spans.append((len(text), len(text) + len(token)))
        text += token
        close = token in _NO_BLANK_BEHIND
        if token in _QUOTES:
            opened[token] = close = not opened[token]
    return text, spans
