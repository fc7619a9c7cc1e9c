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
    gate, num_samples = model.gate, model.num_samples
    gamma = None if gate is None else gate.gamma.numpy()
    model.num_samples = 0
    if gate is not None:
        # Not by ``threshold``, which takes the limits of adaptive sampling along.
        gate.gamma.assign(math.inf)
    try:
        yield
    finally:
        model.num_samples = num_samples
        if gate is not None:
            gate.gamma.assign(gamma)
