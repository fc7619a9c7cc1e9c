"""The objective of a step, Eq. 9 and 10, against NumPy."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework import kernels

from tests.models.model_contract import make_sentences, make_vocabulary, small
from tests.quick_params import quick_params
from uanet_tf.config import Config
from uanet_tf.data.batching import BatchBuilder, encode_corpus
from uanet_tf.models.build import make_tagger
from uanet_tf.ops.dropout import make_seed
from uanet_tf.ops.graphs import graph_function
from uanet_tf.registry import DECODERS
from uanet_tf.training import trainer as trainer_module
from uanet_tf.training.trainer import Trainer

RATE = 0.25


PLAIN = {
    "representation": "words",
    "encoder": "none",
    "drafter_optimizer": "sgd",
    "drafter_learning_rate": 0.5,
    "drafter_momentum": 0.0,
    "drafter_decay": 0.0,
    "clip_norm": 0.0,
}


def make_trainer(**settings):
    """A trainer of plain gradient descent, its batch and the number of tokens in it."""
    config = small(Config()).replace(**PLAIN | settings)
    sentences = make_sentences("IOB2", 4)
    tagger = make_tagger(config, make_vocabulary(sentences, "IOB2"))
    corpus = encode_corpus(sentences, tagger.vocabulary, tagger.lookup)
    batch = BatchBuilder(corpus)(tf.range(len(sentences), dtype=tf.int64))
    tokens = len(corpus.form_index)
    trainer = Trainer(
        tagger, config.training, steps_per_epoch=10, num_tokens=tokens, dropout_rate=RATE
    )
    return trainer, batch, tokens


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_one_step_of_gradient_descent(reduction):
    """w' = w - lr d(L1 + tokens (1 - r) / (2N) ||theta||^2) / dw, from the tagger's own loss."""
    trainer, batch, tokens = make_trainer(l2=40.0, loss_reduction=reduction)
    tagger = trainer.tagger
    kernel, table = tagger.drafter.decoder.kernel, tagger.drafter.representation.embeddings
    before = [kernel.numpy(), table.numpy()]
    seed = make_seed(trainer.config.seed, 0)
    with tf.GradientTape() as tape:
        loss = tagger.loss_terms(*batch, seed)["draft"]
    slopes = [tf.convert_to_tensor(g).numpy() for g in tape.gradient(loss, [kernel, table])]
    # tokens / N = 1 here; embedding tables have no part in ||theta||^2.
    slopes[0] = slopes[0] + 40.0 * (1 - RATE) / (2 * tokens) * tokens * 2 * before[0]
    scale = 0.5 / (tokens if reduction == "mean" else 1)

    trainer.step(*batch)

    for variable, start, slope in zip((kernel, table), before, slopes, strict=True):
        np.testing.assert_allclose(variable.numpy(), start - scale * slope, rtol=1e-4, atol=1e-4)
    assert int(trainer.global_step) == 1


SEQ2BISEQ = {"decoder": "seq2biseq", "decoder_optimizers": 2, "loss_reduction": "sum", "l2": 0.0}


def test_two_optimizers_each_take_a_step_of_their_own_loss():
    """Of what both share, both: w' = w - lr (dL_backward / dw + dL_forward / dw)."""
    trainer, batch, _ = make_trainer(**SEQ2BISEQ)
    tagger = trainer.tagger
    decoder = tagger.drafter.decoder
    variables = {
        "shared": tagger.drafter.representation.embeddings,
        "labels": decoder.label_embedding,
        "backward": decoder.recurrent_kernels["backward"],
        "forward": decoder.recurrent_kernels["forward"],
    }
    before = {name: variable.numpy() for name, variable in variables.items()}
    with tf.GradientTape(persistent=True) as tape:
        losses = tagger.loss_terms(*batch, make_seed(trainer.config.seed, 0))
    assert set(losses) == set(trainer.optimizers) == {"draft", "forward"}

    def slope(loss, name):
        gradient = tape.gradient(losses[loss], variables[name])
        return tf.convert_to_tensor(gradient).numpy()

    graph_function()(trainer.step)(*batch)

    slopes = {name: slope("draft", name) for name in ("shared", "labels", "backward")}
    slopes["forward"] = slope("forward", "forward")
    for name in ("shared", "labels"):
        assert np.abs(slope("forward", name)).max() > 0
        slopes[name] = slopes[name] + slope("forward", name)
    # What the forward direction reads of the backward one trains the backward one not.
    assert np.abs(slope("forward", "backward")).max() > 0
    for name, variable in variables.items():
        expected = before[name] - 0.5 * slopes[name]
        np.testing.assert_allclose(variable.numpy(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("size", [0.1, 10.0, np.inf])
def test_clipping_is_that_of_tensorflow(size):
    dense = tf.constant([[size, 1.0], [0.5, -2.0]])
    rows = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]), tf.constant([5, 2]))
    expected, _ = tf.clip_by_global_norm([dense, rows], 4.0)
    found = trainer_module._clip([dense, rows], 4.0)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6)
    np.testing.assert_allclose(found[1].values, expected[1].values, rtol=1e-6)
    np.testing.assert_array_equal(found[1].indices, [3])


def functions_in_loops(graph):
    """The functions that loops of a graph run, and those called there."""
    by_name = {function.signature.name: function for function in graph.library.function}
    nodes = [*graph.node, *(node for f in graph.library.function for node in f.node_def)]
    loops = [
        node.attr[part].func.name
        for node in nodes
        if node.op in ("While", "StatelessWhile")
        for part in ("body", "cond")
    ]
    found, todo = {}, loops
    while todo:
        if (name := todo.pop()) not in found:
            found[name] = by_name[name]
            values = [v for node in found[name].node_def for v in node.attr.values()]
            todo += [value.func.name for value in values if value.func.name]
    return found.values()


@pytest.mark.parametrize("decoder", quick_params(DECODERS, ["uanet", "crf"]))
def test_loops_of_a_step_stay_on_a_gpu(decoder):
    """An operation without a kernel there would copy from and to the card at each time step."""
    trainer, batch, _ = make_trainer(encoder="variational_bilstm", decoder=decoder)
    step = graph_function()(trainer.step).get_concrete_function(*batch)
    functions = functions_in_loops(step.graph.as_graph_def())
    used = {node.op for function in functions for node in function.node_def}
    assert "MatMul" in used
    kernels_of = {op: kernels.get_registered_kernels_for_op(op).kernel for op in used}
    devices = {op: {kernel.device_type for kernel in found} for op, found in kernels_of.items()}
    assert not {op for op, on in devices.items() if on.isdisjoint({"GPU", "DEFAULT"})}
