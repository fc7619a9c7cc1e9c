import json

import numpy as np
import pytest

from uanet_tf.data.bert_spec import BertPreset, BertSpec
from uanet_tf.errors import InputError

SPEC = BertSpec(
    vocabulary=("[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"),
    lowercase=True,
    strip_accents=False,
    split_chinese=True,
    vocabulary_size=6,
    width=4,
    num_layers=1,
    num_heads=2,
    feedforward_width=3,
    max_positions=5,
)


def weights():
    return {name: np.zeros(shape, np.float32) for name, shape in SPEC.weight_shapes().items()}


def test_survives_json():
    assert BertSpec.from_dict(json.loads(json.dumps(SPEC.to_dict()))) == SPEC


def test_a_preset_has_every_weight_in_its_shape():
    BertPreset(SPEC, weights())
    missing = weights()
    del missing["layer_0/output_bias"]
    with pytest.raises(InputError, match="there is no weight for layer_0/output_bias"):
        BertPreset(SPEC, missing)
    with pytest.raises(
        InputError, match=r"token_embeddings has the shape \(5, 4\), but .* \(6, 4\)"
    ):
        BertPreset(SPEC, {**weights(), "token_embeddings": np.zeros([5, 4], np.float32)})
