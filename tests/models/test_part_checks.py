"""Mistakes in a part of one's own: one sentence names the part and what it returned."""

import pytest
import tensorflow as tf

from tests.models.test_build import build
from uanet_tf import registry
from uanet_tf.decoders.decoder import Decoder
from uanet_tf.encoders.no_encoder import NoEncoder
from uanet_tf.errors import InputError
from uanet_tf.representation.representation import Representation


class Shorter(NoEncoder):
    """Drops a token."""

    def call(self, inputs, mask=None, dropout_masks=None):
        return inputs[:, 1:]


class Pooled(NoEncoder):
    """One vector per sentence."""

    def call(self, inputs, mask=None, dropout_masks=None):
        return tf.reduce_mean(inputs, axis=1)


class OfForms(Representation):
    """Vectors of distinct tokens, not spread."""

    output_width = 3

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        return cls(**kwargs)

    def call(self, features, dropout_seed=None):
        return tf.ones([tf.size(features["form_word_ids"]), 3])


class Logits(Decoder):
    """Scores in place of probabilities."""

    reads_sequence = False

    def label_samples(self, states, mask):
        return None, states[..., :1] * 0 + tf.fill([self.num_classes], 0.3)


class NoPair(Logits):
    """Samples without labels."""

    def label_samples(self, states, mask):
        return super().label_samples(states, mask)[1]


class OfTheMean(Logits):
    """The mean over samples."""

    def label_samples(self, states, mask):
        return None, tf.reduce_mean(super().label_samples(states, mask)[1], axis=0)


ENCODER = (registry.ENCODERS, "encoder", "none")
DECODER = (registry.DECODERS, "decoder", "softmax")
REFINED = (registry.DECODERS, "decoder", "uanet")
REPRESENTATION = (registry.REPRESENTATIONS, "representation", "words")
CASES = [
    (
        ENCODER,
        f"{__name__}:Shorter",
        r"Shorter must return states \[N, T, H\].*shape=\(1, 0, \d+\)",
    ),
    (ENCODER, f"{__name__}:Pooled", r"Pooled must return states \[N, T, H\].* shape=\(1, \d+\)"),
    (ENCODER, f"{__name__}:Logits", "names Logits, which is no Encoder"),
    (DECODER, f"{__name__}:Logits", "label_samples of Logits must return distributions"),
    (DECODER, f"{__name__}:NoPair", "label_samples of NoPair must return a pair.*: EagerTensor"),
    (DECODER, f"{__name__}:OfTheMean", r"OfTheMean must .*\[M, B, T, \d+\].* \(1, 1, \d+\)"),
    (REFINED, f"{__name__}:Logits", "Logits is of a decoder in REFINED_DECODERS .* define logits"),
    (REPRESENTATION, f"{__name__}:OfForms", r"OfForms must return vectors \[B, T, D\], with B"),
    (ENCODER, "uanet_tf.encoders.nowhere:X", "registry.py names .*there is no module .*nowhere"),
    (ENCODER, f"{__name__}:Nobody", f"there is no Nobody in {__name__}"),
    (ENCODER, "uanet_tf.encoders.no_encoder.NoEncoder", "names .* but there is no module"),
]


@pytest.mark.parametrize(("axis", "line", "message"), CASES)
def test_a_part_that_is_wrong_is_named(monkeypatch, axis, line, message):
    table, setting, name = axis
    monkeypatch.setitem(table, name, line)
    with pytest.raises(InputError, match=message) as told:
        build(**{"decoder": "crf", setting: name})
    assert "\n" not in str(told.value)


def test_a_package_that_a_part_needs_keeps_its_name(monkeypatch, tmp_path):
    (tmp_path / "needy_part.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(registry.ENCODERS, "none", "needy_part:X")
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        build(encoder="none", decoder="crf")
