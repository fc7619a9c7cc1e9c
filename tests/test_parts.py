"""What every part of the registry promises to the one who makes it."""

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf import registry
from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.refiner.two_stream_refiner import TwoStreamRefiner

VOCABULARY = Vocabulary(("a", "b"), (3, 1), ("a", "b"), ("O", "B-X", "I-X", "E-X", "S-X"), "IOB2")
SMALL = Config().replace(hidden_width=8, lan_heads=2, encoder_heads=2, unknown_word_rate=0.1)
NEEDS_FILES = {"bert"}
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


@pytest.mark.parametrize("kind", [kind for kind in PARTS if kind.startswith("encoder")])
def test_encoders_say_their_output_shape(kind):
    layer = make(kind)
    states = layer(tf.ones([2, 3, 6]))
    assert list(layer.compute_output_shape([2, 3, 6])) == states.shape
    assert np.isfinite(states).all()
