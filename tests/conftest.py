"""Set-up shared by all tests: quiet logs, fixed seeds, workers and what each of them may use.

TensorFlow is imported where it is used: the process that only hands tests to workers needs none.
"""

import ctypes
import gc
import logging
import os
import random
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import uanet_tf  # noqa: F401 - chooses Keras before TensorFlow is imported

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
# Read by TensorFlow and NumPy when they are imported, here and in the processes that tests start.
for _name in ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS"):
    if "PYTEST_XDIST_WORKER" in os.environ:  # a worker inherits what was set for its starter
        os.environ[_name] = str(max(1, min(2, CORES // WORKERS)))
    else:
        os.environ.setdefault(_name, str(min(2, CORES)))

pytest.register_assert_rewrite("tests.layer_contract")
logging.getLogger("tensorflow").setLevel("ERROR")

# ------------------------------------------------------------------- distribution over workers

# What a worker needs at most, with the processes that its tests start.
WORKER_BYTES = 3 * 2**30
MOST_WORKERS = 8
# What the models and graphs of finished files may hold.
MOST_LEFT_BYTES = 2**29
# Tests that share costly fixtures stay in one worker: all that begin alike. Else a file does.
TOGETHER = (
    "tests/benchmarks/",
    "tests/exporting/test_",
    "tests/exporting/tflite/",
    r"tests/models/test_contract\.py::test_contract\[\w+",
)
# Begun first, so that no worker is left alone with one of them in the end.
LONGEST = (
    "tests/exporting/tflite/",
    "tests/exporting/",
    "tests/spark/",
    "tests/training/test_resume.py",
    "tests/training/test_replicas.py",
    "tests/training/test_fit.py",
    "tests/models/",
    "tests/benchmarks/",
    "tests/training/",
    "tests/commands/",
    "tests/test_package.py",
    "tests/chaos/",
    "tests/test_extending.py",
    "tests/notebooks/",
    "tests/serving/",
)


def available_memory() -> int:
    """Bytes that are free for use; where the system does not say, enough for all workers."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return MOST_WORKERS * WORKER_BYTES
    return 1024 * int(re.search(r"MemAvailable:\s*(\d+)", text).group(1))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """``-n auto``: a worker for each core, as far as the memory goes."""
    return max(1, min(CORES, MOST_WORKERS, available_memory() // WORKER_BYTES))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Whole files, or all tests of one entry of ``TOGETHER``, go to a worker, in their order."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            found = (re.match(pattern, nodeid) for pattern in TOGETHER)
            return next((match.group() for match in found if match), nodeid.split("::")[0])

    config.option.loadscopereorder = False
    return Scheduling(config, log)


def pytest_collection_modifyitems(items) -> None:
    def place(item):
        ranks = (k for k, start in enumerate(LONGEST) if item.nodeid.startswith(start))
        return next(ranks, len(LONGEST))

    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=place)


# ------------------------------------------------------------------------- around each test


def pytest_collection_finish() -> None:
    """Python's collector looks at less, and less often: a tenth of the processor time.

    What the imports made stays, and a graph is made of many objects that live long.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)


@pytest.fixture(scope="module", autouse=True)
def fixed_global_seed(kernels_stay):
    """Gives every file the same random numbers, alone or among others.

    And a new cache of kernels: one that draws would go on where an earlier file left it.
    """
    import tensorflow as tf
    from tensorflow.python.eager import context

    tf.keras.utils.set_random_seed(17)
    context.context().clear_kernel_cache()


@pytest.fixture(autouse=True)
def fixed_seeds(fixed_global_seed):
    """The same for every test, with the generators from which Keras draws initial weights."""
    import tensorflow as tf

    random.seed(17)
    np.random.seed(17)
    backend = sys.modules[tf.keras.Model.__module__.split(".")[0] + ".src.backend"]
    backend._SEED_GENERATOR.generator = random.Random(17)


@pytest.fixture(scope="session")
def kernels_stay():
    """Setting TensorFlow's seed does not empty its cache of kernels, as it does elsewhere.

    Each graph that a test shares with others would be made ready again, for seconds.
    """
    from tensorflow.python.eager import context

    def set_seed(self, seed):
        self._seed, self._rng = seed, random.Random(seed)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(context.Context, "_set_global_seed", set_seed)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_stacks_in_graphs():
    """The operations of a graph do not keep the Python calls that made them.

    Below pytest and Keras these are some hundred frames for each operation: a quarter of the
    processor time of a test that traces. TensorFlow shows them where an operation fails.
    """
    from tensorflow.python.framework import ops
    from tensorflow.python.util import tf_stack

    stack = tf_stack.extract_stack()
    without = types.SimpleNamespace(**vars(tf_stack))
    without.extract_stack = lambda stacklevel=1: stack
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ops, "tf_stack", without)
        yield


@pytest.fixture(scope="session", autouse=True)
def graphs_as_they_are(pytestconfig):
    """Nothing rewrites them in `make test`: neither TensorFlow's optimizer of graphs nor AutoGraph.

    Together an eighth of the processor time. Both work in `make test-all`, and in the processes
    that tests start.
    """
    import tensorflow as tf
    from tensorflow.python.autograph.core import config

    if "not process" not in pytestconfig.option.markexpr:
        yield
        return
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    with pytest.MonkeyPatch.context() as patched:
        rules = (config.DoNotConvert("uanet_tf"), *config.CONVERSION_RULES)
        patched.setattr(config, "CONVERSION_RULES", rules)
        yield


def process_bytes() -> int:
    """Resident memory of this process; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(scope="session")
def least_memory():
    """``[bytes]`` of this process after what was last given back."""
    return [process_bytes()]


@pytest.fixture(scope="module", autouse=True)
def memory_goes_back(least_memory):
    """After a file that made much of it, the memory of models and graphs goes back to the system.

    TensorFlow registers the function of every custom gradient for good, and with that of a loaded
    SavedModel its graph. Python's collector looks at all objects, for half a second.
    """
    yield
    if 0 < process_bytes() < least_memory[0] + MOST_LEFT_BYTES:
        return
    import tensorflow as tf
    from tensorflow.python.framework import ops

    tf.keras.backend.clear_session()
    registered = ops.gradient_registry._registry
    for name in [name for name in registered if name.startswith("CustomGradient-")]:
        del registered[name]
    gc.collect()
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)
    least_memory[0] = process_bytes()


@pytest.fixture
def full_float32():
    """TF32 is allowed, as TensorFlow begins; whether it is no longer."""
    import tensorflow as tf

    now = tf.config.experimental.tensor_float_32_execution_enabled
    before = now()
    tf.config.experimental.enable_tensor_float_32_execution(True)
    yield lambda: not now()
    tf.config.experimental.enable_tensor_float_32_execution(before)
