"""What a monitor keeps of a tagged sentence."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from uanet_lite.tag_schemes import OUTSIDE
from uanet_tf.data.vocabulary import normalize_word

Known = Callable[[str], bool]


class SentenceFacts(NamedTuple):
    """A sentence as one draw: its tokens depend on one another, sentences are exchangeable.

    Attributes:
      uncertainty: mean of its tokens, nats.
      unknown_words: share of its tokens without a vector of their own; None: not known.
      labels: types of its entities, or labels of its tokens.
    """

    uncertainty: float
    unknown_words: float | None
    labels: frozenset[str]


def sentence_facts(
    tokens: Sequence[str],
    labels: Sequence[str],
    uncertainty: Sequence[float],
    *,
    chunks: bool,
    known: Known | None,
) -> SentenceFacts | None:
    """The facts of a sentence; None of one without tokens.

    Args:
      tokens: its words.
      labels: one for each.
      uncertainty: of each, nats.
      chunks: labels have a letter and a type, such as "B-PER".
      known: whether a word has a vector of its own.
    """
    if not tokens:
        return None
    return SentenceFacts(
        uncertainty=float(sum(uncertainty) / len(tokens)),
        unknown_words=known and sum(not known(token) for token in tokens) / len(tokens),
        labels=frozenset(label_types(labels, chunks=chunks)),
    )


def label_types(labels: Sequence[str], *, chunks: bool) -> set[str]:
    """Types of chunk labels, without ``O``; labels that are no chunks as they are."""
    if not chunks:
        return set(labels)
    return {label[2:] for label in labels if label != OUTSIDE}


def known_words(model: Any) -> Known | None:
    """Whether a word has a vector of its own in ``model``; None: it does not read whole words."""
    vocabulary, lookup = model.vocabulary, model.lookup
    if not vocabulary.words or vocabulary.bert is not None:
        return None
    words = frozenset(vocabulary.words)
    form = {"digits": lookup.normalize_digits, "lowercase": lookup.lowercase_words}
    return lambda word: normalize_word(word, **form) in words
