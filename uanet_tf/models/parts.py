"""From settings to the parts of a tagger, by the registry."""

import sys
from typing import Any

from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.decoders.decoder import Decoder
from uanet_tf.encoders.encoder import Encoder
from uanet_tf.errors import InputError
from uanet_tf.registry import DECODERS, ENCODERS, REPRESENTATIONS, find
from uanet_tf.representation.representation import Representation
from uanet_tf.representation.spelling_layer import SpellingLayer
from uanet_tf.representation.word_representation import WordRepresentation

_BASES = ((Representation, SpellingLayer), (Encoder,), (Decoder,))


def part_classes(config: Config) -> list[Any]:
    """The classes of representation, encoder and decoder that the settings name.

    Raises:
      InputError: the registry names something else.
    """
    found = [
        _find(REPRESENTATIONS[config.representation.representation]),
        _find(ENCODERS[config.encoder.encoder]),
        _find(DECODERS[config.decoder.decoder]),
    ]
    for part, bases in zip(found, _BASES, strict=True):
        if not issubclass(part, bases):
            names = " or ".join(base.__name__ for base in bases)
            raise InputError(f"uanet_tf/registry.py names {part.__name__}, which is no {names}.")
    return found


def _find(line: str) -> type:
    """The class that a line of the registry names."""
    module, _, name = line.partition(":")
    try:
        return find(line)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # a package that the module needs
        reason = f"there is no module {error.name}"
    except AttributeError:
        if hasattr(sys.modules.get(module), name) or module not in sys.modules:
            raise
        reason = f"there is no {name} in {module}"
    raise InputError(f'uanet_tf/registry.py names "{line}" (module:class), but {reason}.')


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
