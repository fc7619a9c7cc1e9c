"""From settings to the parts of a tagger, by the registry."""

import inspect
import re
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
# What a part defines itself; of several names one.
_OF_A_PART: dict[type, tuple[str, ...]] = {
    Representation: ("from_settings", "call", "output_width"),
    SpellingLayer: ("from_settings", "call", "output_width"),
    Encoder: ("from_settings", "call", "mask_widths"),
    Decoder: ("label_samples", "sequence_loss sequence_losses"),
}
_LINE = re.compile(r"\w[\w.]*(:\w+)?")


def part_classes(config: Config) -> list[Any]:
    """The classes of representation, encoder and decoder that the settings name.

    Raises:
      InputError: the registry names something else, or a class without one of its methods.
    """
    found = [
        _find(REPRESENTATIONS[config.representation.representation]),
        _find(ENCODERS[config.encoder.encoder]),
        _find(DECODERS[config.decoder.decoder]),
    ]
    for part, bases in zip(found, _BASES, strict=True):
        if not (isinstance(part, type) and issubclass(part, bases)):
            names = " or ".join(base.__name__ for base in bases)
            raise InputError(f"uanet_tf/registry.py names {part.__name__}, which is no {names}.")
        _check_defined(part, next(base for base in bases if issubclass(part, base)))
    return found


def _check_defined(part: type, base: type) -> None:
    """Raises InputError where a part leaves out what its base asks for."""
    for names in map(str.split, _OF_A_PART[base]):
        own = [inspect.getattr_static(part, name, None) for name in names]
        if own == [inspect.getattr_static(base, name, None) for name in names]:
            raise InputError(
                f"{part.__name__}, which uanet_tf/registry.py names, must define {names[0]}, as "
                f"every {base.__name__} does."
            )


def _find(line: str) -> type:
    """The class that a line of the registry names."""
    if not (isinstance(line, str) and _LINE.fullmatch(line)):
        raise InputError(f"uanet_tf/registry.py names {line!r}, which is no module:class.")
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
