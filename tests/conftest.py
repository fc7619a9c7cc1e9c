"""Set-up shared by all tests: quiet logs, few threads, fixed seeds."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")

import pytest
import tensorflow as tf

pytest.register_assert_rewrite("tests.layer_contract")

tf.get_logger().setLevel("ERROR")
tf.config.threading.set_intra_op_parallelism_threads(2)
tf.config.threading.set_inter_op_parallelism_threads(2)


@pytest.fixture(autouse=True)
def fixed_seeds():
    """Gives every test the same random numbers, alone or among others."""
    tf.keras.utils.set_random_seed(17)
