"""Raw text to sentences of tokens with their offsets."""

import functools
import re
from collections.abc import Collection
from typing import Any

from uanet_lite.input_error import InputError
from uanet_lite.sentence import Sentence, check_tokens, check_unicode, sentence_of
from uanet_lite.tokenizer import Tokenizer

LANGUAGE = "en"

# The splitter never cuts within quotation marks, and a single one hides the ends of all sentences
# behind it. So it is not shown any; those that close behind a full stop stay there.
_HIDE_QUOTES = str.maketrans(dict.fromkeys('"“”„«»', "/"))
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\w{1,3}[.)])\s+")
_CLOSING = re.compile(r'["“”»]+\s*')


def sentences_of(
    given: Any, name: str, tokenizer: Tokenizer, *, split_sentences: bool, language: str = LANGUAGE
) -> list[Sentence]:
    """The sentences of what ``tag`` is given: of a text those that it is split into, or it whole.

    See ``sentence_of`` and, of ``split_sentences`` and ``language``, ``text_sentences``.
    """
    if not (split_sentences and isinstance(given, str)):
        return [sentence_of(given, name, tokenizer)]
    check_unicode(given, name)
    found = text_sentences(given, tokenizer, language=language)
    for sentence in found:
        check_tokens(sentence.tokens, f"{name}: word ")
    return found


def text_sentences(
    text: str, tokenizer: Tokenizer, *, split: bool = True, language: str = LANGUAGE
) -> list[Sentence]:
    """The sentences of a text; none where it holds no token.

    Args:
      tokenizer: cuts sentences.
      split: whether the text may hold several sentences.
      language: code of the language whose abbreviations the splitter knows ("en", "de", ...).

    Raises:
      InputError: the text has half of a character, or the package that splits sentences is missing.
    """
    check_unicode(text, "the text")
    found: list[Sentence] = []
    parts = [(0, len(text))]
    if split:
        parts = sentence_spans(text, language, abbreviations=tokenizer.abbreviations)
    for start, end in parts:
        tokens = tokenizer.spans(text[start:end])
        if spans := [(start + first, start + last) for first, last in tokens]:
            found.append(Sentence.of_spans(text, spans, new_document=not found))
    return found


def sentence_spans(
    text: str, language: str = LANGUAGE, *, abbreviations: Collection[str] = ()
) -> list[tuple[int, int]]:
    """(first character, character after the last) of each sentence; together the whole text.

    A sentence does not begin in lower case: "14. marta" is not cut, whatever the language. Nor does
    one end at ``abbreviations``, words with a full stop, that the splitter does not know.

    Raises:
      InputError: the package sentencex is missing.
    """
    spans: list[tuple[int, int]] = []
    end = 0
    for length in map(len, _segment(language, text.translate(_HIDE_QUOTES))):
        start, end = end, end + length
        closing = _CLOSING.match(text, start, end)
        if spans and closing and not text[start - 1].isspace():
            start = closing.end()
            spans[-1] = (spans[-1][0], start)
        if start == end:
            continue
        if spans and _goes_on(text[slice(*spans[-1])], text[start:end], language, abbreviations):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _goes_on(before: str, part: str, language: str, abbreviations: Collection[str]) -> bool:
    """Whether a part belongs to the sentence before it."""
    if "\n" in before:
        return False
    if part[0].islower() or part[0] in ",;":
        return True
    last = before.rsplit(maxsplit=1)[-1:]
    return bool(last) and last[0] in abbreviations and not _is_known(language, last[0])


@functools.lru_cache(maxsize=10_000)
def _is_known(language: str, abbreviation: str) -> bool:
    """Whether the splitter has an abbreviation: then it knows better where sentences end."""
    return len(_segment(language, f"x {abbreviation} Xx")) == 1


def _segment(language: str, text: str) -> list[str]:
    """The splitter's parts of a text, each split again.

    Of a list that it sees, such as "1) ... 2) ...", an item is one part, however many sentences it
    has, and the last item goes on to the end of the paragraph.
    """
    try:
        import sentencex
    except ImportError as error:
        raise InputError(
            f"Splitting text into sentences (split_sentences) needs the package sentencex "
            f"({error}): install it, or give sentences."
        ) from None
    found, waiting = [], [text]
    while waiting:
        part = waiting.pop()
        marker = _ITEM.match(part)
        start = marker.end() if marker else 0
        pieces = sentencex.segment(language, part[start:])
        if len(pieces) < 2:
            found.append(part)
            continue
        pieces[0] = part[:start] + pieces[0]
        waiting += reversed(pieces)
    return found
