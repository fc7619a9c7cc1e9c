"""Chooses the tokenizer that cuts text like a corpus, measured on its own detokenised text."""

import collections
import re
from collections.abc import Sequence
from typing import NamedTuple

from uanet_tf.text.detokenize import detokenize
from uanet_tf.text.tokenizer import KINDS, MAX_ABBREVIATIONS, Tokenizer

_MOST_SENTENCES = 2_000
_LEAST_ORDINALS = 20  # distinct numbers with a full stop: fewer may be chance
_ABBREVIATION = re.compile(r"[^\W\d_][\w.-]*\.")
_ORDINAL = re.compile(r"\d+\.")


class Choice(NamedTuple):
    """A tokenizer and the share of a corpus' tokens that each kind found.

    Attributes:
      tokenizer: the best.
      scores: F1 of the tokens' boundaries by kind, percent.
    """

    tokenizer: Tokenizer
    scores: dict[str, float]


def choose_tokenizer(sentences: Sequence[Sequence[str]]) -> Choice:
    """The kind that best reproduces the corpus' tokens from its text.

    Args:
      sentences: tokens of sentences; if there are many, some thousands spread over all are read.
    """
    step = max(1, len(sentences) // _MOST_SENTENCES)
    texts = [detokenize(tokens) for tokens in sentences[::step]]
    candidates = [fitted_tokenizer(kind, sentences) for kind in KINDS]
    scores = {each.kind: _agreement(each, texts) for each in candidates}
    return Choice(max(candidates, key=lambda each: scores[each.kind]), scores)


def fitted_tokenizer(kind: str, sentences: Sequence[Sequence[str]]) -> Tokenizer:
    """A tokenizer of a kind, with the abbreviations and ordinals of a corpus."""
    if kind != "ptb":
        return Tokenizer(kind)
    counts = collections.Counter(token for tokens in sentences for token in tokens)
    abbreviations = [
        token
        for token, count in counts.most_common()
        if count > 1 and count > counts[token[:-1]] and _ABBREVIATION.fullmatch(token)
    ]
    ordinals = sum(1 for token in counts if _ORDINAL.fullmatch(token))
    kept = tuple(sorted(abbreviations[:MAX_ABBREVIATIONS]))
    return Tokenizer(kind, kept, ordinals >= _LEAST_ORDINALS)


def _agreement(
    tokenizer: Tokenizer, texts: Sequence[tuple[str, list[tuple[int, int] | None]]]
) -> float:
    """F1 of token boundaries, percent: a token counts where both its ends are right."""
    both = expected = found = 0
    for text, spans in texts:
        right = {span for span in spans if span is not None}
        given = tokenizer.spans(text)
        both += len(right.intersection(given))
        expected += len(right)
        found += len(given)
    return 200 * both / max(1, expected + found)
