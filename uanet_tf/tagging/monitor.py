"""Says when a stream of sentences is no longer like the development data."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from uanet_lite.input_error import InputError
from uanet_lite.sentence import Sentence
from uanet_lite.strict_json import has_type
from uanet_lite.tag_schemes import OUTSIDE
from uanet_lite.token_ids import normalize_word

Known = Callable[[str], bool]


class SentenceFacts(NamedTuple):
    """A sentence as one draw: its tokens depend on one another, sentences are exchangeable."""

    uncertainty: float  # mean of its tokens, nats
    unknown_words: float | None  # share of them without a vector of their own; None: not known
    labels: frozenset[str]  # types of its entities, or labels of its tokens


def sentence_facts(
    tokens: Sequence[str],
    labels: Sequence[str],
    uncertainty: Sequence[float],
    *,
    chunks: bool,
    known: Known | None,
) -> SentenceFacts | None:
    """The facts of a sentence; None of one without tokens.

    ``uncertainty`` of each is in nats; ``chunks``: labels have a letter and a type, like "B-PER";
    ``known``: whether a word has a vector of its own.
    """
    if not tokens:
        return None
    return SentenceFacts(
        uncertainty=float(sum(uncertainty) / len(tokens)),
        unknown_words=known and sum(not known(token) for token in tokens) / len(tokens),
        labels=frozenset(label_types(labels, chunks=chunks)),
    )


def label_types(labels: Sequence[str], *, chunks: bool) -> set[str]:
    """Types of chunk labels, without ``O``; labels that are no chunks as they are."""
    if not chunks:
        return set(labels)
    return {label[2:] for label in labels if label != OUTSIDE}


def known_words(model: Any, *, trained: bool = False) -> Known | None:
    """Whether a word has a vector of its own in ``model``; None: it does not read whole words.

    With ``trained``, whether the training data had it: a pretrained vector is not enough.
    """
    vocabulary, lookup = model.vocabulary, model.lookup
    if not vocabulary.words or vocabulary.pretrained is not None:
        return None
    count = vocabulary.num_trained if trained else len(vocabulary.words)
    words = frozenset(vocabulary.words[:count])
    form = {"digits": lookup.normalize_digits, "lowercase": lookup.lowercase_words}
    return lambda word: normalize_word(word, **form) in words


def training_words(model: Any, sentences: Iterable[Sentence]) -> list[list[bool]] | None:
    """For each token whether the training data had its word; None: ``model`` reads no words."""
    known = known_words(model, trained=True)
    return known and [[known(token) for token in sentence.tokens] for sentence in sentences]


UNCERTAINTY, UNKNOWN_WORDS, LABEL = "uncertainty", "unknown_words", "label"
QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.97)
MOST_SENTENCES = 10_000
_MOST_LABELS = 20


@dataclasses.dataclass(frozen=True)
class Trait:
    """Something that a sentence has or has not.

    By its kind: the mean UNCERTAINTY, or the share of UNKNOWN_WORDS, is above the quantile
    ``above``, or the LABEL, or type of entities, ``name`` is there. ``count`` sentences of the
    reference have it.
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
    """What sentences of the development data are like."""

    size: int  # sentences that the counts of the traits are of
    traits: tuple[Trait, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"size": self.size, "traits": [dataclasses.asdict(each) for each in self.traits]}

    @classmethod
    def from_dict(cls, values: Any) -> "Reference":
        """The opposite of ``to_dict``; InputError for something else."""
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

    Quantiles are taken from a random half of the sentences, of at most ``MOST_SENTENCES``, and
    counts from the other. So counts and a stream's sentences are exchangeable if the stream is like
    the data, and the tests exact: a quantile's own half has its count by construction.
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
    quantiles = {*np.quantile(values, QUANTILES).tolist()} if values else ()
    return [Trait(kind, 0, above=value) for value in sorted(quantiles)]


FALSE_ALARMS = 0.01
BLOCK = 100


