"""One line of the registry names one part, and nothing else has to know of it."""

import dataclasses
from typing import Any

import pytest

from uanet_tf import registry, settings
from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.decoders.decoder import Decoder
from uanet_tf.encoders.encoder import Encoder
from uanet_tf.refiner.two_stream_refiner import TwoStreamRefiner
from uanet_tf.representation.char_layer import SpellingLayer

TABLES: dict[str, tuple[dict[str, str], Any]] = {
    "representation": (registry.REPRESENTATIONS, settings.RepresentationConfig),
    "encoder": (registry.ENCODERS, settings.EncoderConfig),
    "decoder": (registry.DECODERS, settings.DecoderConfig),
}
LINES = [(axis, name) for axis, (table, _) in TABLES.items() for name in table]


@pytest.mark.parametrize("axis", TABLES)
def test_the_names_are_the_choices_of_the_flag(axis):
    table, group = TABLES[axis]
    (field,) = [field for field in dataclasses.fields(group) if field.name == axis]
    assert field.metadata["choices"] == table.keys()
    assert field.default in table


@pytest.mark.parametrize(("axis", "name"), LINES, ids=lambda value: value)
def test_a_line_names_a_part(axis, name):
    part = registry.find(TABLES[axis][0][name])
    if axis == "representation":
        assert issubclass(part, SpellingLayer) or hasattr(part, "with_auxiliary_loss")
    else:
        assert issubclass(part, Encoder if axis == "encoder" else Decoder)
    assert callable(part.from_settings)
    assert callable(part.check_settings)


@pytest.mark.parametrize("axis", TABLES)
def test_no_two_names_for_one_part(axis):
    """UANet's decoder is the one of its draft."""
    table, _ = TABLES[axis]
    assert len(set(table.values())) == len(set(table) - set(registry.REFINED_DECODERS))


@pytest.mark.parametrize("base", [SpellingLayer, Encoder])
def test_a_part_says_that_it_lacks_from_settings(base):
    with pytest.raises(NotImplementedError, match=f"{base.__name__} must define from_settings"):
        base.from_settings(None, None)


VOCABULARY = Vocabulary(("a", "b"), (3, 1), ("a", "b"), ("O", "B-X", "I-X", "E-X", "S-X"), "IOB2")
SMALL = Config().replace(hidden_width=8, lan_heads=2, encoder_heads=2, unknown_word_rate=0.1)
NEEDS_FILES = {"transformer"}
PARTS = {
    f"{kind} {name}": registry.find(line)
    for kind, table in (
        ("representation", registry.REPRESENTATIONS),
        ("encoder", registry.ENCODERS),
        ("decoder", registry.DECODERS),
    )
    for name, line in table.items()
    if name not in {*NEEDS_FILES, "uanet"}
} | {"refiner": TwoStreamRefiner}
every_part = pytest.mark.parametrize("kind", PARTS)


def make(kind, **options):
    return PARTS[kind].from_settings(SMALL, VOCABULARY, **options)


@every_part
def test_it_is_made_from_settings(kind):
    layer = make(kind, name="mine")
    assert type(layer) is PARTS[kind]
    assert layer.name == "mine"
    assert layer.get_config() == type(layer).from_config(layer.get_config()).get_config()


@every_part
def test_it_refuses_bad_numbers_and_names_them(kind):
    """Rates outside [0, 1), and counts and widths that are not positive integers."""
    layer = make(kind)
    checked = 0
    for name, value in layer.get_config().items():
        if isinstance(value, bool) or name in ("name", "dtype", "trainable"):
            continue
        if name.endswith("dropout"):
            bad = [1.0, -0.1, True]
        elif isinstance(value, int) or name.endswith("width"):
            bad = [0, -1, 2.5, True]
        else:
            continue
        for number in bad:
            config = {**layer.get_config(), name: number}
            # Keras wraps what a constructor raises.
            with pytest.raises(
                (ValueError, TypeError), match=f"`{name}` must be .*Received: .*{number}"
            ):
                type(layer).from_config(config)
            checked += 1
    assert checked
