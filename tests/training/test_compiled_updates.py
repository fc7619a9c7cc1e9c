"""Updates that XLA compiles, as Keras asks for where a GPU is, equal those that it does not."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import make_sentences, make_vocabulary, small
from uanet_tf.config import Config
from uanet_tf.data.batching import BatchBuilder, encode_corpus
from uanet_tf.models.build import make_tagger
from uanet_tf.ops.graphs import graph_function
from uanet_tf.registry import DECODERS
from uanet_tf.training import trainer as trainer_module
from uanet_tf.training.optimizers import LazyAdamW
from uanet_tf.training.trainer import Trainer

BERT = {"representation": "bert", "encoder": "none", "decoder": "softmax"}
SYSTEMS = {
    "uanet": {},
    "softmax": {"drafter_optimizer": "sgd"},
    "crf": {"drafter_optimizer": "adadelta"},
    "lan": {},
    "seq2seq": {},
    "seq2biseq": {"decoder_optimizers": 2},
}


def make_trainer(settings):
    tf.keras.utils.set_random_seed(3)
    config = small(Config().replace(**settings)).replace(**settings)
    sentences = make_sentences("IOB2", 4)
    tagger = make_tagger(config, make_vocabulary(sentences, "IOB2"))
    corpus = encode_corpus(sentences, tagger.vocabulary, tagger.lookup)
    batch = BatchBuilder(corpus)(tf.range(len(sentences), dtype=tf.int64))
    trainer = Trainer(
        tagger,
        config.training,
        steps_per_epoch=10,
        num_tokens=len(corpus.form_index),
        dropout_rate=0.1,
    )
    return trainer, batch


def after_two_steps(settings, *, compiled: bool):
    trainer, batch = make_trainer(settings)
    for optimizer in trainer.optimizers.values():
        optimizer.jit_compile = compiled
    before = [weight.numpy() for weight in trainer.tagger.trainable_variables]
    step = graph_function()(trainer.train_step)
    for _ in range(2):
        step(batch)
    return before, [weight.numpy() for weight in trainer.tagger.trainable_variables]


@pytest.mark.parametrize("decoder", DECODERS)
def test_compiled_updates_equal_others(decoder):
    check({"decoder": decoder, **SYSTEMS[decoder]})


def test_compiled_updates_of_bert_equal_others():
    check({**BERT, "bert_weight_decay": 0.1})


def check(settings):
    before, plain = after_two_steps(settings, compiled=False)
    same, compiled = after_two_steps(settings, compiled=True)
    for start, also, mine, other in zip(before, same, plain, compiled, strict=True):
        np.testing.assert_array_equal(start, also)
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)
    assert any(np.any(start != mine) for start, mine in zip(before, plain, strict=True))


@pytest.mark.parametrize("eager", [False, True])
def test_compiled_updates_of_rows(eager):
    """Two variables, several steps and other numbers of rows; nothing is kept between them."""
    tables = {}
    for compiled in (False, True):
        variables = [tf.Variable(tf.ones([6, 3])), tf.Variable(tf.ones([4, 3]))]
        optimizer = LazyAdamW(0.05, decoupled_decay=0.1)
        optimizer.build(variables)
        optimizer.jit_compile = compiled

        def step(rows, variables=variables, optimizer=optimizer):
            shape = tf.stack([tf.size(rows), 3])
            values = tf.cast(tf.reshape(tf.range(tf.size(rows) * 3), shape), tf.float32)
            gradients = [tf.IndexedSlices(values, rows, tf.shape(v)) for v in variables]
            optimizer.apply_gradients(zip(gradients, variables, strict=True))

        if not eager:
            step = graph_function([tf.TensorSpec([None], tf.int32)])(step)
        for rows in ([1, 3], [0], [3, 1]):
            step(tf.constant(rows))
            assert not optimizer._step.scalars
        tables[compiled] = [variable.numpy() for variable in variables]
    for mine, other in zip(tables[False], tables[True], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)
        assert np.any(mine != 1.0)


def test_no_update_is_compiled_where_a_gpu_is(monkeypatch):
    monkeypatch.setattr(
        tf.compat.v2.config, "list_physical_devices", lambda kind=None: ["a device"]
    )
    assert tf.keras.optimizers.SGD().jit_compile  # Keras' own choice there
    for name in ("adam", "sgd", "adadelta"):
        config = Config().replace(drafter_optimizer=name).training
        for make in trainer_module._OPTIMIZERS.values():
            assert not make(config, 10).jit_compile
