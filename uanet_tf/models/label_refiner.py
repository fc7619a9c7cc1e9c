"""The label refiner: words and draft labels to refined labels (Eq. 6 to 8); its loss (Eq. 10)."""

from typing import Any

import tensorflow as tf

from uanet_lite.row_multiple import ROW_MULTIPLE
from uanet_tf.config import Config
from uanet_tf.data.lookup import KEYS, in_document
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.layers.relative_attention import QueryTokens, rows_with_queries
from uanet_tf.models.parts import make_representation
from uanet_tf.models.results import Draft
from uanet_tf.models.sampling import RefinerSeed
from uanet_tf.ops.drafts_elsewhere import drafts_elsewhere, elsewhere_width
from uanet_tf.ops.dropout import fold_in, uniform
from uanet_tf.ops.graphs import LiteGraph, lite_argument
from uanet_tf.ops.losses import class_softmax, masked_cross_entropy
from uanet_tf.ops.masking import keep
from uanet_tf.ops.shapes import fill_rows, rows_multiple_of
from uanet_tf.refiner.two_stream_refiner import TwoStreamRefiner
from uanet_tf.representation.representation import (
    DOCUMENT,
    DRAFTS_ELSEWHERE,
    Features,
    Representation,
    features_of_rows,
)

# Share of training sentences whose refiner reads no document, so that it can do without one.
ALONE = 0.5
_MANY_QUERIES = 64


class LabelRefiner(tf.keras.layers.Layer):
    """The two-stream refiner ``stack`` with the word vectors that it reads.

    Args:
      representation: of its own; None: the drafter's, which it does not train (Eq. 9 and 10).
      reads_states: whether it also reads the drafter's states, without gradient to the drafter.
      reads_document: whether it also reads what was drafted for the same words elsewhere in the
        document.
    """

    def __init__(
        self,
        stack: TwoStreamRefiner,
        representation: Representation | None = None,
        *,
        reads_states: bool = False,
        reads_document: bool = False,
        **kwargs: Any,
    ):
        # Its parts have their own precision.
        super().__init__(dtype=tf.float32, **kwargs)
        self.stack = stack
        self.representation = representation
        self.reads_states = reads_states
        self.reads_document = reads_document

    @classmethod
    def from_settings(cls, config: Config, vocabulary: Vocabulary, **kwargs: Any) -> "LabelRefiner":
        """The refiner that a run's settings describe."""
        stack = TwoStreamRefiner.from_settings(config, vocabulary, name="stack")
        own, part = None, config.decoder
        if part.refiner_embeddings == "own":
            own = make_representation(config, vocabulary, "refiner_representation")
        document = part.refiner_context == "document"
        return cls(stack, own, reads_states=part.refiner_states, reads_document=document, **kwargs)

    def refine(
        self,
        features: Features,
        draft: Draft,
        wanted: tf.Tensor | None = None,
        lite: LiteGraph | None = None,
    ) -> tf.Tensor:
        """Refined distribution p_hat [B, T, C].

        Tokens that are not ``wanted`` [B, T] keep their draft; None: all are.
        """
        if self.reads_document:
            features = {**features, DRAFTS_ELSEWHERE: _drafts_elsewhere(features, draft)}
        if wanted is None:
            return self._refined(features, draft, lite=lite)
        wanted = keep(draft.mask, wanted, False)

        def refined() -> tf.Tensor:
            if wanted.shape[0] == 1:
                return self._of_sentence(features, draft, wanted, lite)
            return self._of_sentences(features, draft, wanted)

        return tf.cond(tf.reduce_any(wanted), refined, lambda: draft.probabilities)

    def loss(
        self, features: Features, draft: Draft, labels: tf.Tensor, dropout_seed: tf.Tensor
    ) -> tf.Tensor:
        """L2, the cross entropy of the refined labels [B, T] of all tokens, summed (Eq. 10).

        The draft is of one sampled pass. ``features`` of a refiner that reads the document have the
        drafts elsewhere. The seed [2] int32 is of the refiner's dropout.
        """
        if self.reads_document:
            seed = fold_in(dropout_seed, RefinerSeed.DOCUMENT)
            elsewhere = _sometimes_alone(features[DRAFTS_ELSEWHERE], seed)
            features = {**features, DRAFTS_ELSEWHERE: elsewhere}
        seed = fold_in(dropout_seed, RefinerSeed.WORDS)
        own, auxiliary = draft.words, None
        if self.representation is not None:
            own, auxiliary = self.representation.with_auxiliary_loss(features, dropout_seed=seed)
        logits = self.stack(
            self._words(own, features, draft),
            draft.probabilities,
            mask=draft.mask,
            dropout_seed=fold_in(dropout_seed, RefinerSeed.BLOCKS),
        )
        loss = masked_cross_entropy(logits, labels, draft.mask)
        return loss if auxiliary is None else loss + auxiliary

    def _words(self, own: tf.Tensor, features: Features, draft: Draft) -> tf.Tensor:
        """The refiner's input [B, T, ..]: word vectors, and what else it reads beside them."""
        if self.representation is None:  # the drafter's, which learns from its own loss only
            own = tf.stop_gradient(own)
        vectors = [own]
        if self.reads_states:
            vectors.append(tf.stop_gradient(tf.cast(draft.states, own.dtype)))
        if self.reads_document:
            vectors.append(tf.cast(features[DRAFTS_ELSEWHERE], own.dtype))
        return tf.concat(vectors, axis=-1) if len(vectors) > 1 else own

    def _refined(
        self,
        features: Features,
        draft: Draft,
        query_tokens: QueryTokens | None = None,
        lite: LiteGraph | None = None,
    ) -> tf.Tensor:
        """Refined distributions of all tokens [B, T, C], or of the query tokens [K, C]."""
        own, part = draft.words, self.representation
        if part is not None:
            own = part(features, **lite_argument(part, lite))
        logits = self.stack(
            self._words(own, features, draft),
            draft.probabilities,
            mask=draft.mask,
            query_tokens=query_tokens,
            lite=lite,
        )
        return class_softmax(tf.cast(logits, tf.float32), lite)

    def _of_sentence(
        self, features: Features, draft: Draft, wanted: tf.Tensor, lite: LiteGraph | None
    ) -> tf.Tensor:
        """All distributions, those ``wanted`` [1, T] refined, of a batch known to be of one."""
        queries = QueryTokens.of_sentence(wanted)
        refined = self._refined(features, draft, queries, lite)  # [K, C]
        place = tf.maximum(tf.cumsum(tf.cast(wanted, tf.int32), axis=1) - 1, 0)  # [1, T]
        return tf.where(tf.expand_dims(wanted, -1), tf.gather(refined, place), draft.probabilities)

    def _of_sentences(self, features: Features, draft: Draft, wanted: tf.Tensor) -> tf.Tensor:
        """All distributions, those ``wanted`` [B, T] refined."""
        # Sentences are independent of one another, so leaving some out changes no other.
        rows, queries = rows_with_queries(wanted)  # [R], [R, T]
        multiple = rows_multiple_of(tf.shape(wanted)[0])
        filled = fill_rows(rows, multiple)
        # A row that only fills up wants nothing.
        queries = tf.pad(queries, [[0, tf.size(filled) - tf.size(rows)], [0, 0]])
        query_tokens = QueryTokens.of_mask(queries, _multiple_of_queries(queries, multiple))
        part = features_of_rows(features, filled)
        refined = self._refined(part, draft.rows(filled), query_tokens)  # [K, C]
        places = tf.where(wanted)
        refined = refined[: tf.shape(places)[0]]
        return tf.tensor_scatter_nd_update(draft.probabilities, places, refined)


