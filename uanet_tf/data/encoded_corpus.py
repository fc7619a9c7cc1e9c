"""A corpus as arrays: distinct tokens once, sentences as indices into them."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from uanet_tf.data.conll import Sentence
from uanet_tf.data.lookup import Lookup
from uanet_tf.data.tag_schemes import convert
from uanet_tf.data.vocabulary import INTERNAL_SCHEME, Vocabulary
from uanet_tf.data.word_keys import word_keys


@dataclasses.dataclass(frozen=True)
class EncodedCorpus:
    """Sentences of one file, ready to be batched.

    F distinct tokens ("forms"), S sentences, N tokens.

    Attributes:
      forms: the lookup's features of every form, [F] or [F, W] int32, 0 at padding; see
        ``TokenLookup.form_features`` and ``SubwordLookup.form_features``.
      form_index: [N] int32, the form of each token, sentences one after another.
      label_ids: [N] int32; -1 for a label that the model does not know, or that was not read.
      offsets: [S + 1] int64, where each sentence begins in ``form_index``.
      documents: [P + 1] int64, with which sentence each document begins; None: not needed.
      keys: K times [N] int64, see ``data.word_keys``; none without documents.
    """

    forms: dict[str, np.ndarray]
    form_index: np.ndarray
    label_ids: np.ndarray
    offsets: np.ndarray
    documents: np.ndarray | None = None
    keys: tuple[np.ndarray, ...] = ()

    @property
    def lengths(self) -> np.ndarray:
        """[S] tokens of each sentence."""
        return np.diff(self.offsets)

    def joined(self, counts: Sequence[int]) -> "EncodedCorpus":
        """The same tokens with ``counts`` [P] sentences each read as one, in order."""
        ends = np.concatenate([[0], np.cumsum(counts)])
        return dataclasses.replace(self, offsets=self.offsets[ends])

    def in_documents(self, counts: Sequence[int], tokens: Sequence[str]) -> "EncodedCorpus":
        """The same sentences, ``counts`` [P] of which are a document each, in order.

        Args:
          counts: sentences of each document.
          tokens: all N tokens.
        """
        distinct, index = np.unique(np.asarray(tokens, object), return_inverse=True)
        keys = word_keys(tf.constant(distinct, tf.string))
        return dataclasses.replace(
            self,
            documents=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            keys=tuple(key.numpy()[index] for key in keys.values()),
        )


def encode_corpus(
    sentences: Sequence[Sentence], vocabulary: Vocabulary, lookup: Lookup
) -> EncodedCorpus:
    """Looks up every distinct token once and stores sentences as indices."""
    forms: dict[str, int] = {}
    index = [forms.setdefault(token, len(forms)) for s in sentences for token in s.tokens]
    known = {label: number for number, label in enumerate(vocabulary.labels)}
    labels = []
    for sentence in sentences:
        given = internal_labels(sentence.labels, vocabulary.scheme)
        labels += [known.get(label, -1) for label in given] or [-1] * len(sentence.tokens)
    features = lookup.form_features(tf.constant(list(forms), tf.string))
    lengths = [len(sentence.tokens) for sentence in sentences]
    return EncodedCorpus(
        forms={name: values.numpy() for name, values in features.items()},
        form_index=np.asarray(index, np.int32),
        label_ids=np.asarray(labels, np.int32),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def internal_labels(labels: Sequence[str], scheme: str | None) -> Sequence[str]:
    """Labels as the model predicts them: chunks in BIOES, others as they are."""
    return labels if scheme is None else convert(labels, scheme, INTERNAL_SCHEME)
