"""A BERT of keras_nlp."""

import numpy as np
import pytest

from tests.tiny_encoder import SUBWORDS


@pytest.fixture(scope="module")
def backbone():
    import keras_nlp

    backbone = keras_nlp.models.BertBackbone(
        vocabulary_size=len(SUBWORDS),
        num_layers=2,
        num_heads=2,
        hidden_dim=16,
        intermediate_dim=24,
        dropout=0.2,
        max_sequence_length=64,
    )
    rng = np.random.default_rng(1)
    backbone.set_weights([w + 0.3 * rng.standard_normal(w.shape) for w in backbone.get_weights()])
    return backbone
