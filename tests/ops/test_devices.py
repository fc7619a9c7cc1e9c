import types

import pytest
import tensorflow as tf

from uanet_tf.errors import InputError
from uanet_tf.ops import devices


@pytest.fixture
def gpus(monkeypatch):
    """Two GPUs, of which TensorFlow's configuration is seen."""
    config = types.SimpleNamespace(divided=None, starts=True, growing=[])
    found = ["first", "second"]

    def set_growth(gpu, wanted):
        if not config.starts:
            raise RuntimeError("Physical devices cannot be modified after being initialized")
        assert wanted
        config.growing.append(gpu)

    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind=None: found)
    monkeypatch.setattr(
        tf.config, "get_logical_device_configuration", lambda gpu: config.divided, raising=False
    )
    monkeypatch.setattr(tf.config.experimental, "set_memory_growth", set_growth)
    details = {"first": {"device_name": "NVIDIA H100"}, "second": {}}
    monkeypatch.setattr(tf.config.experimental, "get_device_details", details.get)
    return config


def test_memory_grows_on_each_gpu(gpus):
    devices.share_gpus()
    assert gpus.growing == ["first", "second"]


def test_who_has_divided_the_memory_keeps_it_so(gpus):
    gpus.divided = ["1 GiB"]
    devices.share_gpus()
    assert not gpus.growing


def test_too_late_is_no_error(gpus):
    gpus.starts = False
    devices.share_gpus()
    assert not gpus.growing


def test_the_gpu_that_computes_is_named(gpus):
    assert devices.gpu_text() == "GPU 0 (NVIDIA H100)"
    assert devices.gpu_text(every=True) == "GPU 0 (NVIDIA H100), GPU 1 (unknown model)"


def test_without_a_gpu(monkeypatch):
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind=None: [])
    devices.share_gpus()
    assert devices.gpu_text(every=True) is None


@pytest.mark.parametrize("allowed", [False, True])
def test_tensor_float_32_is_as_before_afterwards(allowed):
    now = tf.config.experimental.tensor_float_32_execution_enabled
    before = now()
    with devices.tensor_float_32(allowed):
        assert now() == allowed
    assert now() == before


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (tf.errors.ResourceExhaustedError, "failed to allocate"),
        (tf.errors.InternalError, "Could not create handle: CUDNN_STATUS_ALLOC_FAILED"),
        (tf.errors.InternalError, "CUDA_ERROR_OUT_OF_MEMORY"),
        (tf.errors.UnknownError, "2 root error(s) found. OOM when allocating"),
    ],
)
def test_out_of_memory_is_one_sentence(kind, message):
    with pytest.raises(InputError, match=r"^lower it\.$"), devices.out_of_memory_as("lower it."):
        raise kind(None, None, message)


def test_another_error_of_tensorflow_is_no_lack_of_memory():
    with pytest.raises(tf.errors.InternalError), devices.out_of_memory_as("lower it."):
        raise tf.errors.InternalError(None, None, "no ROOM for a CUDNN_STATUS_BAD_PARAM")
