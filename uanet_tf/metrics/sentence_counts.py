"""Right, predicted and gold items of each sentence: what scores of samples of sentences need."""

import numpy as np

from uanet_lite import tag_schemes
from uanet_tf.metrics.scoring import Labels


def sentence_counts(gold: Labels, predicted: Labels, *, task: str) -> np.ndarray:
    """Counts of each of N sentences: [N, 3] of right, predicted and gold items.

    Args:
      gold: labels of the file, a sequence for each sentence, in any tag scheme.
      predicted: labels of the same tokens.
      task: "ner", items are entities; "pos", items are tokens.
    """
    counts = np.zeros([len(gold), 3], np.int64)
    for row, (true, given) in enumerate(zip(gold, predicted, strict=True)):
        if task == "pos":
            same = sum(a == b for a, b in zip(true, given, strict=True))
            counts[row] = same, len(given), len(true)
        else:
            # As in ``scoring``: letters are read by their role whatever the scheme.
            spans = [set(tag_schemes.decode_spans(x, tag_schemes.BIOES)) for x in (true, given)]
            counts[row] = len(spans[0] & spans[1]), len(spans[1]), len(spans[0])
    return counts


def f1_of_counts(counts: np.ndarray) -> np.ndarray:
    """F1, percent, of counts [..., 3]: right, predicted and gold; 0 without items."""
    items = counts[..., 1] + counts[..., 2]
    return 200.0 * counts[..., 0] / np.maximum(items, 1)
