"""Mistakes in a part of one's own: one sentence names the part and what it returned."""

import pytest
import tensorflow as tf

from tests.models.test_build import build
from uanet_tf import registry
from uanet_tf.decoders.decoder import Decoder
from uanet_tf.decoders.softmax import SoftmaxDecoder
from uanet_tf.encoders.encoder import Encoder, NoEncoder
from uanet_tf.errors import InputError
from uanet_tf.representation.char_layer import SpellingLayer
from uanet_tf.representation.representation import Representation


class Shorter(NoEncoder):
    """Drops a token."""

    def call(self, inputs, mask=None, dropout_masks=None):
        return inputs[:, 1:]


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

    def sequence_loss(self, states, labels, mask, dropout_seed):
        return tf.reduce_sum(states)

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


class RateOnly(NoEncoder):
    """Masks without widths."""

    def mask_widths(self, input_width):
        return {"output": 0.5}


class NoCall(Encoder):
    """Keras would return its inputs."""

    def mask_widths(self, input_width):
        return {}

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        return cls(**kwargs)


class NoSamples(Decoder):
    """A loss, and no labels."""

    def sequence_loss(self, states, labels, mask, dropout_seed):
        return tf.reduce_sum(states)


class OfTokens(SoftmaxDecoder):
    """The loss of each token."""

    def sequence_loss(self, states, labels, mask, dropout_seed):
        return tf.reduce_sum(states, axis=-1)


class Words(SoftmaxDecoder):
    """Labels in place of their numbers."""

    def label_samples(self, states, mask):
        return tf.fill(tf.shape(mask), "O"), super().label_samples(states, mask)[1]


class OneMore(SoftmaxDecoder):
    """A score for a label that there is not."""

    def label_samples(self, states, mask):
        return None, tf.nn.softmax(super().logits(states))

    def logits(self, states):
        return tf.pad(super().logits(states), [[0, 0]] * (states.shape.rank - 1) + [[0, 1]])


class Unspelled(SpellingLayer):
    """A vector for each character."""

    output_width = 4

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        return cls(**kwargs)

    def call(self, char_ids):
        return tf.ones([*char_ids.shape, 4])


ENCODER = (registry.ENCODERS, "encoder", "none")
DECODER = (registry.DECODERS, "decoder", "softmax")
REFINED = (registry.DECODERS, "decoder", "uanet")
REPRESENTATION = (registry.REPRESENTATIONS, "representation", "words")
CASES = [
    (
        ENCODER,
        f"{__name__}:Shorter",
        r"Shorter must return states \[N, T, H\],.*\(1, 1, None\).*\(1, 0, \d+\)",
    ),
    (ENCODER, f"{__name__}:Logits", "names Logits, which is no Encoder"),
    (DECODER, f"{__name__}:Logits", "label_samples of Logits must return distributions"),
    (DECODER, f"{__name__}:NoPair", "label_samples of NoPair must return a pair.*: EagerTensor"),
    (DECODER, f"{__name__}:OfTheMean", r"OfTheMean must .*\[M, B, T, \d+\].* \(1, 1, \d+\)"),
    (REFINED, f"{__name__}:Logits", "Logits is of a decoder in REFINED_DECODERS .* define logits"),
    (REPRESENTATION, f"{__name__}:OfForms", r"OfForms must return vectors \[B, T, D\], as"),
    (ENCODER, "uanet_tf.encoders.nowhere:X", "registry.py names .*there is no module .*nowhere"),
    (ENCODER, f"{__name__}:Nobody", f"there is no Nobody in {__name__}"),
    (ENCODER, "uanet_tf.encoders.encoder.NoEncoder", "names .* but there is no module"),
    (ENCODER, f"{__name__}:build", "registry.py names build, which is no Encoder"),
    (ENCODER, None, "registry.py names None, which is no module:class"),
    (ENCODER, ".no_encoder:NoEncoder", "registry.py names '.no_encoder:NoEncoder', which is no"),
    (ENCODER, f"{__name__}:RateOnly", r"mask_widths of RateOnly must .*: \{'output': 0.5\}"),
    (ENCODER, f"{__name__}:NoCall", "NoCall, which .* must define call, as every Encoder does"),
    (DECODER, f"{__name__}:NoSamples", "NoSamples, which .* must define label_samples, as every"),
    (DECODER, f"{__name__}:OfTokens", r"loss 'draft' of OfTokens must be a scalar.*\(1, 1\)"),
    (DECODER, f"{__name__}:Words", "samples of Words must return a pair.*labels of.*dtype string"),
    (REFINED, f"{__name__}:OneMore", r"logits of OneMore must return scores \[B, T, \d+\]"),
    (REPRESENTATION, f"{__name__}:Unspelled", r"Unspelled must return vectors \[U, 4\].*\d, 4\)"),
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
