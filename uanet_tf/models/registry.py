"""Names to parts: which layer a flag's value stands for."""

from collections.abc import Callable

import tensorflow as tf

from uanet_tf.config import Config
from uanet_tf.data.vocabulary import FIRST_ID, Vocabulary
from uanet_tf.encoders.encoder import Encoder
from uanet_tf.encoders.no_encoder import NoEncoder
from uanet_tf.encoders.variational_bilstm import VariationalBiLSTM
from uanet_tf.refiner.two_stream_refiner import TwoStreamRefiner
from uanet_tf.representation.char_cnn import CharCNN
from uanet_tf.representation.word_representation import WordRepresentation


def _char_cnn(config: Config, vocabulary: Vocabulary) -> tf.keras.layers.Layer:
    part = config.representation
    return CharCNN(
        len(vocabulary.chars) + FIRST_ID,
        char_width=part.char_width,
        filters=part.char_filters,
        kernel_size=part.char_kernel,
    )


# What stands beside the word embedding.
CHAR_LAYERS: dict[str, Callable[[Config, Vocabulary], tf.keras.layers.Layer] | None] = {
    "words": None,
    "char_cnn": _char_cnn,
}


def make_representation(config: Config, vocabulary: Vocabulary, name: str) -> WordRepresentation:
    """The word representation called ``name`` in the model."""
    part = config.representation
    make_chars = CHAR_LAYERS[part.representation]
    return WordRepresentation(
        len(vocabulary.words) + FIRST_ID,
        word_width=part.word_width,
        char_layer=make_chars and make_chars(config, vocabulary),
        embedding_dropout=part.embedding_dropout,
        unknown_word_rate=part.unknown_word_rate,
        word_counts=list(vocabulary.word_counts) if part.unknown_word_rate else None,
        name=name,
    )


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


def _no_encoder(config: Config) -> Encoder:
    return NoEncoder(output_dropout=config.encoder.output_dropout, name="encoder")


ENCODERS: dict[str, Callable[[Config], Encoder]] = {
    "variational_bilstm": _variational_bilstm,
    "none": _no_encoder,
}


def make_encoder(config: Config) -> Encoder:
    """The encoder that ``--encoder`` names."""
    return ENCODERS[config.encoder.encoder](config)


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
