import json

import numpy as np
import pytest

from uanet_tf.data.encoder_spec import Architecture, EncoderSpec, PretrainedEncoder, TokenizerSpec
from uanet_tf.errors import InputError

ARCHITECTURE = Architecture(
    vocabulary_size=6, width=4, num_layers=1, num_heads=2, feedforward_width=3, max_positions=5
)
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "a")
SPEC = EncoderSpec(
    ARCHITECTURE, TokenizerSpec("wordpiece", WORDS, 2, 3, 1, (("clean",), ("form", "NFC")))
)


def weights():
    return {
        name: np.zeros(shape, np.float32) for name, shape in ARCHITECTURE.weight_shapes().items()
    }


def test_survives_json():
    assert EncoderSpec.from_dict(json.loads(json.dumps(SPEC.to_dict()))) == SPEC


def test_a_preset_has_every_weight_in_its_shape():
    PretrainedEncoder(SPEC, weights())
    missing = weights()
    del missing["layer_0/output_bias"]
    with pytest.raises(InputError, match="there is no weight for layer_0/output_bias"):
        PretrainedEncoder(SPEC, missing)
    other = {**weights(), "embeddings/token_embeddings": np.zeros([5, 4], np.float32)}
    with pytest.raises(
        InputError, match=r"token_embeddings has the shape \(5, 4\), but .* \(6, 4\)"
    ):
        PretrainedEncoder(SPEC, other)


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        ("tokenizer", {"kind": "words"}, "tokenizers of the kind 'words' are not known"),
        ("tokenizer", {"kind": "unigram"}, "not every sub-word has a score"),
        ("tokenizer", {"steps": [["run", "rm"]]}, "a step of the tokenizer is not known"),
        ("tokenizer", {"steps": ["clean"]}, "a step of the tokenizer is not a list"),
        ("tokenizer", {"vocabulary": [1]}, "a sub-word of the vocabulary is not text"),
        ("tokenizer", {"last": 5}, "lacks its first, last or unknown sub-word"),
        ("tokenizer", {"charsmap": "?"}, "the map of characters is not in base 64"),
        ("tokenizer", {"vocabulary": "/etc/passwd"}, "'vocabulary', not list or tuple"),
        ("architecture", {"vocabulary_size": 4}, "5 sub-words, but the embedding table 4 rows"),
        ("architecture", {"width": 10**9}, "width must be from 1 to 65536"),
        ("architecture", {"num_layers": 99, "group_layers": 99}, "99 times 99 layers are too many"),
        ("architecture", {"gated": 1}, "'gated', not bool"),
        ("architecture", {"more": 1}, "the unknown key 'more'"),
    ],
)
def test_what_is_not_one_is_said(part, change, message):
    values = SPEC.to_dict()
    with pytest.raises(InputError, match=message):
        EncoderSpec.from_dict({**values, part: {**values[part], **change}})
