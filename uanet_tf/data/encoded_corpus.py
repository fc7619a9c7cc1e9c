"""A corpus as arrays: distinct tokens once, sentences as indices into them."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from uanet_tf.data.conll import Sentence
from uanet_tf.data.tag_schemes import convert
from uanet_tf.data.token_lookup import TokenLookup
from uanet_tf.data.vocabulary import INTERNAL_SCHEME, Vocabulary


@dataclasses.dataclass(frozen=True)
class EncodedCorpus:
    """Sentences of one file, ready to be batched.

    F distinct tokens ("forms"), S sentences, N tokens.

    Attributes:
      form_word_ids: [F] int32.
      form_char_ids: [F, W] int32, 0 at padding.
      form_index: [N] int32, the form of each token, sentences one after another.
      label_ids: [N] int32; -1 for a label that the model does not know.
      offsets: [S + 1] int64, where each sentence begins in ``form_index``.
    """

    form_word_ids: np.ndarray
    form_char_ids: np.ndarray
    form_index: np.ndarray
    label_ids: np.ndarray
    offsets: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """[S] tokens of each sentence."""
        return np.diff(self.offsets)


def encode_corpus(
    sentences: Sequence[Sentence], vocabulary: Vocabulary, lookup: TokenLookup
) -> EncodedCorpus:
    """Looks every distinct token up once and stores sentences as indices."""
    forms: dict[str, int] = {}
    index = [forms.setdefault(token, len(forms)) for s in sentences for token in s.tokens]
    known = {label: number for number, label in enumerate(vocabulary.labels)}
    labels = [
        known.get(label, -1)
        for sentence in sentences
        for label in internal_labels(sentence.labels, vocabulary.scheme)
    ]
    word_ids, char_ids = lookup(tf.constant(list(forms), tf.string))
    lengths = [len(sentence.tokens) for sentence in sentences]
    return EncodedCorpus(
        form_word_ids=word_ids.numpy(),
        form_char_ids=char_ids.numpy(),
        form_index=np.asarray(index, np.int32),
        label_ids=np.asarray(labels, np.int32),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def internal_labels(labels: Sequence[str], scheme: str | None) -> Sequence[str]:
    """Labels as the model predicts them: chunks in BIOES, others as they are."""
    return labels if scheme is None else convert(labels, scheme, INTERNAL_SCHEME)
