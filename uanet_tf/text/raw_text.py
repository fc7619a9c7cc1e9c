"""Raw text to sentences of tokens with their offsets."""

import dataclasses

from uanet_tf.errors import InputError
from uanet_tf.text.tokenizer import Tokenizer

LANGUAGE = "en"


@dataclasses.dataclass(frozen=True, slots=True)
class TextSentence:
    """A sentence of a text.

    Attributes:
      tokens: its words, at least one; each is ``text[start:end]``.
      starts: first character of each in the whole text.
      ends: the character after the last of each.
      new_document: whether it is the first of its text.
    """

    tokens: list[str]
    starts: list[int]
    ends: list[int]
    new_document: bool = True


def text_sentences(
    text: str, tokenizer: Tokenizer, *, split: bool = True, language: str = LANGUAGE
) -> list[TextSentence]:
    """The sentences of a text; none where it holds no token.

    Args:
      text: the text.
      tokenizer: cuts sentences into tokens.
      split: whether the text may hold several sentences.
      language: code of the language whose abbreviations the splitter knows ("en", "de", ...).

    Raises:
      InputError: the package that splits sentences is missing.
    """
    found: list[TextSentence] = []
    for start, end in sentence_spans(text, language) if split else [(0, len(text))]:
        part = text[start:end]
        spans = [(start + first, start + last) for first, last in tokenizer.spans(part)]
        if spans:
            tokens = [text[first:last] for first, last in spans]
            starts, ends = [first for first, _ in spans], [last for _, last in spans]
            found.append(TextSentence(tokens, starts, ends, new_document=not found))
    return found


def sentence_spans(text: str, language: str = LANGUAGE) -> list[tuple[int, int]]:
    """(first character, character after the last) of each sentence; together the whole text.

    A sentence does not begin in lower case: "14. marta" is not cut, whatever the language.

    Raises:
      InputError: the package sentencex is missing.
    """
    try:
        import sentencex
    except ImportError as error:
        raise InputError(
            f"Splitting text into sentences needs the package sentencex ({error}): install it, "
            "or give one sentence per line and say so (--nosplit_sentences)."
        ) from None
    spans: list[tuple[int, int]] = []
    end = 0
    for part in sentencex.segment(language, text):
        start, end = end, end + len(part)
        if spans and part[:1].islower() and "\n" not in text[spans[-1][0] : start]:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans
