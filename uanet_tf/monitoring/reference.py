"""The development data as a monitor remembers it: quantiles, and how many sentences exceed them."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from uanet_lite.strict_json import has_type
from uanet_tf.errors import InputError
from uanet_tf.monitoring.sentence_facts import SentenceFacts

UNCERTAINTY, UNKNOWN_WORDS, LABEL = "uncertainty", "unknown_words", "label"
QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.97)
MOST_SENTENCES = 10_000
_MOST_LABELS = 20


@dataclasses.dataclass(frozen=True)
class Trait:
    """Something that a sentence has or has not.

    Attributes:
      kind: UNCERTAINTY: its mean is above ``above``; UNKNOWN_WORDS: their share is; LABEL: it
        has ``name``.
      count: sentences of the reference that have it.
      above: a quantile.
      name: a label, or a type of entities.
    """

    kind: str
    count: int
    above: float = 0.0
    name: str = ""

    def holds(self, facts: SentenceFacts) -> bool:
        """Whether a sentence has it."""
        if self.kind == UNCERTAINTY:
            return bool(facts.uncertainty > self.above)
        if self.kind == UNKNOWN_WORDS:
            return bool((facts.unknown_words or 0.0) > self.above)
        return self.name in facts.labels

    def __str__(self) -> str:
        if self.kind == UNCERTAINTY:
            return f"sentences with a mean uncertainty above {self.above:.3g} nats"
        if self.kind == UNKNOWN_WORDS:
            return f"sentences with more than {100 * self.above:.3g} % unknown words"
        return f"sentences with {self.name}"


@dataclasses.dataclass(frozen=True)
class Reference:
    """What sentences of the development data are like.

    Attributes:
      size: sentences that the counts are of.
      traits: with their counts.
    """

    size: int
    traits: tuple[Trait, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"size": self.size, "traits": [dataclasses.asdict(each) for each in self.traits]}

    @classmethod
    def from_dict(cls, values: Any) -> "Reference":
        """The opposite of ``to_dict``.

        Raises:
          InputError: it is something else.
        """
        kinds = {"kind": str, "count": int, "above": float, "name": str}
        try:
            traits = tuple(Trait(**each) for each in values["traits"])
            size = values["size"]
        except (KeyError, TypeError):
            raise InputError("what it has for 'monitoring' is no reference") from None
        sound = has_type(size, int) and 0 < size <= MOST_SENTENCES
        for trait in traits:
            sound = sound and all(has_type(getattr(trait, key), kinds[key]) for key in kinds)
            sound = sound and trait.kind in (UNCERTAINTY, UNKNOWN_WORDS, LABEL)
            sound = sound and 0 <= trait.count <= size
        if not sound:
            raise InputError("what it has for 'monitoring' is no reference")
        return cls(size, traits)


def make_reference(facts: Sequence[SentenceFacts], seed: int = 1) -> Reference | None:
    """The reference of development sentences; None of fewer than two.

    Quantiles are taken from a random half of the sentences and counts from the other. So counts and
    a stream's sentences are exchangeable if the stream is like the data, and the tests
    exact: a quantile's own half has its count by construction.

    Args:
      facts: of the sentences; at most ``MOST_SENTENCES`` are used.
      seed: of the halves.
    """
    order = np.random.default_rng([seed, 3]).permutation(len(facts))[:MOST_SENTENCES]
    half = len(order) // 2
    if not half:
        return None
    first, second = ([facts[k] for k in part] for part in (order[:half], order[half:]))
    traits = _over_quantiles(UNCERTAINTY, [each.uncertainty for each in first])
    rates = [each.unknown_words for each in first if each.unknown_words is not None]
    traits += _over_quantiles(UNKNOWN_WORDS, rates)
    labels = Counter(label for each in first for label in each.labels)
    traits += [Trait(LABEL, 0, name=name) for name, _ in labels.most_common(_MOST_LABELS)]
    counted = (dataclasses.replace(trait, count=sum(map(trait.holds, second))) for trait in traits)
    return Reference(len(second), tuple(counted))


def _over_quantiles(kind: str, values: Sequence[float]) -> list[Trait]:
    if not values:
        return []
    return [
        Trait(kind, 0, above=value) for value in sorted({*np.quantile(values, QUANTILES).tolist()})
    ]
