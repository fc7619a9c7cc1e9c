"""Says when a stream of sentences is no longer like the development data."""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from uanet_tf.monitoring.fisher_exact import fisher_exact
from uanet_tf.monitoring.reference import Reference, Trait
from uanet_tf.monitoring.sentence_facts import SentenceFacts

FALSE_ALARMS = 0.01
BLOCK = 100


class Shift(NamedTuple):
    """A trait that a stream has at another rate than the reference.

    Attributes:
      trait: which.
      share: of the stream's sentences that have it, in [0, 1].
      usual: of the reference's.
      p_value: of the exact test.
      sentences: how many of the stream were compared.
      seen: sentences of the stream until then.
    """

    trait: Trait
    share: float
    usual: float
    p_value: float
    sentences: int
    seen: int

    def __str__(self) -> str:
        return f"{100 * self.share:.1f} % of {self.trait} ({100 * self.usual:.1f} % in development)"


class StreamMonitor:
    """Compares a stream with a reference, after each block of sentences.

    At look k the block and all sentences so far are compared with the reference, trait by trait, by
    an exact two-sample test at the level ``false_alarms / (k (k + 1) 2 F)`` with F traits. The sum
    over all looks is ``false_alarms``: however long a stream is, that is at most the
    probability that one which is like the reference gives any alarm. The block finds a late
    change, all sentences a small one. May be used from several threads.

    Args:
      reference: what is usual.
      false_alarms: probability of an alarm without a shift.
      block: sentences between two looks.
    """

    def __init__(
        self, reference: Reference, *, false_alarms: float = FALSE_ALARMS, block: int = BLOCK
    ) -> None:
        self._reference = reference
        self._false_alarms = false_alarms
        self._size = block
        self._lock = threading.Lock()
        self._looks = 0
        self._in_block = 0
        self._block = np.zeros(len(reference.traits), np.int64)
        self._all = np.zeros(len(reference.traits), np.int64)
        self._first: list[Shift] = []
        self._last: list[Shift] = []

    def add(self, facts: SentenceFacts) -> list[Shift]:
        """Takes a sentence; gives the shifts, if it is the one that made the first alarm."""
        with self._lock:
            self._block += [trait.holds(facts) for trait in self._reference.traits]
            self._in_block += 1
            if self._in_block < self._size:
                return []
            return self._look()

    @property
    def seen(self) -> int:
        """Sentences so far."""
        return self._looks * self._size + self._in_block

    @property
    def shifts(self) -> list[Shift]:
        """What the first alarm found, the clearest first; [] without an alarm."""
        return self._first

    def report(self) -> dict[str, Any]:
        """Plain values for JSON: what was seen, the first alarm, the shifts of the last look."""
        with self._lock:
            return {
                "sentences": self.seen,
                "looks": self._looks,
                "false_alarm_rate": self._false_alarms,
                "shifted": bool(self._first),
                "first_alarm": [_plain(each) for each in self._first],
                "last_look": [_plain(each) for each in self._last],
            }

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
        self._last = sorted(found, key=lambda shift: shift.p_value)
        self._block[:] = 0
        self._in_block = 0
        if self._first:
            return []
        self._first = self._last
        return self._first

    def _compare(self, counts: Sequence[int], size: int) -> list[Shift]:
        whole = self._reference.size
        return [
            Shift(
                trait,
                count / size,
                trait.count / whole,
                fisher_exact(trait.count, whole, count, size),
                size,
                self._looks * self._size,
            )
            for trait, count in zip(self._reference.traits, counts, strict=True)
        ]


def _plain(shift: Shift) -> dict[str, Any]:
    return {**shift._asdict(), "trait": str(shift.trait)}
