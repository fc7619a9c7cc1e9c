"""What a process takes of a GPU, how exactly it computes there, and what is said of both."""

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from uanet_tf.errors import InputError

# What CUDA's libraries say of it; TensorFlow passes that on as an error of another class.
_NO_MEMORY = re.compile(r"_ALLOC_FAILED\b|out[ _]of[ _]memory|\bOOM\b", re.IGNORECASE)


def share_gpus() -> None:
    """Lets TensorFlow take a GPU's memory as it needs it, in place of all of it at once.

    Does nothing where TensorFlow runs already, or where somebody has divided a GPU's memory.
    """
    gpus = tf.config.list_physical_devices("GPU")
    if any(tf.config.get_logical_device_configuration(gpu) for gpu in gpus):
        return
    with contextlib.suppress(RuntimeError):  # it runs already
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)


def has_gpu() -> bool:
    """Whether TensorFlow sees a GPU."""
    return bool(tf.config.list_physical_devices("GPU"))


def by_device(on_processor: Callable[[], Any], on_gpu: Callable[[], Any]) -> Any:
    """What a graph computes where it runs, of equal values; it holds both where a GPU is visible.

    So a SavedModel that is written where a GPU is still runs where none is. Without a GPU, or
    outside a graph, it is what the processor computes.
    """
    if tf.executing_eagerly() or not has_gpu():
        return on_processor()
    return tf.__internal__.execute_fn_for_device({"CPU": on_processor, "GPU": on_gpu}, on_processor)


@contextlib.contextmanager
def tensor_float_32(allowed: bool) -> Iterator[None]:
    """Within this context a GPU may, or may not, round the factors of float32 products to TF32.

    With it uncertainties differ from those of a processor by far more than float32's rounding.
    """
    before = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(allowed)
    try:
        yield
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(before)


def gpu_text(*, every: bool = False) -> str | None:
    """The GPU that computes, or every one: "GPU 0 (NVIDIA H100 80GB HBM3)"; None without one."""
    gpus = tf.config.list_physical_devices("GPU")
    names = []
    for number, gpu in enumerate(gpus if every else gpus[:1]):
        name = tf.config.experimental.get_device_details(gpu).get("device_name", "unknown model")
        names.append(f"GPU {number} ({name})")
    return ", ".join(names) or None


def lacks_memory(error: tf.errors.OpError) -> bool:
    """Whether the error says that there is no memory for a tensor."""
    exhausted = isinstance(error, tf.errors.ResourceExhaustedError)
    return exhausted or bool(_NO_MEMORY.search(error.message or ""))


@contextlib.contextmanager
def out_of_memory_as(sentence: str) -> Iterator[None]:
    """Within this context a tensor without memory for it is an InputError that says what to do."""
    try:
        yield
    except tf.errors.OpError as error:
        if not lacks_memory(error):
            raise
        raise InputError(sentence) from error