def _multiple_of_queries(queries: tf.Tensor, multiple: tf.Tensor) -> tf.Tensor:
    """What query tokens [R, T] come in multiples of, in a batch of a ``multiple`` of sentences.

    Many in larger ones, so that batches seldom have a number of their own, for which oneDNN would
    make kernels: this takes longer than to compute a tenth more.
    """
    many = tf.math.count_nonzero(queries, dtype=tf.int32) > _MANY_QUERIES
    return tf.where(multiple > 1, tf.where(many, 4 * ROW_MULTIPLE, ROW_MULTIPLE), 1)


def _sometimes_alone(elsewhere: tf.Tensor, dropout_seed: tf.Tensor) -> tf.Tensor:
    """Drafts elsewhere [B, T, D], 0 in the share ``ALONE`` of the sentences."""
    shape = tf.concat([tf.shape(elsewhere)[:1], [1, 1]], axis=0)
    return tf.where(uniform(shape, dropout_seed) < ALONE, tf.zeros_like(elsewhere), elsewhere)


def _drafts_elsewhere(features: Features, draft: Draft) -> tf.Tensor:
    """[B, T, D]; 0 where no row has a document: each is then one by itself."""
    p = tf.cast(draft.probabilities, tf.float32)
    shape = tf.shape(p)
    width = elsewhere_width(p.shape[-1], len(KEYS))
    if DOCUMENT not in features:
        return tf.zeros([shape[0], shape[1], width])
    documents = tf.expand_dims(features[DOCUMENT], 1)  # [B, 1]
    sentences = tf.repeat(tf.range(shape[0]), shape[1])
    keys = [tf.reshape(in_document(features[name], documents), [-1]) for name in KEYS]
    found = drafts_elsewhere(
        tf.reshape(p, [-1, p.shape[-1]]),
        tf.reshape(draft.mask, [-1]),
        keys,
        sentences,
        tf.repeat(features[DOCUMENT], shape[1]),
    )
    return tf.reshape(found, [shape[0], shape[1], width])
