"""Scores a model on the sentences of a file, as metrics.json reports them."""

import time
from collections.abc import Sequence
from typing import Any

from uanet_lite.sentence import Sentence
from uanet_tf.metrics.scoring import score
from uanet_tf.models.tagger import Tagger
from uanet_tf.tagging.streams import tag_in_context


def score_corpus(tagger: Tagger, sentences: Sequence[Sentence], task: str) -> dict[str, Any]:
    """Tags sentences and scores them; see ``metrics.scoring.score`` for the entries.

    ``sentences_per_second`` is that of tagging only.
    """
    start = time.perf_counter()
    tagged = [answer for _, answer in tag_in_context(tagger, sentences)]
    seconds = time.perf_counter() - start
    scores = score(
        [sentence.labels for sentence in sentences],
        [sentence.draft_labels for sentence in tagged],
        [sentence.refined_labels for sentence in tagged],
        [sentence.labels for sentence in tagged],
        [sentence.uncertainty for sentence in tagged],
        task=task,
        threshold=tagger.threshold,
        confidence=[sentence.confidence for sentence in tagged],
    )
    return {**scores, "sentences_per_second": len(sentences) / seconds}
