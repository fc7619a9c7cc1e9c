import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.config import Config
from uanet_tf.training.optimizers import (
    InverseTimeByEpoch,
    WarmupLinear,
    bert_schedule,
    drafter_schedule,
    refiner_schedule,
)


def rates(schedule, steps):
    return [float(schedule(tf.constant(step, tf.int64))) for step in steps]


def test_inverse_time_is_constant_within_an_epoch():
    schedule = InverseTimeByEpoch(0.015, 0.05, steps_per_epoch=10)
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


@pytest.mark.parametrize("schedule", [InverseTimeByEpoch(0.1, 0.2, 7), WarmupLinear(0.1, 70, 0.1)])
def test_comes_back_from_its_config(schedule):
    copy = tf.keras.saving.deserialize_keras_object(
        tf.keras.saving.serialize_keras_object(schedule)
    )
    assert type(copy) is type(schedule)
    assert rates(copy, range(0, 80, 9)) == rates(schedule, range(0, 80, 9))


def test_settings_choose_the_schedule():
    training = Config().training
    assert isinstance(drafter_schedule(training, 5), InverseTimeByEpoch)
    linear = Config().replace(drafter_schedule="linear", epochs=4).training
    assert drafter_schedule(linear, 5).get_config() == {
        "peak": 0.015,
        "total_steps": 20,
        "warmup": 0.1,
    }
    assert refiner_schedule(linear, 5).peak == 1e-4
    tuned = Config().replace(warmup=0.2, epochs=4).training
    assert bert_schedule(tuned, 5).get_config() == {
        "peak": 3e-5,
        "total_steps": 20,
        "warmup": 0.2,
    }
