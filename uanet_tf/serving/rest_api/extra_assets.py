"""What an export wrote beside the model: Gamma, and how its development data were."""

import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from absl import logging

from uanet_lite.printable import printable
from uanet_lite.strict_json import has_type, read_json
from uanet_lite.token_ids import normalize_word
from uanet_tf.errors import InputError
from uanet_tf.tagging.monitor import UNKNOWN_WORDS, Known, Reference, StreamMonitor, sentence_facts

GATE_FILE = pathlib.Path("assets.extra", "gate.json")
MONITORING_FILE = pathlib.Path("assets.extra", "monitoring.json")
_WORDS = pathlib.Path("assets", "words.txt")
_NAMES = ("labels", "uncertainty")
_KEYS = ("chunks", "normalize_digits", "lowercase_words")


def read_gate(path: pathlib.Path) -> float | None:
    """Gamma, nats, as the export wrote it; None of a version without the file.

    Args:
      path: directory of the version.

    Raises:
      InputError: the file is damaged.
    """
    if not (path / GATE_FILE).exists():
        return None
    try:
        values = read_json(path / GATE_FILE)
    except (OSError, ValueError) as error:
        raise InputError(f"{path / GATE_FILE}: cannot be read ({error}).") from None
    gamma = values.get("threshold") if isinstance(values, dict) else None
    if gamma is None or not (has_type(gamma, float) and 0 <= gamma < float("inf")):
        raise InputError(f"{path / GATE_FILE}: `threshold` must be a number of at least 0 nats.")
    return float(gamma)


class ModelMonitor:
    """A ``StreamMonitor`` that reads the requests and answers of a version.

    Args:
      path: directory of the version, with ``assets.extra/monitoring.json``.

    Raises:
      InputError: the file is damaged.
    """

    def __init__(self, path: pathlib.Path) -> None:
        try:
            values = read_json(path / MONITORING_FILE)
            if not (isinstance(values, dict) and all(has_type(values.get(k), bool) for k in _KEYS)):
                raise InputError("it is none that an export wrote")
            reference = Reference.from_dict(values.get("monitoring"))
        except (OSError, ValueError) as error:
            raise InputError(f"{path / MONITORING_FILE}: cannot be read ({error}).") from None
        self._path, self._chunks = path, values["chunks"]
        self._known = _known(path, values)
        if self._known is None:
            kept = tuple(each for each in reference.traits if each.kind != UNKNOWN_WORDS)
            reference = Reference(reference.size, kept)
        self._monitor = StreamMonitor(reference)

    def add(self, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> None:
        """Takes the sentences of a request; what is no answer of a tagger is left out."""
        tokens, lengths = (inputs.get(name, outputs.get(name)) for name in ("tokens", "lengths"))
        if tokens is None or lengths is None or any(name not in outputs for name in _NAMES):
            return
        for row, length in enumerate(lengths.tolist()):
            words, labels = (
                [each.decode("utf-8", "replace") for each in values[row, :length]]
                for values in (tokens, outputs["labels"])
            )
            nats = outputs["uncertainty"][row, :length].tolist()
            facts = sentence_facts(words, labels, nats, chunks=self._chunks, known=self._known)
            if facts is not None and (found := self._monitor.add(facts)):
                told = "; ".join(printable(str(shift)) for shift in found[:3])
                logging.warning("%s: shift after %d sentences: %s", self._path, found[0].seen, told)

    def report(self) -> dict[str, Any]:
        """See ``StreamMonitor.report``."""
        return self._monitor.report()


def make_monitor(path: str) -> ModelMonitor | None:
    """The monitor of a version; None of one that brings nothing to compare with."""
    folder = pathlib.Path(path)
    return ModelMonitor(folder) if (folder / MONITORING_FILE).exists() else None


def _known(path: pathlib.Path, values: Mapping[str, Any]) -> Known | None:
    """Whether a word has a vector of its own; None if the version has no list of words."""
    if not (path / _WORDS).exists():
        return None
    words = frozenset((path / _WORDS).read_text("utf-8").split("\n"))
    digits, lowercase = values["normalize_digits"], values["lowercase_words"]
    return lambda word: normalize_word(word, digits=digits, lowercase=lowercase) in words
