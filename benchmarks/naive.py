"""A tagger without its optimizations: the cost of sampling where nothing is shared or left out.

The whole model is run M times, word representation included; each token is represented by itself,
not each distinct token; every token is refined; sentences come in the order of the file, ten at a
time, padded to the longest of the ten. Labels are those of the tagger.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

import uanet_tf
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.models.outputs import Tensors
from uanet_tf.models.results import Draft
from uanet_tf.models.sampling import sampling_seed
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.losses import entropy
from uanet_tf.ops.masking import sequence_mask

BATCH = 10


def made_naive(tagger: Any) -> Tagger:
    """Removes the optimizations from ``tagger``, which it returns."""
    if tagger.gate is not None:
        tagger.refine_all = True
    tagger.features = lambda inputs: _features(tagger, inputs)
    tagger.draft = lambda features, threshold=None: _draft(tagger, features)
    return tagger


def tag(tagger: Tagger, sentences: Sequence[Sequence[str]]) -> list[TaggedSentence]:
    """Tags in the order of the sentences, ten at a time."""
    tagged: list[TaggedSentence] = []
    for start in range(0, len(sentences), BATCH):
        tagged += uanet_tf.tag(tagger, sentences[start : start + BATCH])
    return tagged


def _features(tagger: Tagger, inputs: Tensors) -> Tensors:
    """A form for each token of the padded batch."""
    lengths = tf.cast(inputs["lengths"], tf.int32)
    shape = tf.shape(inputs["tokens"])
    tokens = tf.where(sequence_mask(lengths, shape[1]), inputs["tokens"], "")
    forms = tf.reshape(tokens, [-1])
    index = tf.reshape(tf.range(tf.size(forms)), shape)
    return {**tagger.lookup.form_features(forms), "form_index": index, "lengths": lengths}


def _draft(tagger: Tagger, features: Tensors) -> Draft:
    """M passes of the whole drafter."""
    count, index = tagger.num_samples, features["form_index"]
    batch, mask = tf.shape(index)[0], sequence_mask(features["lengths"], tf.shape(index)[1])
    forms = {name: value for name, value in features.items() if name.startswith("form_")}
    many = {name: tf.concat([value] * count, axis=0) for name, value in forms.items()}
    shift = tf.repeat(tf.range(count) * tf.size(index), batch)
    many["form_index"] += tf.expand_dims(shift, -1)
    words = tagger.drafter.representation(many)  # [M * B, T, D]
    seed, encoder = sampling_seed(tagger.mc_seed), tagger.drafter.encoder
    drawn = encoder.sampling_masks(seed, count, words.shape[-1])
    masks = {name: tf.repeat(rows, batch, axis=0) for name, rows in drawn.items()}
    states = encoder(words, mask=tf.tile(mask, [count, 1]), dropout_masks=masks)
    shape = tf.concat([[count], tf.shape(index), [states.shape[-1]]], axis=0)
    decoded = tagger.drafter.decoder.decide(tf.reshape(states, shape), mask)
    p = decoded.probabilities
    (labels,) = tagger.drafter.valid_labels([decoded.label_ids], [p], mask)
    return Draft(labels, p, tf.where(mask, entropy(p), 0.0), mask)
