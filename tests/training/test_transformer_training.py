"""A pretrained encoder in training: its optimizer, frozen or not, stopped and started again."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import make_sentences, make_vocabulary, small
from tests.tiny_encoder import encoders_of_all_types, tiny_encoder
from tests.training.killing import Moment, fit_with_copies
from tests.training.tiny_run import assert_same_weights, metrics, timeless, tiny_config
from uanet_tf.config import Config
from uanet_tf.data.batching import BatchBuilder, encode_corpus
from uanet_tf.models.build import make_tagger
from uanet_tf.training import fit, saved_state
from uanet_tf.training.trainer import Trainer

TRANSFORMER = {
    "representation": "transformer",
    "refiner_embeddings": "shared",
    "encoder": "none",
    "output_dropout": 0.2,
}


def make_trainer(**settings):
    tf.keras.utils.set_random_seed(6)
    sentences = make_sentences("IOB2", 4)
    config = small(Config().replace(**TRANSFORMER)).replace(epochs=2, **settings)
    tagger = make_tagger(config, make_vocabulary(sentences, "IOB2"))
    corpus = encode_corpus(sentences, tagger.vocabulary, tagger.lookup)
    batch = BatchBuilder(corpus)(tf.range(len(sentences), dtype=tf.int64))
    trainer = Trainer(tagger, config.training, steps_per_epoch=10, num_tokens=9, dropout_rate=0.1)
    return trainer, batch


def encoder_weights(trainer):
    return {w.name: w.numpy() for w in trainer.tagger.drafter.representation.transformer.weights}


def test_warm_up_and_decay_of_its_own():
    """20 steps: up to the peak over the first half, down to 0 over the second."""
    trainer, batch = make_trainer(pretrained_learning_rate=0.01, warmup=0.5)
    optimizer = trainer.optimizers["pretrained"]
    rates = []
    for _ in range(3):
        trainer.step(*batch)
        rates.append(float(optimizer.learning_rate))  # of the step that was made
    np.testing.assert_allclose(rates, [0.001, 0.002, 0.003], rtol=1e-5)
    optimizer.iterations.assign(19)
    before = encoder_weights(trainer)
    trainer.step(*batch)
    assert float(optimizer.learning_rate) == 0.0
    for name, weight in encoder_weights(trainer).items():
        np.testing.assert_array_equal(weight, before[name])


def test_weight_decay_spares_biases_and_normalisations():
    """With the gradient's part of the update known, what is left is the decay."""
    settings = {"pretrained_learning_rate": 0.01, "warmup": 0.0, "clip_norm": 0.0}
    plain, batch = make_trainer(pretrained_weight_decay=0.0, **settings)
    decayed, _ = make_trainer(pretrained_weight_decay=0.5, **settings)
    before = encoder_weights(plain)
    for trainer in (plain, decayed):
        trainer.step(*batch)
    without, with_decay = encoder_weights(plain), encoder_weights(decayed)
    shrunk = set()
    for name, start in before.items():
        difference = without[name] - with_decay[name]
        if np.abs(difference).max() > 1e-6:
            shrunk.add(name)
            if "embeddings:0" not in name:  # of tables, the rows in use alone
                np.testing.assert_allclose(difference, 0.005 * start, rtol=0.02, atol=1e-5)
    assert shrunk == {n for n in before if "kernel" in n or "embeddings:0" in n}


def test_a_frozen_encoder_stays_as_it_was():
    trainer, batch = make_trainer(pretrained_learning_rate=0.0)
    before, kernel = encoder_weights(trainer), trainer.tagger.drafter.decoder.kernel.numpy()
    for _ in range(2):
        trainer.step(*batch)
    for name, weight in encoder_weights(trainer).items():
        np.testing.assert_array_equal(weight, before[name])
    assert (trainer.tagger.drafter.decoder.kernel.numpy() != kernel).any()
    assert "pretrained" not in trainer.optimizers


def test_frozen_layers_stay_as_they_are():
    """Decay of weights leaves them alone too; the other layers learn, at the encoder's rate."""
    trainer, batch = make_trainer(freeze_layers=1, pretrained_weight_decay=0.1)
    before = encoder_weights(trainer)
    for _ in range(3):
        trainer.step(*batch)
    changed = {n for n, w in encoder_weights(trainer).items() if (w != before[n]).any()}
    assert changed == {name for name in before if "layer_1" in name}


def test_the_l2_term_leaves_the_encoder_alone():
    trainer, _ = make_trainer(decoder="softmax")
    expected = sum(np.square(w).sum() for w in trainer.tagger.drafter.decoder.get_weights())
    np.testing.assert_allclose(trainer._squared_weights(), expected, rtol=1e-5)


@pytest.fixture(scope="module")
def settings():
    return {
        "representation": "transformer",
        "encoder": "none",
        "decoder": "softmax",
        "output_dropout": 0.2,
        "pretrained": tiny_encoder(),
        "pretrained_learning_rate": 0.003,
        "num_samples": 2,
        "average_decay": 0.9,
    }


@pytest.mark.process
@pytest.mark.parametrize("kind", ["", "deberta-v2", "modernbert"])
def test_a_killed_run_ends_as_one_that_was_not(corpus, tmp_path, settings, kind):
    """With a part of the encoder frozen, or none."""
    if kind:
        of_kind = {"pretrained": str(encoders_of_all_types() / kind), "freeze_layers": 1}
        settings = {**settings, **of_kind, "subword_pooling": "mean"}
    config = tiny_config(corpus, **settings, save_seconds=0)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    fit_with_copies(config, whole, {broken: Moment(saved_state.Progress, "advance", 7)})
    fit.fit(config, broken)
    assert_same_weights(whole, broken)
    assert timeless(metrics(whole)) == timeless(metrics(broken))
