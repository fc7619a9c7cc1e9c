"""Token vectors from a pretrained Transformer over sub-words."""

from typing import Any

import tensorflow as tf

from uanet_tf.arguments import check_choice, check_rate
from uanet_tf.config import Config
from uanet_tf.data.batching import BATCH_INDEX, BATCH_LENGTHS
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError
from uanet_tf.ops.dropout import PartSeed, dropout, fold_in
from uanet_tf.ops.masking import sequence_mask
from uanet_tf.ops.subword_windows import SubwordRows, subword_rows
from uanet_tf.representation.representation import VECTORS, Representation
from uanet_tf.representation.transformer.transformer_encoder import TransformerEncoder, subword_part
from uanet_tf.settings import SUBWORD_POOLING

# Consumers of the dropout seed.
_READING, _VECTORS = range(2)


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class TransformerRepresentation(Representation):
    """A pretrained encoder over the sub-words of each sentence.

    ``read`` runs it once per batch: a call on features that were read only applies dropout to
    the vectors. A sentence too long for it is read in overlapping windows.

    Args:
      transformer: a TransformerEncoder.
      first_id, last_id: vocabulary positions of the sub-words that begin and end a row ([CLS]).
      pooling: a token's vector is the state of its ``first`` sub-word, or the ``mean`` of all.
      embedding_dropout: rate of dropout on the vectors.
      frozen: the encoder is not trained, and drops nothing in training.

    Call arguments:
      features: dictionary with form_subword_ids [U, S] (position in the vocabulary + 1, 0 at
        padding; at least one per token), form_index [B, T] and lengths [B], int32.
      dropout_seed: [2] int32 seed, or None to drop nothing.

    Output shape: [B, T, D], D the width of the encoder; zeros at padding.
    Reference: Devlin et al., 2019 (section 5.3: the first sub-token of a word).
    """

    optimizer = "pretrained"

    def __init__(
        self,
        transformer: tf.keras.layers.Layer,
        *,
        first_id: int,
        last_id: int,
        pooling: str = "first",
        embedding_dropout: float = 0.1,
        frozen: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.transformer: Any = transformer
        self.first_id = first_id
        self.last_id = last_id
        self.pooling = check_choice("pooling", pooling, SUBWORD_POOLING)
        self.embedding_dropout = check_rate("embedding_dropout", embedding_dropout)
        self.frozen = frozen
        self.transformer.trainable = not frozen

    @classmethod
    def check_settings(cls, config: Config) -> None:
        if not config.representation.pretrained:
            raise InputError(
                "`pretrained` is required with `representation=transformer`: a Hugging Face "
                "folder, or a keras_nlp preset by its folder or a name such as bert_base_en."
            )
        if config.data.word_vectors:
            raise InputError(
                "`word_vectors` does not apply to `representation=transformer`, which has vectors "
                f"of its own. Received: {config.data.word_vectors}"
            )
        decoder = config.decoder
        if decoder.is_refined and decoder.refiner_embeddings == "own":
            raise InputError(
                "`representation=transformer` needs `refiner_embeddings=shared`: a second encoder "
                "for the refiner only is not supported. Received: own"
            )

    @classmethod
    def from_settings(
        cls, config: Config, vocabulary: Vocabulary, **kwargs: Any
    ) -> "TransformerRepresentation":
        """The representation that a run's settings describe; see ``uanet_tf.registry``."""
        spec = vocabulary.pretrained
        if spec is None:
            raise InputError(
                "`representation=transformer` needs a vocabulary with a pretrained encoder: "
                "`make_tagger` reads the one that `pretrained` names."
            )
        transformer = TransformerEncoder(
            spec.architecture, freeze_layers=config.training.freeze_layers, name="transformer"
        )
        return cls(
            transformer,
            first_id=spec.tokenizer.first,
            last_id=spec.tokenizer.last,
            pooling=config.representation.subword_pooling,
            embedding_dropout=config.representation.embedding_dropout,
            frozen=config.training.pretrained_learning_rate == 0.0,
            **kwargs,
        )

    @property
    def output_width(self) -> int:
        """Width of a token's vector."""
        return self.transformer.width

    def build(self, input_shape):
        if not self.transformer.built:
            with tf.name_scope(self.transformer.name):
                self.transformer.build([None, None])
        super().build(input_shape)

    def call(self, features, dropout_seed=None):
        vectors = self.read(features, fold_in(dropout_seed, _READING))[VECTORS]
        return dropout(vectors, self.embedding_dropout, fold_in(dropout_seed, _VECTORS))

    def read(self, features, dropout_seed=None):
        """Adds token_vectors [B, T, D], the encoder's vector of each token."""
        if VECTORS in features:
            return features
        index, lengths = features["form_index"], features["lengths"]
        mask = sequence_mask(lengths, tf.shape(index)[1])  # [B, T]
        if isinstance(dropout_seed, PartSeed):
            rows, dropout_seed = subword_part(
                self._rows(features, features[BATCH_INDEX], features[BATCH_LENGTHS]),
                features[BATCH_LENGTHS],
                dropout_seed,
            )
        else:
            rows = self._rows(features, index, lengths)
        is_first = self.pooling == "first"
        states = self.transformer(
            rows.ids - 1,
            rows.mask,
            places=rows.places if is_first else None,
            dropout_seed=None if self.frozen else dropout_seed,
        )  # [tokens, D], or all sub-words
        if not is_first:
            states = self._means(states, rows)
        if self.frozen:
            states = tf.stop_gradient(states)
        shape = tf.concat([tf.shape(index, tf.int64), [self.output_width]], axis=0)
        vectors = tf.scatter_nd(tf.where(mask), states, shape)
        vectors.set_shape([*index.shape, self.output_width])
        return {**features, VECTORS: vectors}

    def _means(self, states, rows: SubwordRows) -> tf.Tensor:
        """The mean state of each token's sub-words, [tokens, D], of states [N, D] of all."""
        word = tf.repeat(tf.range(tf.size(rows.sizes)), rows.sizes)
        number = tf.range(tf.size(word)) - tf.gather(tf.cumsum(rows.sizes, exclusive=True), word)
        first = self.transformer.numbers(rows.places, rows.mask)
        chosen = tf.gather(states, tf.gather(first, word) + tf.cast(number, tf.int64))
        sums = tf.math.segment_sum(chosen, word)
        return sums / tf.cast(tf.expand_dims(rows.sizes, 1), sums.dtype)

    def _rows(self, features, index, lengths) -> SubwordRows:
        """The sub-words of sentences [B, T] of form numbers."""
        mask = sequence_mask(lengths, tf.shape(index)[1])
        subwords = tf.gather(features["form_subword_ids"], index)  # [B, T, S]
        return subword_rows(
            tf.where(tf.expand_dims(mask, -1), subwords, 0),
            size=self.transformer.architecture.max_positions,
            first_id=self.first_id + 1,
            last_id=self.last_id + 1,
        )

    def get_config(self):
        transformer = tf.keras.saving.serialize_keras_object(self.transformer)
        return {**super().get_config(), "transformer": transformer}

    @classmethod
    def from_config(cls, config):
        transformer = tf.keras.saving.deserialize_keras_object(config["transformer"])
        return cls(**{**config, "transformer": transformer})
