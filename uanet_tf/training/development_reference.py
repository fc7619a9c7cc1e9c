"""What the development data is like, for those who watch a stream."""

from collections.abc import Sequence
from typing import Any

from uanet_lite.sentence import Sentence
from uanet_tf.models.tagger import Tagger
from uanet_tf.tagging.monitor import MOST_SENTENCES, known_words, make_reference, sentence_facts
from uanet_tf.tagging.streams import tag_in_context


def development_reference(
    tagger: Tagger, sentences: Sequence[Sentence], seed: int = 1
) -> dict[str, Any]:
    """``{"monitoring": ...}`` for the metrics of a run, see ``Reference``; {} of one sentence.

    Args:
      tagger: with its final weights and options.
      sentences: development data; the first ``MOST_SENTENCES`` are used.
      seed: of its halves.
    """
    known, chunks = known_words(tagger), tagger.label_scheme is not None
    answers = tag_in_context(tagger, sentences[:MOST_SENTENCES])
    facts = [
        sentence_facts(each.tokens, each.labels, each.uncertainty, chunks=chunks, known=known)
        for _, each in answers
    ]
    reference = make_reference([each for each in facts if each is not None], seed)
    return {} if reference is None else {"monitoring": reference.to_dict()}
