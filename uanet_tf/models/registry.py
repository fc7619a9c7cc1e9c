"""Names to parts: which layer a flag's value stands for."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from uanet_tf.config import Config
from uanet_tf.data.vocabulary import FIRST_ID, INTERNAL_SCHEME, Vocabulary
from uanet_tf.decoders.crf import CRFDecoder
from uanet_tf.decoders.decoder import Decoder
from uanet_tf.decoders.label_attention import LabelAttentionDecoder
from uanet_tf.decoders.seq2biseq import Seq2BiseqDecoder
from uanet_tf.decoders.seq2seq import Seq2SeqDecoder
from uanet_tf.decoders.softmax import SoftmaxDecoder
from uanet_tf.encoders.bigru_transformer import BiGRUTransformer
from uanet_tf.encoders.bilstm import BiLSTM
from uanet_tf.encoders.encoder import Encoder
from uanet_tf.encoders.iterated_dilated_cnn import IteratedDilatedCNN
from uanet_tf.encoders.no_encoder import NoEncoder
from uanet_tf.encoders.relative_transformer import RelativeTransformer
from uanet_tf.encoders.variational_bilstm import VariationalBiLSTM
from uanet_tf.refiner.two_stream_refiner import TwoStreamRefiner
from uanet_tf.representation.char_attention import CharAttention
from uanet_tf.representation.char_bilstm import CharBiLSTM
from uanet_tf.representation.char_cnn import CharCNN
from uanet_tf.representation.char_gru import CharGRU
from uanet_tf.representation.form_representation import FormRepresentation
from uanet_tf.representation.intnet import IntNet
from uanet_tf.representation.word_representation import WordRepresentation
from uanet_tf.representation.word_shape import WordShape, char_classes


def _char_cnn(config: Config, vocabulary: Vocabulary) -> tf.keras.layers.Layer:
    part = config.representation
    return CharCNN(
        len(vocabulary.chars) + FIRST_ID,
        char_width=part.char_width,
        filters=part.char_filters,
        kernel_size=part.char_kernel,
    )


def _char_bilstm(config: Config, vocabulary: Vocabulary) -> tf.keras.layers.Layer:
    part = config.representation
    return CharBiLSTM(
        len(vocabulary.chars) + FIRST_ID,
        char_width=part.char_width,
        hidden_width=part.char_hidden_width,
    )


def _char_gru(config: Config, vocabulary: Vocabulary) -> tf.keras.layers.Layer:
    part = config.representation
    return CharGRU(
        len(vocabulary.chars) + FIRST_ID,
        char_width=part.char_width,
        hidden_width=part.char_hidden_width,
        feedforward_width=part.char_filters,
    )


def _intnet(config: Config, vocabulary: Vocabulary) -> tf.keras.layers.Layer:
    part = config.representation
    return IntNet(
        len(vocabulary.chars) + FIRST_ID,
        char_width=part.char_width,
        num_layers=part.intnet_layers,
    )


def _word_shape(config: Config, vocabulary: Vocabulary) -> tf.keras.layers.Layer:
    return WordShape(char_classes(vocabulary.chars), shape_width=config.representation.shape_width)


# What stands beside the word embedding, or is mixed with it (char_attention).
CHAR_LAYERS: dict[str, Callable[[Config, Vocabulary], tf.keras.layers.Layer] | None] = {
    "words": None,
    "char_cnn": _char_cnn,
    "char_bilstm": _char_bilstm,
    "char_gru": _char_gru,
    "char_attention": _char_bilstm,
    "intnet": _intnet,
    "word_shape": _word_shape,
}


def make_representation(config: Config, vocabulary: Vocabulary, name: str) -> FormRepresentation:
    """The word representation called ``name`` in the model."""
    part = config.representation
    make_chars = CHAR_LAYERS[part.representation]
    num_words = len(vocabulary.words) + FIRST_ID
    options: dict[str, Any] = {
        "word_width": part.word_width,
        "char_layer": make_chars and make_chars(config, vocabulary),
        "embedding_dropout": part.embedding_dropout,
        "unknown_word_rate": part.unknown_word_rate,
        "word_counts": list(vocabulary.word_counts) if part.unknown_word_rate else None,
        "name": name,
    }
    if part.representation == "char_attention":
        return CharAttention(num_words, similarity_weight=part.similarity_weight, **options)
    return WordRepresentation(num_words, **options)


def _variational_bilstm(config: Config) -> Encoder:
    part = config.encoder
    return VariationalBiLSTM(
        part.hidden_width,
        num_layers=part.encoder_layers,
        input_dropout=part.variational_dropout,
        recurrent_dropout=part.recurrent_dropout,
        output_dropout=part.output_dropout,
        name="encoder",
    )


def _bilstm(config: Config) -> Encoder:
    part = config.encoder
    return BiLSTM(
        part.hidden_width,
        num_layers=part.encoder_layers,
        input_dropout=part.variational_dropout,
        output_dropout=part.output_dropout,
        name="encoder",
    )


def _id_cnn(config: Config) -> Encoder:
    part = config.encoder
    return IteratedDilatedCNN(
        part.hidden_width,
        num_iterations=part.cnn_iterations,
        identity_init=part.identity_init,
        score_iterates=part.score_iterates,
        input_dropout=part.variational_dropout,
        hidden_dropout=part.recurrent_dropout,
        output_dropout=part.output_dropout,
        name="encoder",
    )


def _relative_transformer(config: Config) -> Encoder:
    part = config.encoder
    return RelativeTransformer(
        part.hidden_width,
        num_layers=part.encoder_layers,
        num_heads=part.encoder_heads,
        feedforward_width=part.encoder_feedforward_width or None,
        input_dropout=part.variational_dropout,
        layer_dropout=part.recurrent_dropout,
        attention_dropout=part.encoder_attention_dropout,
        output_dropout=part.output_dropout,
        name="encoder",
    )


def _bigru_transformer(config: Config) -> Encoder:
    part = config.encoder
    return BiGRUTransformer(
        part.hidden_width,
        num_layers=part.encoder_layers,
        feedforward_width=part.encoder_feedforward_width or None,
        input_dropout=part.variational_dropout,
        recurrent_dropout=part.recurrent_dropout,
        output_dropout=part.output_dropout,
        name="encoder",
    )


def _no_encoder(config: Config) -> Encoder:
    return NoEncoder(output_dropout=config.encoder.output_dropout, name="encoder")


ENCODERS: dict[str, Callable[[Config], Encoder]] = {
    "variational_bilstm": _variational_bilstm,
    "bilstm": _bilstm,
    "id_cnn": _id_cnn,
    "relative_transformer": _relative_transformer,
    "bigru_transformer": _bigru_transformer,
    "none": _no_encoder,
}


def make_encoder(config: Config) -> Encoder:
    """The encoder that ``--encoder`` names."""
    return ENCODERS[config.encoder.encoder](config)


def _softmax(config: Config, vocabulary: Vocabulary) -> Decoder:
    del config
    return SoftmaxDecoder(len(vocabulary.labels), name="decoder")


def _crf(config: Config, vocabulary: Vocabulary) -> Decoder:
    constrained = config.decoder.crf_constraints and vocabulary.scheme is not None
    return CRFDecoder(
        len(vocabulary.labels),
        label_names=vocabulary.labels if constrained else None,
        scheme=INTERNAL_SCHEME,
        name="decoder",
    )


def _lan(config: Config, vocabulary: Vocabulary) -> Decoder:
    part = config.decoder
    return LabelAttentionDecoder(
        len(vocabulary.labels),
        num_layers=part.lan_layers,
        num_heads=part.lan_heads,
        dropout=part.decoder_dropout,
        name="decoder",
    )


def _seq2seq(config: Config, vocabulary: Vocabulary) -> Decoder:
    part = config.decoder
    return Seq2SeqDecoder(
        len(vocabulary.labels),
        hidden_width=part.label_hidden_width or None,
        label_width=part.label_width,
        beam_width=part.beam_width,
        dropout=part.decoder_dropout,
        name="decoder",
    )


def _seq2biseq(config: Config, vocabulary: Vocabulary) -> Decoder:
    part = config.decoder
    return Seq2BiseqDecoder(
        len(vocabulary.labels),
        hidden_width=part.label_hidden_width or None,
        label_width=part.label_width,
        dropout=part.decoder_dropout,
        name="decoder",
    )


# The draft's decoder: that of UANet is a softmax too (Eq. 4).
DECODERS: dict[str, Callable[[Config, Vocabulary], Decoder]] = {
    "uanet": _softmax,
    "softmax": _softmax,
    "crf": _crf,
    "lan": _lan,
    "seq2seq": _seq2seq,
    "seq2biseq": _seq2biseq,
}


def make_decoder(config: Config, vocabulary: Vocabulary) -> Decoder:
    """The decoder that ``--decoder`` names."""
    return DECODERS[config.decoder.decoder](config, vocabulary)


def make_refiner(config: Config, num_classes: int) -> TwoStreamRefiner:
    """The two-stream refiner of ``--decoder=uanet``."""
    part = config.decoder
    return TwoStreamRefiner(
        num_classes,
        num_layers=part.refiner_layers,
        num_heads=part.refiner_heads,
        head_width=part.refiner_head_width,
        feedforward_width=part.refiner_feedforward_width or None,
        dropout=part.refiner_dropout,
        attention_dropout=part.attention_dropout,
        label_layers=part.label_layers,
        label_input=part.label_input,
        name="refiner",
    )
