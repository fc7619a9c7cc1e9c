"""Hashes of the data of a run: a run that is resumed must have the same data."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from uanet_lite.sentence import Sentence


def hash_sentences(sentences: Iterable[Sentence]) -> str:
    """SHA-256 of what training reads of a file: tokens, labels and where documents begin.

    It depends on sentences and not on bytes, so that a pipe is read once, and gzip, line ends and
    comments may change.
    """
    digest = hashlib.sha256()
    for sentence in sentences:
        head = f"{len(sentence.tokens)} {sentence.new_document:d}"
        lines = (head, *sentence.tokens, *sentence.labels, "")  # no token holds a line feed
        digest.update("\n".join(lines).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def hash_vectors(vectors: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of the words that have a pretrained vector, and of their vectors."""
    digest = hashlib.sha256()
    for word in sorted(vectors):
        digest.update(f"{len(word)} {word}\n".encode("utf-8", "surrogatepass"))
        digest.update(np.ascontiguousarray(vectors[word], np.float32).tobytes())
    return digest.hexdigest()


def hash_json(values: Any) -> str:
    """SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
