"""Scores a model on the sentences of a file, as metrics.json reports them."""

import time
from collections.abc import Sequence
from typing import Any

from uanet_tf.data.conll import Sentence
from uanet_tf.inference.scoring import score
from uanet_tf.inference.tagging import tag
from uanet_tf.inference.threshold_sweep import tune_threshold
from uanet_tf.models.tagger import Tagger


def score_corpus(tagger: Tagger, sentences: Sequence[Sentence], task: str) -> dict[str, Any]:
    """Tags sentences and scores them; see ``inference.scoring.score`` for the entries.

    ``sentences_per_second`` is that of tagging alone.
    """
    start = time.perf_counter()
    tagged = tag(tagger, [sentence.tokens for sentence in sentences])
    seconds = time.perf_counter() - start
    scores = score(
        [sentence.labels for sentence in sentences],
        [sentence.draft_labels for sentence in tagged],
        [sentence.refined_labels for sentence in tagged],
        [sentence.labels for sentence in tagged],
        [sentence.uncertainty for sentence in tagged],
        task=task,
        threshold=tagger.threshold,
    )
    return {**scores, "sentences_per_second": len(sentences) / seconds}


def best_threshold(tagger: Tagger, sentences: Sequence[Sentence], task: str) -> float:
    """Gamma with the best development score."""
    tagged = tag(tagger, [sentence.tokens for sentence in sentences])
    return tune_threshold(
        [sentence.labels for sentence in sentences],
        [sentence.draft_labels for sentence in tagged],
        [sentence.refined_labels for sentence in tagged],
        [sentence.uncertainty for sentence in tagged],
        task=task,
    )
