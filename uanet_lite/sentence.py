"""A sentence on its way in: its words, where they stand, and what came with it."""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from uanet_lite.input_error import InputError
from uanet_lite.tokenizer import Tokenizer

MAX_TOKEN_CHARS = 1_000


@dataclasses.dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, of a file, of a text, or a list of words: ``tokens, labels = sentence``.

    Attributes:
      tokens: its words.
      labels: one for each token; empty where none were read.
      line: 1-based line of its first token in the file; 0: of no file.
      new_document: whether a document starts here: at the first sentence of a file or text, and
        after each document mark.
      rows: of columns: the raw line of each token, without line end; empty unless asked for.
      docstart: of columns: whether a ``-DOCSTART-`` line precedes it.
      uneven_line: of columns: line of its first row with another number of columns than its first
        row has, where a column counted from the end may be another than was meant; else 0.
      text: the whole text that it is a part of; None where there are only words.
      starts: first character of each token in ``text``; empty without a text.
      ends: the character after the last of each.
    """

    tokens: Sequence[str]
    labels: Sequence[str] = ()
    line: int = 0
    new_document: bool = True
    rows: tuple[str, ...] = ()
    docstart: bool = False
    uneven_line: int = 0
    text: str | None = None
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()

    @classmethod
    def of_spans(cls, text: str, spans: Sequence[tuple[int, int]], **fields: Any) -> "Sentence":
        """The tokens that stand at these places of a text."""
        tokens = [text[start:end] for start, end in spans]
        starts, ends = [start for start, _ in spans], [end for _, end in spans]
        return cls(tokens, text=text, starts=starts, ends=ends, **fields)

    def __iter__(self) -> Iterator[Sequence[str]]:
        return iter((self.tokens, self.labels))


NO_WORDS = Sentence(())


def sentence_of(given: Any, name: str, tokenizer: Tokenizer) -> Sentence:
    """A sentence that is given as a text or as a list of words; either may be empty.

    Raises:
      InputError: neither of them; or a word that cannot be tagged, see ``check_tokens``.
    """
    if isinstance(given, str):
        check_unicode(given, name)
        sentence = Sentence.of_spans(given, tokenizer.spans(given))
    elif isinstance(given, bytes | Mapping | set | frozenset) or not isinstance(given, Iterable):
        raise InputError(f"{name} must be a text or a list of words. Received: {given!r:.60}")
    else:
        sentence = Sentence(list(given))
    check_tokens(sentence.tokens, f"{name}: word ")
    return sentence


def joined_offsets(tokens: Sequence[str]) -> tuple[str, list[int], list[int]]:
    """Tokens joined by single blanks, and first and end character of each."""
    starts = [0, *itertools.accumulate(len(token) + 1 for token in tokens)][:-1]
    ends = [start + len(token) for start, token in zip(starts, tokens, strict=True)]
    return " ".join(tokens), starts, ends


def check_tokens(tokens: Sequence[Any], before: str = "token ", behind: str = "") -> None:
    """Raises InputError for a token that cannot be tagged, called "{before}{position}{behind}".

    It is no string, empty, of more than ``MAX_TOKEN_CHARS`` characters, or holds half of a
    character, which no encoding can write.
    """
    try:
        text = "".join(tokens)
        text.encode()
        if "" not in tokens and (
            len(text) <= MAX_TOKEN_CHARS or max(map(len, tokens)) <= MAX_TOKEN_CHARS
        ):
            return
    except (TypeError, UnicodeEncodeError):
        pass
    for position, token in enumerate(tokens):
        name = f"{before}{position}{behind}"
        if not isinstance(token, str) or not token:
            raise InputError(f"{name} must be a string that is not empty. Received: {token!r:.60}")
        if len(token) > MAX_TOKEN_CHARS:
            raise InputError(
                f"{name} has {len(token):,} characters ({token[:30]!r}...); "
                f"the limit is {MAX_TOKEN_CHARS:,}."
            )
        check_unicode(token, name)


def check_unicode(text: str, name: str) -> None:
    """Raises InputError for half of a character in ``name``, which no encoding can write."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{name} is not valid Unicode text: {text[error.start : error.end]!r:.20} at character "
            f"{error.start}."
        ) from None
