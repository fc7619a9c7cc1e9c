"""The plain tagger inside a model: what sampling and refinement are to be compared with."""

import contextlib
import math
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def one_pass(model: Any) -> Iterator[None]:
    """Within, the model tags in one pass without dropout and without refinement.

    So a softmax tagger's own probabilities and their entropy are what it answers with.
    """
    gamma, num_samples = model.gamma.numpy(), model.num_samples
    model.num_samples = 0
    # Not by ``threshold``, which takes the limits of adaptive sampling along.
    model.gamma.assign(math.inf)
    try:
        yield
    finally:
        model.num_samples = num_samples
        model.gamma.assign(gamma)
