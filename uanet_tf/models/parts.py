"""The parts of a tagger: made from settings by the registry, and what they return, checked."""

import contextlib
import inspect
import re
import sys
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import tensorflow as tf

from uanet_tf.arguments import ArgumentError
from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.decoders.decoder import Decoder
from uanet_tf.encoders.encoder import Encoder
from uanet_tf.errors import InputError
from uanet_tf.ops.shapes import check_shape
from uanet_tf.registry import DECODERS, ENCODERS, REPRESENTATIONS, find
from uanet_tf.representation.char_layer import SpellingLayer
from uanet_tf.representation.representation import Representation
from uanet_tf.representation.word_representation import WordRepresentation


@contextlib.contextmanager
def layer_precision(mixed_bfloat16: bool) -> Iterator[None]:
    """Layers made within this context compute in bfloat16, with float32 weights.

    Without ``mixed_bfloat16`` they compute in Keras' floats (``tf.keras.backend.floatx``, float32
    unless it is set). In both cases a global policy that somebody else has set has no effect.
    """
    wanted = "mixed_bfloat16" if mixed_bfloat16 else tf.keras.backend.floatx()
    before = tf.keras.mixed_precision.global_policy()
    if before.name == wanted:  # one that is set, be it the same, no longer follows Keras' floats
        yield
        return
    tf.keras.mixed_precision.set_global_policy(wanted)
    try:
        yield
    finally:
        tf.keras.mixed_precision.set_global_policy(before)


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

    InputError, if the registry names something else, or a class without one of its methods.
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


def check_masks(part: Encoder) -> None:
    """Raises ArgumentError unless an encoder names masks as {name: (width, rate)}."""
    masks = part.mask_widths(1)
    if not (isinstance(masks, dict) and all(map(_is_mask, masks.values()))):
        raise ArgumentError(
            f"mask_widths of {type(part).__name__} must return a dictionary {{name: (width, rate)}}"
            f", with positive widths and rates in [0, 1). Received: {masks!r:.60}"
        )


def _is_mask(pair: Any) -> bool:
    if not (isinstance(pair, tuple | list) and len(pair) == 2):
        return False
    width, rate = pair
    if not (isinstance(width, Integral) and isinstance(rate, Real)):
        return False
    return int(width) > 0 and 0.0 <= float(rate) < 1.0


def check_vectors(part: Representation, vectors: tf.Tensor, index: tf.Tensor) -> None:
    """Raises ArgumentError unless a representation gave vectors [B, T, D] of ``index`` [B, T]."""
    check_shape(part, "", vectors, [*index.shape, None], "vectors [B, T, D], as `form_index`")


def check_states(
    part: Encoder, states: tf.Tensor, mask: tf.Tensor | None, *, are_samples: bool
) -> None:
    """Raises ArgumentError unless an encoder gave states [N, T, H].

    They are looked at as [B, T, H], or as [M, B, T, H] of samples; the mask is [B, T] or None.
    """
    wanted = [*([None, None] if mask is None else mask.shape), None]
    of_one = states[0] if are_samples else states
    check_shape(part, "", of_one, wanted, "states [N, T, H], with N and T of its mask")


def check_classes(part: Decoder, logits: tf.Tensor) -> None:
    """Raises ArgumentError unless ``logits`` of a decoder gave a score [B, T, C] of each label."""
    wanted = [None, None, part.num_classes]
    check_shape(part, "logits of ", logits, wanted, f"scores [B, T, {part.num_classes}]")


def check_distribution(part: Decoder, probabilities: tf.Tensor) -> None:
    """Raises ArgumentError where a decoder gave, outside a graph, [B, T, C] no distributions."""
    total = float(tf.reduce_sum(probabilities[0, 0]))
    least = float(tf.reduce_min(probabilities))
    if abs(total - 1) > 0.05 or least < 0:  # not for NaN, which other parts may give
        raise ArgumentError(
            f"label_samples of {type(part).__name__} must return distributions, of numbers of at "
            f"least 0 that add up to 1. Received: sum={total:.4g}, least={least:.4g}"
        )


def check_logits(part: Decoder) -> None:
    """Raises ArgumentError unless a decoder whose draft is refined has the method ``logits``."""
    if not callable(getattr(part, "logits", None)):
        raise ArgumentError(
            f"{type(part).__name__} is of a decoder in REFINED_DECODERS (uanet_tf/registry.py) and "
            "must define logits."
        )
