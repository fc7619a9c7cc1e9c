"""BERT's original tokenizer in plain Python, a word at a time.

After the basic and the WordPiece tokenizer of Google's BERT (tokenization.py), with the character
classes of Python's ``unicodedata``; lower case as in the package tokenizers of Hugging Face.
"""

import unicodedata
from collections.abc import Sequence

# Blocks that the original calls CJK.
CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
MAX_CHARS = 100


def is_blank(char: str) -> bool:
    return char in " \t\n\r" or unicodedata.category(char) == "Zs"


def is_control(char: str) -> bool:
    return char not in "\t\n\r" and unicodedata.category(char).startswith("C")


def is_punctuation(char: str) -> bool:
    code = ord(char)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(char).startswith("P")


def is_chinese(char: str) -> bool:
    return any(low <= ord(char) <= high for low, high in CHINESE)


def basic(text: str, *, lowercase: bool, strip_accents: bool, split_chinese: bool = True):
    """Words and punctuation of a text."""
    cleaned = ""
    for char in text:
        if char in "\0\ufffd" or is_control(char):
            continue
        if is_blank(char):
            char = " "
        elif split_chinese and is_chinese(char):
            char = f" {char} "
        cleaned += char
    parts: list[str] = []
    for word in cleaned.split():
        if lowercase:
            word = "".join(map(str.lower, word))  # each by itself: no final sigma
        if strip_accents:
            word = unicodedata.normalize("NFD", word)
            word = "".join(char for char in word if unicodedata.category(char) != "Mn")
        current = ""
        for char in word:
            if is_punctuation(char):
                parts += [current, char]
                current = ""
            else:
                current += char
        parts.append(current)
    return " ".join(parts).split()


def wordpiece(word: str, ids: dict[str, int]) -> list[int]:
    """The longest sub-words first, from left to right."""
    if len(word) > MAX_CHARS:
        return [ids["[UNK]"]]
    found, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start and ("##" if start else "") + word[start:end] not in ids:
            end -= 1
        if end == start:
            return [ids["[UNK]"]]
        found.append(ids[("##" if start else "") + word[start:end]])
        start = end
    return found


def tokenize(text: str, vocabulary: Sequence[str], **options: bool) -> list[int]:
    """Ids of the sub-words of a text."""
    ids = {word: number for number, word in enumerate(vocabulary)}
    return [number for word in basic(text, **options) for number in wordpiece(word, ids)]
