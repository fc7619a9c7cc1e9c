"""The plain tagger inside a model: the baseline for sampling and refinement."""

import contextlib
import math
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def one_pass(model: Any) -> Iterator[None]:
    """Within this context the model tags in one pass without dropout and without refinement.

    So its answers are a softmax tagger's own probabilities and their entropy.
    """
    gate, num_samples, sampling = model.gate, model.num_samples, model.sampling
    calibrated = model.calibrated
    gamma = None if gate is None else gate.gamma.numpy()
    model.num_samples, model.sampling, model.calibrated = 0, "exact", False
    if gate is not None:
        # Not by ``threshold``, which has no infinity.
        gate.gamma.assign(math.inf)
    try:
        yield
    finally:
        model.num_samples, model.sampling, model.calibrated = num_samples, sampling, calibrated
        if gate is not None:
            gate.gamma.assign(gamma)


@contextlib.contextmanager
def other_sampling(model: Any) -> Iterator[str]:
    """Within this context a model with a trained head samples the other way, exact or distilled."""
    before = model.sampling
    model.sampling = "exact" if before == "distilled" else "distilled"
    try:
        yield model.sampling
    finally:
        model.sampling = before
