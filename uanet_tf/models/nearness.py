"""How close the distilled draft is to the sampled one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from uanet_lite.sentence import Sentence
from uanet_tf.data.batching import plan_batches
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.graphs import graph_function

REFERENCE_SAMPLES = 32
_BATCH_SENTENCES, _BATCH_TOKENS = 64, 4_096


def compare_with_samples(
    tagger: Tagger, sentences: Sequence[Sentence], *, most: int
) -> dict[str, Any]:
    """Drafts sentences by the head, by the tagger's M samples, without dropout, by 32 samples.

    The head is trained. Of the sentences, at least one, the ``most`` first ones are read.

    Returns:
      ``kl``, ``kl_of_samples`` and ``kl_of_one_pass``, the mean KL divergence (nats) of the head,
      of M samples and of the pass without dropout from 32 samples of another seed;
      ``same_labels_not_o``, of the tokens that the head or M samples label as something else than O
      the share with the same label; with a gate ``same_gate``, of the tokens above Gamma in either,
      the share above it in both.
    """
    options = tagger.options
    plain = options.replace(sampling="exact")
    ways = {
        "reference": plain.replace(num_samples=REFERENCE_SAMPLES, mc_seed=abs(options.mc_seed) + 1),
        "samples": plain.replace(mc_seed=max(options.mc_seed, 0)),
        "head": plain.replace(sampling="distilled"),
        "one_pass": plain.replace(num_samples=0),
    }
    # A run with --context=document would read whole passages; sentences are enough here.
    drafted = {name: _draft(tagger, sentences[:most], way) for name, way in ways.items()}
    reference, samples, head, one_pass = (drafted[name] for name in ways)
    outside = tagger.class_names.index("O") if "O" in tagger.class_names else -1
    threshold = None if tagger.gate is None else tagger.gate.threshold
    return {
        "kl": divergence(reference.p, head.p),
        "kl_of_samples": divergence(reference.p, samples.p),
        "kl_of_one_pass": divergence(reference.p, one_pass.p),
        **_agreement(head, samples, outside, threshold),
    }


class _Drafts(NamedTuple):
    """P [N, C] and u [N] of all tokens."""

    p: np.ndarray
    u: np.ndarray


def _agreement(
    left: _Drafts, right: _Drafts, outside: int, threshold: float | None
) -> dict[str, float]:
    """Shares of equal labels and gates; ``outside`` is the class O, or -1."""
    labels, others = left.p.argmax(-1), right.p.argmax(-1)
    entities = (labels != outside) | (others != outside)
    same = labels == others
    found = {"same_labels_not_o": float(same[entities].mean()) if entities.any() else 1.0}
    if threshold is not None:
        opens, others_open = left.u > threshold, right.u > threshold
        either, both = opens | others_open, opens & others_open
        found["same_gate"] = float(both.sum() / either.sum()) if either.any() else 1.0
    return found


def nearness_text(nearness: dict[str, Any]) -> str:
    """The figures in one line of text."""
    gate = ""
    if "same_gate" in nearness:
        gate = f", {100 * nearness['same_gate']:.1f} % of the tokens above Gamma are the same"
    return (
        f"distilled on dev: KL to 32 samples {nearness['kl']:.5f} nats (the run's samples: "
        f"{nearness['kl_of_samples']:.5f}), {100 * nearness['same_labels_not_o']:.1f} % of labels "
        f"that are not O as sampled{gate}"
    )


def _draft(tagger: Tagger, sentences: Sequence[Sentence], options: Any) -> _Drafts:
    """The drafts of all tokens, batch by batch."""

    def draft_of(tokens, lengths):
        features = tagger.features({"tokens": tokens, "lengths": lengths})
        draft = tagger.drafter.draft(features, options)
        return [tf.boolean_mask(x, draft.mask) for x in (draft.probabilities, draft.uncertainty)]

    # A concrete function: TensorFlow warns where others are traced again and again.
    run = graph_function()(draft_of).get_concrete_function(
        tf.TensorSpec([None, None], tf.string), tf.TensorSpec([None], tf.int32)
    )
    lengths = np.array([len(sentence.tokens) for sentence in sentences])
    parts = []
    for batch in plan_batches(lengths, batch_size=_BATCH_SENTENCES, batch_tokens=_BATCH_TOKENS):
        width = lengths[batch].max()
        rows = [[*sentences[k].tokens, *[""] * (width - lengths[k])] for k in batch]
        parts.append(run(tf.constant(rows), tf.constant(lengths[batch], tf.int32)))
    columns = zip(*parts, strict=True)
    return _Drafts(*(np.concatenate([x.numpy() for x in column]) for column in columns))


_SMALLEST = 1e-8  # a probability below counts as this


def divergence(p: np.ndarray, q: np.ndarray) -> float:
    """Mean KL(p || q) of [N, C] distributions, nats."""
    p, q = np.maximum(p, _SMALLEST), np.maximum(q, _SMALLEST)
    return float(np.mean(np.sum(p * (np.log(p) - np.log(q)), axis=-1)))
