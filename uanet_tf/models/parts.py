"""From settings to the parts of a tagger, by the registry."""

from typing import Any

from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.decoders.decoder import Decoder
from uanet_tf.encoders.encoder import Encoder
from uanet_tf.registry import DECODERS, ENCODERS, REPRESENTATIONS, find
from uanet_tf.representation.representation import Representation
from uanet_tf.representation.spelling_layer import SpellingLayer
from uanet_tf.representation.word_representation import WordRepresentation


def part_classes(config: Config) -> list[Any]:
    """The classes of representation, encoder and decoder that the settings name."""
    return [
        find(REPRESENTATIONS[config.representation.representation]),
        find(ENCODERS[config.encoder.encoder]),
        find(DECODERS[config.decoder.decoder]),
    ]


def make_representation(config: Config, vocabulary: Vocabulary, name: str) -> Representation:
    """The representation of the settings; a layer over characters with the words beside it."""
    found = part_classes(config)[0]
    if not issubclass(found, SpellingLayer):
        return found.from_settings(config, vocabulary, name=name)
    spelling = found.from_settings(config, vocabulary, name=None)
    return WordRepresentation.from_settings(config, vocabulary, char_layer=spelling, name=name)


def make_encoder(config: Config, vocabulary: Vocabulary, name: str) -> Encoder:
    """The encoder of the settings."""
    return part_classes(config)[1].from_settings(config, vocabulary, name=name)


def make_decoder(config: Config, vocabulary: Vocabulary, name: str) -> Decoder:
    """The decoder of the settings; UANet's is that of its draft."""
    return part_classes(config)[2].from_settings(config, vocabulary, name=name)
