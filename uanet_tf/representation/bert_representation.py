"""The rows of sub-words of some sentences of a batch, and where they are in the whole."""

from typing import Any

import tensorflow as tf

from uanet_tf.arguments import check_rate
from uanet_tf.config import Config
from uanet_tf.data.batching import BATCH_INDEX, BATCH_LENGTHS
from uanet_tf.data.bert_spec import FIRST, LAST
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError
from uanet_tf.ops.dropout import PartSeed, dropout, fold_in
from uanet_tf.ops.masking import sequence_mask
from uanet_tf.ops.subword_windows import SubwordRows, subword_rows
from uanet_tf.registry import REFINED_DECODERS
from uanet_tf.representation.bert_encoder import BertEncoder, subword_part
from uanet_tf.representation.representation import VECTORS, Representation

# Consumers of the dropout seed.
_READING, _VECTORS = range(2)


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class BertRepresentation(Representation):
    """BERT over the sub-words of each sentence; a token's vector is the state of its first one.

    ``read`` runs BERT once per batch: a call on features that were read only applies dropout to
    the vectors. A sentence too long for BERT is read in overlapping windows.

    Args:
      bert: a BertEncoder.
      first_id: vocabulary position of [CLS], which begins a row.
      last_id: vocabulary position of [SEP], which ends it.
      embedding_dropout: rate of dropout on the vectors.
      frozen: BERT is not trained, and drops nothing in training.

    Call arguments:
      features: dictionary with form_subword_ids [U, S] (position in the vocabulary + 1, 0 at
        padding; at least one per token), form_index [B, T] and lengths [B], int32.
      dropout_seed: [2] int32 seed, or None to drop nothing.

    Output shape:
      [B, T, D], D the width of BERT; zeros at padding.

    Reference:
      Devlin et al., 2019 (section 5.3: the first sub-token of a word).
    """

    optimizer = "bert"

    def __init__(
        self,
        bert: tf.keras.layers.Layer,
        *,
        first_id: int,
        last_id: int,
        embedding_dropout: float = 0.1,
        frozen: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.bert: Any = bert
        self.first_id = first_id
        self.last_id = last_id
        self.embedding_dropout = check_rate("embedding_dropout", embedding_dropout)
        self.frozen = frozen
        self.bert.trainable = not frozen

    @classmethod
    def check_settings(cls, config: Config) -> None:
        if not config.representation.bert_preset:
            raise InputError(
                "--bert_preset is required with --representation=bert: the directory of a Hugging "
                "Face or keras_nlp BERT, or the name of a keras_nlp preset such as bert_base_en."
            )
        if config.data.word_vectors:
            raise InputError(
                "--word_vectors does not apply to --representation=bert, which has vectors of its "
                f"own. Received: {config.data.word_vectors}"
            )
        decoder = config.decoder
        if decoder.decoder in REFINED_DECODERS and decoder.refiner_embeddings == "own":
            raise InputError(
                "--representation=bert needs --refiner_embeddings=shared: a second BERT for the "
                "refiner only is not supported. Received: own"
            )

    @classmethod
    def from_settings(
        cls, config: Config, vocabulary: Vocabulary, **kwargs: Any
    ) -> "BertRepresentation":
        """The representation that a run's settings describe; see ``uanet_tf.registry``."""
        spec = vocabulary.bert
        if spec is None:
            raise InputError(
                "--representation=bert needs a vocabulary with a BERT: `make_tagger` reads the one "
                "that --bert_preset names."
            )
        bert = BertEncoder.from_spec(
            spec,
            hidden_dropout=spec.hidden_dropout,
            attention_dropout=spec.attention_dropout,
            name="bert",
        )
        return cls(
            bert,
            first_id=spec.vocabulary.index(FIRST),
            last_id=spec.vocabulary.index(LAST),
            embedding_dropout=config.representation.embedding_dropout,
            frozen=config.training.bert_learning_rate == 0.0,
            **kwargs,
        )

    @property
    def output_width(self) -> int:
        """Width of a token's vector."""
        return self.bert.width

    def build(self, input_shape):
        if not self.bert.built:
            with tf.name_scope(self.bert.name):
                self.bert.build([None, None])
        super().build(input_shape)

    def call(self, features, dropout_seed=None):
        vectors = self.read(features, fold_in(dropout_seed, _READING))[VECTORS]
        return dropout(vectors, self.embedding_dropout, fold_in(dropout_seed, _VECTORS))

    def read(self, features, dropout_seed=None):
        """Adds token_vectors [B, T, D], BERT's vector of each token."""
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
        states = self.bert(
            rows.ids - 1,
            rows.mask,
            places=rows.places,
            dropout_seed=None if self.frozen else dropout_seed,
        )  # [tokens, D]
        if self.frozen:
            states = tf.stop_gradient(states)
        shape = tf.concat([tf.shape(index, tf.int64), [self.output_width]], axis=0)
        vectors = tf.scatter_nd(tf.where(mask), states, shape)
        vectors.set_shape([*index.shape, self.output_width])
        return {**features, VECTORS: vectors}

    def _rows(self, features, index, lengths) -> SubwordRows:
        """The sub-words of sentences [B, T] of form numbers."""
        mask = sequence_mask(lengths, tf.shape(index)[1])
        subwords = tf.gather(features["form_subword_ids"], index)  # [B, T, S]
        return subword_rows(
            tf.where(tf.expand_dims(mask, -1), subwords, 0),
            size=self.bert.max_positions,
            first_id=self.first_id + 1,
            last_id=self.last_id + 1,
        )

    def get_config(self):
        bert = tf.keras.saving.serialize_keras_object(self.bert)
        return {**super().get_config(), "bert": bert}

    @classmethod
    def from_config(cls, config):
        bert = tf.keras.saving.deserialize_keras_object(config["bert"])
        return cls(**{**config, "bert": bert})
