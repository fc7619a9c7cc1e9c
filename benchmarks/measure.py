"""Timing: warm-up, repeats, median and spread, and the machine's own rate."""

import dataclasses
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping

import tensorflow as tf

from uanet_tf.ops.graphs import graph_function

MATMUL_SIZE = 2048


@dataclasses.dataclass(frozen=True)
class Timing:
    """Seconds of repeated runs of one thing."""

    median: float
    fastest: float
    slowest: float

    def rate(self, amount: float) -> str:
        """``amount`` per second, at the median, with the range over the repeats."""
        low, high = amount / self.slowest, amount / self.fastest
        return f"{amount / self.median:,.0f} ({low:,.0f} to {high:,.0f})"


def timed(run: Callable[[], object], *, repeats: int = 5, warm_up: int = 1) -> Timing:
    """Times ``run`` several times; the first runs, which build graphs, do not count."""
    for _ in range(warm_up):
        run()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return Timing(statistics.median(seconds), min(seconds), max(seconds))


def interleaved(runs: Mapping[str, Callable[[], object]], *, repeats: int = 5) -> dict[str, Timing]:
    """Times several things in turns, so that their ratios compare runs under the same load."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(repeats):
        for name, run in runs.items():
            seconds[name].append(timed(run, repeats=1, warm_up=0).median)
    return {
        name: Timing(statistics.median(row), min(row), max(row)) for name, row in seconds.items()
    }


def matmul_rate() -> float:
    """FLOP per second of a large float32 matrix product: the most that this machine reaches."""
    matrix = tf.random.stateless_normal([MATMUL_SIZE, MATMUL_SIZE], [1, 2])
    multiply = graph_function()(lambda: tf.reduce_sum(tf.matmul(matrix, matrix)))
    timing = timed(lambda: multiply().numpy(), repeats=7, warm_up=2)
    return 2 * MATMUL_SIZE**3 / timing.median


def device_name() -> str:
    """The device that computes: a GPU if there is one, else the processor."""
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        return tf.config.experimental.get_device_details(gpus[0]).get("device_name", "GPU")
    return f"{_processor()}, {os.cpu_count()} cores"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
