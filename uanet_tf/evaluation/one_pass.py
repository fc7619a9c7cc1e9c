"""The plain tagger inside a model: the baseline for sampling and refinement."""

import contextlib
import math
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def one_pass(model: Any) -> Iterator[None]:
    """Within, the model tags in one pass without dropout and without refinement.

    So its answers are a softmax tagger's own probabilities and their entropy.
    """
    gate, num_samples, sampling = model.gate, model.num_samples, model.sampling
    gamma = None if gate is None else gate.gamma.numpy()
    model.num_samples, model.sampling = 0, "exact"
    if gate is not None:
        # Not by ``threshold``, which has no infinity.
        gate.gamma.assign(math.inf)
    try:
        yield
    finally:
        model.num_samples, model.sampling = num_samples, sampling
        if gate is not None:
            gate.gamma.assign(gamma)
