"""One line of the registry names one part, and nothing else has to know of it."""

import dataclasses
import subprocess
import sys
from typing import Any

import pytest

from uanet_tf import registry, settings
from uanet_tf.decoders.decoder import Decoder
from uanet_tf.encoders.encoder import Encoder
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
    assert field.metadata["choices"] == tuple(table)
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


def test_names_are_read_without_tensorflow():
    """Flags are defined, and wrong ones refused, before anything slow is loaded."""
    program = "import sys, uanet_tf.config; print('tensorflow' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("base", [SpellingLayer, Encoder])
def test_a_part_says_that_it_lacks_from_settings(base):
    with pytest.raises(NotImplementedError, match=f"{base.__name__} must define from_settings"):
        base.from_settings(None, None)
