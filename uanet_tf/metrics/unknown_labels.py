"""Labels of a file that a model cannot give."""

from collections import Counter
from collections.abc import Collection

from uanet_tf.metrics import scoring


def unknown_labels(gold: scoring.Labels, known: Collection[str], task: str) -> dict[str, int]:
    """Counts the gold labels that a model cannot give: its types, or for "pos" its labels."""
    if task == "ner":
        known_types = {label[2:] for label in known if label != "O"}
        counts = Counter(
            label for row in gold for label in row if label != "O" and label[2:] not in known_types
        )
    else:
        counts = Counter(label for row in gold for label in row if label not in known)
    return dict(counts.most_common())
