"""Which labels may follow one another in a tag scheme, as a table."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from uanet_tf.data.tag_schemes import is_valid_transition


class Transitions(NamedTuple):
    """What a tag scheme allows, for C labels, as booleans.

    Attributes:
      start: [C], whether a sentence may begin with the label.
      steps: [C, C], whether the second label may follow the first.
      end: [C], whether a sentence may end with the label.
    """

    start: np.ndarray
    steps: np.ndarray
    end: np.ndarray


def valid_transitions(names: Sequence[str], scheme: str) -> Transitions:
    """The table of the labels ``names`` in ``scheme``; see ``is_valid_transition``."""
    around = [*names, None]  # None: outside the sentence
    table = np.array([[is_valid_transition(one, two, scheme) for two in around] for one in around])
    return Transitions(table[-1, :-1], table[:-1, :-1], table[:-1, -1])
