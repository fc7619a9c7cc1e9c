"""Taggers and sentences to time: weights are random where speed does not depend on them.

What does depend on weights is how often the gate opens; ``benchmarks.trained`` measures that.
"""

import pathlib

import tensorflow as tf

from benchmarks.uniform_corpus import generate_uniform
from uanet_lite.sentence import Sentence
from uanet_tf.config import Config, recipe_settings
from uanet_tf.models.build import make_tagger
from uanet_tf.models.tagger import Tagger
from uanet_tf.training.prepare import build_vocabulary

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Entity types; in BIOES they make 17, 45 and 73 classes, those of CoNLL-2003, of WSJ's parts of
# speech (45) and of OntoNotes.
TYPES = (4, 11, 18)
LENGTHS = (13, 18, 24)


def recipe(name: str) -> Config:
    """The settings of a recipe."""
    return Config().replace(**recipe_settings(name))


def sentences_like(types: int, mean_length: int, count: int) -> list[Sentence]:
    """Generated sentences with a number of entity types and a mean length."""
    return generate_uniform(types, mean_length, count, seed=1)


def tagger_for(config: Config, sentences: list[Sentence]) -> Tagger:
    """An untrained tagger whose vocabulary is that of ``sentences``."""
    return make_tagger(config, build_vocabulary(config.data, sentences, "IOB2"))


def padded(sentences: list[Sentence]) -> dict[str, tf.Tensor]:
    """One batch of sentences, as a tagger takes it."""
    lengths = [len(sentence.tokens) for sentence in sentences]
    rows = [[*s.tokens, *[""] * (max(lengths) - len(s.tokens))] for s in sentences]
    return {"tokens": tf.constant(rows), "lengths": tf.constant(lengths, tf.int32)}
