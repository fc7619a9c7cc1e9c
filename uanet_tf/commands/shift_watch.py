"""``tag --monitor``: says on stderr when the input is no longer like the development data."""

import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from uanet_lite.printable import printable
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.errors import InputError
from uanet_tf.metrics.run_metrics import read_run_metrics
from uanet_tf.tagging.monitor import (
    BLOCK,
    FALSE_ALARMS,
    Reference,
    StreamMonitor,
    known_words,
    sentence_facts,
)

_MOST_TOLD = 3
# Help of the flag.
WATCHED = (
    "Say on stderr when the input is no longer like the run's development data (uncertainty, "
    f"unknown words, labels), after each {BLOCK} sentences; an alarm without a shift has a "
    f"probability of at most {FALSE_ALARMS:g}, however long the input is."
)


class ShiftWatch:
    """Watches the answers of a model.

    Args:
      run_dir: of the run; None: of a model that is no run.
      model: the run's.

    Raises:
      InputError: there is nothing to compare with.
    """

    def __init__(self, run_dir: str | None, model: Any) -> None:
        if run_dir is None:
            raise InputError("--monitor needs --run_dir: a .tflite file has no development data.")
        path = pathlib.Path(run_dir, "metrics.json")
        values = read_run_metrics(path).get("monitoring")
        if values is None:
            raise InputError(
                f"{path} has no 'monitoring', which --monitor compares with: `uanet calibrate "
                f"--run_dir={run_dir} --input=FILE` adds it."
            )
        try:
            reference = Reference.from_dict(values)
        except InputError as error:
            raise InputError(f"{path} cannot be read as the metrics of a run: {error}") from None
        self._monitor = StreamMonitor(reference)
        self._known = known_words(model)

    def add(self, sentences: Sequence[TaggedSentence]) -> None:
        """Takes answers; tells of the first alarm."""
        for sentence in sentences:
            facts = sentence_facts(
                sentence.tokens,
                sentence.labels,
                sentence.uncertainty,
                chunks=sentence.scheme is not None,
                known=self._known,
            )
            if facts is not None and (found := self._monitor.add(facts)):
                told = "; ".join(printable(str(shift)) for shift in found[:_MOST_TOLD])
                print(f"shift after {found[0].seen:,} sentences: {told}", file=sys.stderr)

    def tell_end(self) -> None:
        """Says that there was no alarm, if there was none, or too little to look at."""
        seen = self._monitor.seen
        if seen < BLOCK:
            print(
                f"no look for a shift: the first is after {BLOCK} sentences, and there are {seen}",
                file=sys.stderr,
            )
        elif not self._monitor.shifts:
            print(f"no shift seen in {seen:,} sentences", file=sys.stderr)