class Shift(NamedTuple):
    """A trait that a stream has at another rate than the reference."""

    trait: Trait
    share: float  # of the stream's sentences that have it, in [0, 1]
    usual: float  # of the reference's
    p_value: float  # of the exact test
    sentences: int  # how many of the stream were compared
    seen: int  # sentences of the stream until then

    def __str__(self) -> str:
        return f"{100 * self.share:.1f} % of {self.trait} ({100 * self.usual:.1f} % in development)"


class StreamMonitor:
    """Compares a stream with a reference, after each block of sentences.

    At look k the block and all sentences so far are compared with the reference, trait by trait, by
    an exact two-sample test at the level ``false_alarms / (k (k + 1) 2 F)`` with F traits. The sum
    over all looks is ``false_alarms``, a probability: however long a stream is, one that is like
    the reference gives any alarm with that probability at most. The block finds a late change, all
    sentences a small one. ``block``: sentences between two looks.
    """

    def __init__(
        self, reference: Reference, *, false_alarms: float = FALSE_ALARMS, block: int = BLOCK
    ) -> None:
        self._reference = reference
        self._false_alarms = false_alarms
        self._size = block
        self._looks = self._in_block = 0
        self._block = np.zeros(len(reference.traits), np.int64)
        self._all = np.zeros(len(reference.traits), np.int64)
        self._first: list[Shift] = []

    def add(self, facts: SentenceFacts) -> list[Shift]:
        """Takes a sentence; gives the shifts, if it is the one that made the first alarm."""
        self._block += [trait.holds(facts) for trait in self._reference.traits]
        self._in_block += 1
        return [] if self._in_block < self._size else self._look()

    @property
    def seen(self) -> int:
        """Sentences so far."""
        return self._looks * self._size + self._in_block

    @property
    def shifts(self) -> list[Shift]:
        """What the first alarm found, the clearest first; [] without an alarm."""
        return self._first

    def _look(self) -> list[Shift]:
        self._looks += 1
        self._all += self._block
        tests = [(self._block, self._size)]
        if self._looks > 1:
            tests.append((self._all, self._looks * self._size))
        traits = max(1, len(self._reference.traits))
        level = self._false_alarms / (self._looks * (self._looks + 1) * 2 * traits)
        found = [
            shift
            for counts, size in tests
            for shift in self._compare(counts.tolist(), size)
            if shift.p_value <= level
        ]
        self._block[:] = 0
        self._in_block = 0
        if self._first:
            return []
        self._first = sorted(found, key=lambda shift: shift.p_value)
        return self._first

    def _compare(self, counts: Sequence[int], size: int) -> list[Shift]:
        """The traits of a part of the stream beside those of the reference."""
        whole, found = self._reference.size, []
        for trait, count in zip(self._reference.traits, counts, strict=True):
            p_value = fisher_exact(trait.count, whole, count, size)
            shares = count / size, trait.count / whole
            found.append(Shift(trait, *shares, p_value, size, self._looks * self._size))
        return found


_SAME = 1e-7  # relative difference below which two probabilities are equal


def fisher_exact(count: int, size: int, other_count: int, other_size: int) -> float:
    """Two-sided p-value of "count of size" against "other_count of other_size".

    Under exchangeability the first count, given the sum of both, is hypergeometric; the p-value is
    the probability of all first counts that are at most as probable as the one seen (Fisher, 1935,
    "The Logic of Inductive Inference"). It needs memory for ``size`` numbers at most, however large
    the other sample is.
    """
    total = count + other_count
    low, high = max(0, total - other_size), min(size, total)
    values = np.arange(low, high, dtype=np.float64)
    # log P(k + 1) - log P(k).
    steps = np.log((size - values) * (total - values))
    steps -= np.log((values + 1.0) * (other_size - total + values + 1.0))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    probabilities = np.exp(logs - logs.max())
    seen = probabilities[count - low]
    extreme = probabilities[probabilities <= seen * (1.0 + _SAME)].sum()
    return min(1.0, float(extreme / probabilities.sum()))
