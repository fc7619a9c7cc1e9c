"""A cell in both directions over one unpadded sentence, in plain NumPy."""

import numpy as np

from tests.ops.recurrences import LOOPS


def loop_both_ways(weights, inputs, masks=None):
    """States [T, H] of each direction, {way: states}, from inputs [T, D].

    Args:
      weights: a Bidirectional.
      inputs: [T, D].
      masks: {way: [H]} on the previous state.
    """
    loop = LOOPS[weights.cell]
    found = {}
    for way in ("forward", "backward"):
        projected = inputs @ weights.kernels[way].numpy() + weights.biases[way].numpy()
        mask = (masks or {}).get(way)
        mask = None if mask is None else np.asarray(mask)[None]
        kernel = weights.recurrent_kernels[way].numpy()
        found[way] = loop(projected[:, None], kernel, mask, way == "backward")[:, 0]
    return found
