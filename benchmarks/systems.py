"""Taggers and sentences to time: weights are random, since speed does not depend on them.

What does depend on weights is how often the gate opens, so tables say which share of tokens
was refined, and docs/benchmarks.md names the trained models where they matter.
"""

from uanet_tf.config import Config
from uanet_tf.data.conll import Sentence
from uanet_tf.data.uniform_corpus import generate_uniform
from uanet_tf.models.build import make_tagger
from uanet_tf.models.tagger import Tagger
from uanet_tf.training.prepare import build_vocabulary

# Classes in BIOES and mean sentence length of the corpora in the paper's Table 6.
SHAPES = {"CoNLL-2003": (4, 13), "OntoNotes": (18, 18)}


def sentences_like(types: int, mean_length: int, count: int) -> list[Sentence]:
    """Generated sentences with a number of entity types and a mean length."""
    return generate_uniform(types, mean_length, count, seed=1)


def tagger_for(config: Config, sentences: list[Sentence]) -> Tagger:
    """An untrained tagger whose vocabulary is that of ``sentences``."""
    return make_tagger(config, build_vocabulary(config.data, sentences, "IOB2"))
