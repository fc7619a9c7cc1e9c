"""Chooses the tokenizer that cuts text like a corpus, and the abbreviations it keeps whole."""

import collections
import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from uanet_lite.tokenizer import KINDS, MARKS, MAX_ABBREVIATIONS, Tokenizer, detokenize

# Titles, forms of companies, months: of English, and of names in other languages' news.
COMMON = (
    *("Mr.", "Mrs.", "Ms.", "Dr.", "Prof.", "Rev.", "St.", "Jr.", "Sr."),
    *("Gov.", "Sen.", "Rep.", "Gen.", "Lt.", "Sgt.", "Capt."),
    *("Bros.", "Co.", "Corp.", "Inc.", "Ltd.", "vs."),
    *("Jan.", "Feb.", "Aug.", "Sept.", "Oct.", "Nov.", "Dec."),
)
_ABBREVIATION = re.compile(r"[^\W\d_][\w.-]*\.")


def abbreviations(sentences: Sequence[Sequence[str]]) -> list[str]:
    """The abbreviations of a corpus of tokens, the most frequent first, then the common ones.

    A word counts if it stands more than once, and more often with its full stop than without. A
    common one counts unless the corpus cuts it ("Corp", ".") more often than not. A corpus that
    cuts common ones as a rule, such as one of tweets, is given none that it does not show.
    """
    counts = collections.Counter(itertools.chain.from_iterable(sentences))
    pairs = (pair for tokens in sentences for pair in itertools.pairwise(tokens))
    cut = collections.Counter(f"{word}." for word, stop in pairs if stop == ".")
    shown = [
        token
        for token, count in counts.most_common()
        if count > 1 and count > counts[token[:-1]] and _ABBREVIATION.fullmatch(token)
    ]
    if sum(counts[word] for word in COMMON) < sum(cut[word] for word in COMMON):
        return shown
    known = {*shown}
    return shown + [word for word in COMMON if word not in known and counts[word] >= cut[word]]


_MOST_SENTENCES = 2_000
_LEAST_ORDINALS = 20  # distinct numbers with a full stop: fewer may be chance
_ORDINAL = re.compile(r"\d+\.")
_WORD_START = re.compile(r"\w")
_OUTSIDE = "O"
# Thai, Lao, Burmese and Khmer; kana and Han characters. Korean has blanks.
_NO_BLANKS = re.compile(
    r"[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\U00020000-\U0003ffff]"
)

Rows = Sequence[Sequence[str]]


class Choice(NamedTuple):
    """The best tokenizer of a corpus; F1 of the tokens' boundaries by kind, percent."""

    tokenizer: Tokenizer
    scores: dict[str, float]


def choose_tokenizer(sentences: Rows, labels: Rows | None = None) -> Choice:
    """The kind that best reproduces the corpus' tokens from its text.

    Of many ``sentences`` some thousands spread over all are compared.
    """
    step = max(1, len(sentences) // _MOST_SENTENCES)
    texts = [detokenize(tokens) for tokens in sentences[::step]]
    candidates = [fitted_tokenizer(kind, sentences, labels) for kind in KINDS]
    scores = {each.kind: _agreement(each, texts) for each in candidates}
    return Choice(max(candidates, key=lambda each: scores[each.kind]), scores)


def is_written_without_blanks(sentences: Rows) -> bool:
    """Whether most tokens are of scripts that put no blanks between words.

    No tokenizer cuts such text, and ``choose_tokenizer`` cannot tell: it measures on tokens that
    were joined by blanks.
    """
    step = max(1, len(sentences) // _MOST_SENTENCES)
    found = [bool(_NO_BLANKS.match(token)) for tokens in sentences[::step] for token in tokens]
    return 2 * sum(found) > len(found)


def fitted_tokenizer(kind: str, sentences: Rows, labels: Rows | None = None) -> Tokenizer:
    """A tokenizer of a kind, with the abbreviations, ordinals and marks of a corpus."""
    if kind != "ptb":
        return Tokenizer(kind)
    kept = tuple(sorted(abbreviations(sentences)[:MAX_ABBREVIATIONS]))
    ordinals = sum(map(bool, map(_ORDINAL.fullmatch, {*itertools.chain(*sentences)})))
    marks = "".join(mark for mark in MARKS if _stays(mark, sentences, labels))
    return Tokenizer(kind, kept, ordinals >= _LEAST_ORDINALS, marks)


def _stays(mark: str, sentences: Rows, labels: Rows | None) -> bool:
    """Whether a mark and the word behind it are one token, more often than two.

    Where a corpus does both, what has a label decides: there a wrong cut costs an entity.
    """
    whole: collections.Counter[bool] = collections.Counter()
    cut: collections.Counter[bool] = collections.Counter()
    for number, tokens in enumerate(sentences):
        row = labels[number] if labels is not None else [_OUTSIDE] * len(tokens)
        for place, token in enumerate(tokens):
            if not token.startswith(mark):
                continue
            if _WORD_START.match(token, 1):
                whole[row[place] != _OUTSIDE] += 1
            elif token == mark and tokens[place + 1 : place + 2]:
                cut[row[place + 1] != _OUTSIDE] += 1
    labelled = bool(whole[True] or cut[True])
    return whole[labelled] > cut[labelled]


def _agreement(
    tokenizer: Tokenizer, texts: Sequence[tuple[str, list[tuple[int, int] | None]]]
) -> float:
    """F1 of token boundaries, percent: a token counts where both its ends are right."""
    both = total = 0
    for text, spans in texts:
        right, found = {*spans} - {None}, tokenizer.spans(text)
        both += len(right.intersection(found))
        total += len(right) + len(found)
    return 200 * both / max(1, total)
