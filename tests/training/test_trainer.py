"""The objective of a step, Eq. 9 and 10, against NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.model_contract import make_sentences, make_vocabulary, small
from uanet_tf.config import Config
from uanet_tf.data.batching import BatchBuilder
from uanet_tf.data.encoded_corpus import encode_corpus
from uanet_tf.models.build import make_tagger
from uanet_tf.ops.dropout import make_seed
from uanet_tf.training.trainer import Trainer

RATE = 0.25


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_one_step_of_gradient_descent(reduction):
    """w' = w - lr d(L1 + tokens (1 - r) / (2N) ||theta||^2) / dw, from the tagger's own loss."""
    settings = {"drafter_optimizer": "sgd", "drafter_learning_rate": 0.5, "drafter_momentum": 0.0}
    settings |= {"drafter_decay": 0.0, "l2": 40.0, "clip_norm": 0.0, "loss_reduction": reduction}
    config = small(Config()).replace(**settings)
    sentences = make_sentences("IOB2", 4)
    tagger = make_tagger(config, make_vocabulary(sentences, "IOB2"))
    corpus = encode_corpus(sentences, tagger.vocabulary, tagger.lookup)
    batch = BatchBuilder(corpus)(tf.range(len(sentences), dtype=tf.int64))
    tokens = len(corpus.form_index)
    trainer = Trainer(
        tagger, config.training, steps_per_epoch=10, num_tokens=tokens, dropout_rate=RATE
    )
    kernel, table = tagger.decoder.kernel, tagger.representation.embeddings
    before = [kernel.numpy(), table.numpy()]
    seed = make_seed(config.training.seed, 0)
    with tf.GradientTape() as tape:
        loss = tagger.losses(*batch, seed)["draft"]
    slopes = [tf.convert_to_tensor(g).numpy() for g in tape.gradient(loss, [kernel, table])]
    # tokens / N = 1 here; embedding tables have no part in ||theta||^2.
    slopes[0] = slopes[0] + 40.0 * (1 - RATE) / (2 * tokens) * tokens * 2 * before[0]
    scale = 0.5 / (tokens if reduction == "mean" else 1)

    trainer.train_step(batch)

    for variable, start, slope in zip((kernel, table), before, slopes, strict=True):
        np.testing.assert_allclose(variable.numpy(), start - scale * slope, rtol=1e-4, atol=1e-4)
    assert int(trainer.global_step) == 1
