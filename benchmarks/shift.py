"""False alarms of ``uanet tag --monitor`` on a real corpus, and how soon it finds another one.

    python -m benchmarks.shift RUN DEVELOPMENT_FILE OTHER_FILE...

Sentences of the development file are dealt at random, half to the reference and half to a
stream, in 200 random ways: there is no shift, so alarms are false. Then all of it is the
reference, and sentences of each other file, in 20 random orders, are the stream.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import uanet_tf
from uanet_lite.columns_file import read_corpus
from uanet_tf.tagging.monitor import (
    SentenceFacts,
    StreamMonitor,
    known_words,
    make_reference,
    sentence_facts,
)
from uanet_tf.tagging.streams import tag_in_context

_SPLITS, _ORDERS = 200, 20


def main(run_dir: str, development: str, *others: str) -> None:
    """Prints a line for the development file and one for each other file."""
    model = uanet_tf.load_model(run_dir)
    usual = _facts(model, development)
    alarms = 0
    for seed in range(_SPLITS):
        order = np.random.default_rng(seed).permutation(len(usual))
        half = len(order) // 2
        found = _first_alarm([usual[k] for k in order[:half]], [usual[k] for k in order[half:]])
        alarms += found is not None
    print(f"{development}: {alarms} of {_SPLITS} random halves raise an alarm")
    for path in others:
        facts = _facts(model, path)
        found_at = []
        for seed in range(_ORDERS):
            order = np.random.default_rng(seed).permutation(len(facts))
            found_at.append(_first_alarm(usual, [facts[k] for k in order]))
        late = [each for each in found_at if each is not None]
        told = f", after {np.median(late):.0f} sentences (median)" if late else ""
        print(f"{path}: {len(late)} of {_ORDERS} orders raise an alarm{told}")


def _facts(model: Any, path: str) -> list[SentenceFacts]:
    known, chunks = known_words(model), model.label_scheme is not None
    found = (
        sentence_facts(each.tokens, each.labels, each.uncertainty, chunks=chunks, known=known)
        for _, each in tag_in_context(model, read_corpus(path))
    )
    return [each for each in found if each is not None]


def _first_alarm(usual: Sequence[SentenceFacts], stream: Sequence[SentenceFacts]) -> int | None:
    """Sentences until the first alarm; None without one."""
    reference = make_reference(usual)
    if reference is None:
        return None
    monitor = StreamMonitor(reference)
    for facts in stream:
        if found := monitor.add(facts):
            return found[0].seen
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
