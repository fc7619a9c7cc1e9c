"""The last draft of every training token, for a refiner that reads the document."""

import numpy as np
import tensorflow as tf

from uanet_tf.data.batching import EncodedCorpus
from uanet_tf.ops.drafts_elsewhere import drafts_elsewhere
from uanet_tf.representation.representation import Features


class DraftMemory(tf.Module):
    """Keeps the draft that each training token had when its sentence was last in a batch.

    So the refiner reads what was drafted in the rest of the document, up to an epoch ago, while
    batches are sentences in random order: the drafter is trained as without documents. ``corpus``
    has documents; there are C = ``num_classes`` classes.
    """

    def __init__(self, corpus: EncodedCorpus, num_classes: int):
        super().__init__(name="draft_memory")
        if corpus.documents is None:
            raise ValueError("`corpus` must have documents.")
        ends = corpus.offsets[corpus.documents]  # [P + 1], in tokens
        count = int(ends[-1])
        document = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        sentence = np.repeat(np.arange(len(corpus.lengths)), corpus.lengths)
        self._ends = tf.constant(ends, tf.int32)
        self._document = tf.constant(document, tf.int32)
        self._sentence = tf.constant(sentence, tf.int32)
        keys = [np.unique([document, key], axis=1, return_inverse=True)[1] for key in corpus.keys]
        self._keys = [tf.constant(key.reshape(-1), tf.int64) for key in keys]
        # Not trained; saved with the state of the run, so that a resumed one repeats it.
        self.drafts = tf.Variable(tf.zeros([count, num_classes]), trainable=False, name="drafts")
        self.seen = tf.Variable(tf.zeros([count], tf.bool), trainable=False, name="seen")

    def exchange(self, features: Features, drafts: tf.Tensor) -> tf.Tensor:
        """Stores the drafts of a batch; gives those of the other mentions of its words, [B, T, D].

        See ``drafts_elsewhere``; 0 at padding.

        Args:
          features: of the batch, with ``corpus_tokens`` [B, T]: its tokens' numbers, -1 at padding.
          drafts: [B, T, C] distributions.
        """
        places = tf.where(features["corpus_tokens"] >= 0)  # [N, 2]
        tokens = tf.gather_nd(features["corpus_tokens"], places)  # [N]
        given = tf.gather_nd(drafts, places)
        self.drafts.scatter_update(tf.IndexedSlices(tf.cast(given, tf.float32), tokens))
        self.seen.scatter_update(tf.IndexedSlices(tf.ones_like(tokens, tf.bool), tokens))
        documents = tf.sort(tf.unique(tf.gather(self._document, tokens)).y)
        first, end = tf.gather(self._ends, documents), tf.gather(self._ends, documents + 1)
        read = tf.ragged.range(first, end).values  # all tokens of these documents, ascending
        elsewhere = drafts_elsewhere(
            tf.gather(self.drafts, read),
            tf.gather(self.seen, read),
            [tf.gather(key, read) for key in self._keys],
            tf.gather(self._sentence, read),
            tf.gather(self._document, read),
        )
        found = tf.gather(elsewhere, tf.searchsorted(read, tokens))
        shape = tf.concat([tf.shape(drafts)[:2], [tf.shape(found)[1]]], axis=0)
        spread = tf.scatter_nd(tf.cast(places, tf.int32), found, shape)
        return tf.ensure_shape(spread, [None, None, elsewhere.shape[1]])
