import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import make_sentences, make_vocabulary, small
from tests.quick_params import quick_params
from uanet_tf.config import Config
from uanet_tf.data.batching import BatchBuilder, encode_corpus
from uanet_tf.models.build import make_tagger
from uanet_tf.ops.graphs import graph_function
from uanet_tf.registry import DECODERS
from uanet_tf.training.optimizers import (
    AVERAGE_EVERY,
    LazyAdamW,
    WarmupLinear,
    WeightAverage,
    make_optimizer,
)
from uanet_tf.training.trainer import Trainer

STEPS = 5


def table(rows=6, width=3):
    return tf.Variable(np.random.default_rng(0).normal(size=(rows, width)).astype("f"))


def gradients(rows=6, width=3):
    random = np.random.default_rng(1)
    return [random.normal(size=(rows, width)).astype("f") for _ in range(STEPS)]


def train(optimizer, given, rows=None):
    """The table after a few steps; ``rows``: sparse gradients with these rows only."""
    variable = table()
    optimizer.build([variable])
    for gradient in given:
        value = tf.constant(gradient)
        if rows is not None:
            value = tf.IndexedSlices(tf.gather(value, rows), tf.constant(rows), tf.shape(variable))
        optimizer.apply_gradients([(value, variable)])
    return variable.numpy()


def test_dense_equals_keras_adam():
    expected = train(tf.keras.optimizers.Adam(0.05), gradients())
    np.testing.assert_allclose(train(LazyAdamW(0.05), gradients()), expected, rtol=1e-5, atol=1e-6)


def test_decoupled_decay_equals_keras_adamw():
    expected = train(tf.keras.optimizers.AdamW(0.05, weight_decay=0.1), gradients())
    found = train(LazyAdamW(0.05, decoupled_decay=0.1), gradients())
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_sparse_equals_dense_where_all_rows_are_used(decay):
    """But for epsilon and the order of decay and update, both too small to be seen here."""
    dense = train(LazyAdamW(0.01, decoupled_decay=decay), gradients())
    order = [3, 0, 5, 1, 2, 4]
    sparse = train(LazyAdamW(0.01, decoupled_decay=decay), gradients(), rows=order)
    np.testing.assert_allclose(sparse, dense, rtol=1e-4, atol=1e-4)
    if not decay:
        np.testing.assert_allclose(sparse, dense, rtol=1e-5, atol=1e-6)


def test_unused_rows_are_left_alone():
    optimizer = LazyAdamW(0.05, decoupled_decay=0.1)
    after = train(optimizer, gradients(), rows=[1, 4])
    before = table().numpy()
    unused = [0, 2, 3, 5]
    np.testing.assert_array_equal(after[unused], before[unused])
    assert np.all(after[[1, 4]] != before[[1, 4]])
    moments = [v for v in optimizer.variables if v.shape == before.shape]
    assert len(moments) == 2
    for moment in moments:
        assert not np.any(moment.numpy()[unused])
        assert np.all(moment.numpy()[[1, 4]] != 0)


def test_schedules_are_followed():
    schedule = tf.keras.optimizers.schedules.PiecewiseConstantDecay([0], [0.05, 0.0])
    only_first = train(LazyAdamW(0.05), gradients()[:1])
    np.testing.assert_allclose(train(LazyAdamW(schedule), gradients()), only_first, rtol=1e-6)


TRANSFORMER = {"representation": "transformer", "encoder": "none", "decoder": "softmax"}
LIGHT = {"representation": "words", "encoder": "none"}
SYSTEMS = {
    "uanet": LIGHT,
    "softmax": LIGHT | {"drafter_optimizer": "sgd"},
    "crf": LIGHT | {"drafter_optimizer": "adadelta"},
    "lan": LIGHT,
    "seq2seq": LIGHT,
    "seq2biseq": LIGHT | {"decoder_optimizers": 2},
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
    step = graph_function()(trainer.step)
    for _ in range(2):
        step(*batch)
    return before, [weight.numpy() for weight in trainer.tagger.trainable_variables]


@pytest.mark.parametrize("decoder", quick_params(DECODERS, ["uanet", "crf"]))
def test_compiled_updates_equal_others(decoder):
    check({"decoder": decoder, **SYSTEMS[decoder]})


@pytest.mark.process
def test_compiled_updates_of_an_encoder_equal_others():
    check({**TRANSFORMER, "pretrained_weight_decay": 0.1})


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
        for group in ("draft", "forward", "refined", "pretrained"):
            assert not make_optimizer(group, config, 10).jit_compile


def rates(schedule, steps):
    return [float(schedule(tf.constant(step, tf.int64))) for step in steps]


def test_inverse_time_is_constant_within_an_epoch():
    config = Config().replace(drafter_learning_rate=0.015, drafter_decay=0.05).training
    schedule = make_optimizer("draft", config, steps_per_epoch=10)._learning_rate
    np.testing.assert_allclose(
        rates(schedule, [0, 9, 10, 19, 20, 990]),
        [0.015, 0.015, 0.015 / 1.05, 0.015 / 1.05, 0.015 / 1.1, 0.015 / (1 + 0.05 * 99)],
        rtol=1e-6,
    )


def test_warm_up_then_linear_to_the_end():
    schedule = WarmupLinear(0.1, total_steps=100, warmup=0.1)
    np.testing.assert_allclose(
        rates(schedule, [0, 4, 9, 54, 98, 99, 150]),
        [0.01, 0.05, 0.1, 0.05, 0.1 / 90, 0.0, 0.0],
        rtol=1e-5,
        atol=1e-8,
    )


def test_no_warm_up():
    assert rates(WarmupLinear(1.0, total_steps=5, warmup=0.0), [0, 4, 9]) == [1.0, 0.0, 0.0]


def schedule_of(group, **settings):
    optimizer = make_optimizer(group, Config().replace(epochs=4, **settings).training, 5)
    return type(optimizer._learning_rate), vars(optimizer._learning_rate)


def test_settings_choose_the_schedule():
    decay = {"initial_learning_rate": 0.015, "decay_rate": 0.05, "decay_steps": 5}
    decay |= {"staircase": True, "name": None}
    inverse_time = tf.keras.optimizers.schedules.InverseTimeDecay
    assert schedule_of("draft") == schedule_of("forward") == (inverse_time, decay)
    linear = {"total_steps": 20, "warmup": 0.2}
    for group, peak in (("draft", 0.015), ("refined", 1e-4), ("pretrained", 3e-5)):
        found = schedule_of(group, drafter_schedule="linear", warmup=0.2)
        assert found == (WarmupLinear, {"peak": peak, **linear})


def test_follows_the_weights():
    weight = tf.Variable([1.0, 2.0])
    average = WeightAverage([weight], decay=0.9)
    expected = weight.numpy()
    for count in range(1, 30):
        weight.assign_add([1.0, -0.5])
        average.update()
        decay = min(0.9**AVERAGE_EVERY, (1 + count) / (10 + count))
        expected = decay * expected + (1 - decay) * weight.numpy()
    np.testing.assert_allclose(average.averages[0].numpy(), expected, rtol=1e-5)


def test_soon_forgets_the_start():
    weight = tf.Variable(1000.0)
    average = WeightAverage([weight], decay=0.9999)
    weight.assign(1.0)
    for _ in range(10):
        average.update()
    assert average.averages[0].numpy() < 2.0


def test_swap_twice_is_nothing():
    weights = [tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])]
    average = WeightAverage(weights, decay=0.5)
    weights[0].assign([5.0, 6.0])
    average.swap()
    assert weights[0].numpy().tolist() == [1.0, 2.0]
    assert average.averages[0].numpy().tolist() == [5.0, 6.0]
    average.swap()
    assert weights[0].numpy().tolist() == [5.0, 6.0]
    assert average.averages[0].numpy().tolist() == [1.0, 2.0]


def test_is_saved_and_restored(tmp_path):
    weight = tf.Variable([1.0])
    average = WeightAverage([weight], decay=0.5)
    weight.assign([9.0])
    average.update()
    kept = average.averages[0].numpy()
    path = tf.train.Checkpoint(average=average).save(str(tmp_path / "state"))

    other = WeightAverage([tf.Variable([0.0])], decay=0.5)
    tf.train.Checkpoint(average=other).restore(path).assert_existing_objects_matched()
    np.testing.assert_array_equal(other.averages[0].numpy(), kept)
    assert int(other.updates) == 1
