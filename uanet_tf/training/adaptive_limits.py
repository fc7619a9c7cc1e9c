"""Where adaptive sampling stops, chosen on the development set.

At each checkpoint a token counts as settled by its entropy so far: at or below one limit, or at or
above another. Wide limits stop early and change labels. Limits are made from an error budget, the
share of tokens that one limit may settle wrongly as far as gate and draft label go; budgets are
tried from large to small, each with the real adaptive tagger, until enough labels stay. Those of
certain tokens come first: sentences that they stop are not refined, so fewer samples change them
little. What is settled as uncertain is refined from the draft so far, which moves labels more, and
has a budget of its own.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from uanet_tf.data.batching import plan_batches
from uanet_tf.data.conll import Sentence
from uanet_tf.inference.adaptive import NUM_CHECKPOINTS, checkpoints
from uanet_tf.inference.monte_carlo import sample_states, sampling_seed
from uanet_tf.models.drafter import token_mask
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.entropy import entropy
from uanet_tf.ops.graph_function import graph_function
from uanet_tf.tagging.document_context import joined_tokens
from uanet_tf.tagging.sentence_stream import BATCH_SIZE, BATCH_TOKENS, tag

_CERTAIN_BUDGETS = (5e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 3e-4, 1e-4, 0.0)
_UNCERTAIN_BUDGETS = (1e-2, 1e-3, 1e-4, 0.0)


class Trace(NamedTuple):
    """Entropy and draft label of N tokens at each checkpoint, the last being all M samples.

    Attributes:
      uncertainty: [S + 1, N] nats.
      label_ids: [S + 1, N].
    """

    uncertainty: np.ndarray
    label_ids: np.ndarray


def choose_limits(
    tagger: Tagger, sentences: Sequence[Sentence], agreement: float
) -> dict[str, Any]:
    """Sets ``Drafter.adaptive_limits`` to the widest under which enough labels stay.

    Args:
      tagger: a trained tagger that can adapt.
      sentences: of the development set.
      agreement: least share of tokens that keep the label of exact sampling.

    Returns:
      ``agreement`` reached, the ``budgets`` it took for certain and uncertain tokens (None:
      that kind is never settled), and the ``limits``, for the run's metrics.
    """
    tokens = joined_tokens(tagger, sentences)
    trace = trace_samples(tagger, tokens)
    gated = tagger.gate is not None
    gamma = math.inf if tagger.gate is None else tagger.gate.threshold
    before = {name: getattr(tagger.options, name) for name in ("sampling", *["refine_all"] * gated)}
    try:
        tagger.set_options(
            **{**before, "sampling": "exact"} | ({"refine_all": False} if gated else {})
        )
        exact = _labels(tagger, tokens)
        tagger.sampling = "adaptive"

        def search(
            column: int, start: np.ndarray, budgets: Sequence[float], first: int = 0
        ) -> _Choice | None:
            """The limits of one kind within the largest budget that keeps enough labels.

            Checkpoints before the ``first`` settle none of that kind.
            """
            for budget in budgets:
                limits = start.copy()
                made = limits_within(trace, gamma, budget, gated=gated)
                limits[first:, column] = made[first:, column]
                tagger.drafter.adaptive_limits.assign(limits)
                kept = float(np.mean(_labels(tagger, tokens) == exact))
                if kept >= agreement:
                    return _Choice(limits, kept, budget)
            return None

        certain = search(0, never_settled(), _CERTAIN_BUDGETS)
        uncertain = None
        if certain is not None and gated:
            # Few samples may say too little of an uncertain token, and more of them enough.
            for first in range(NUM_CHECKPOINTS):
                uncertain = search(1, certain.limits, _UNCERTAIN_BUDGETS, first)
                if uncertain is not None:
                    break
        best = uncertain or certain or _Choice(never_settled(), 1.0, 0.0)
        tagger.drafter.adaptive_limits.assign(best.limits)
    finally:
        tagger.set_options(**before)
    budgets = [choice and choice.budget for choice in (certain, uncertain)]
    return {"agreement": best.agreement, "budgets": budgets, "limits": _plain(best.limits)}


class _Choice(NamedTuple):
    """Limits [S, 2], the share of labels that stay under them, and their error budget."""

    limits: np.ndarray
    agreement: float
    budget: float


def never_settled() -> np.ndarray:
    """Limits [S, 2] under which every sentence gets all samples."""
    return np.array([[-1.0, np.inf]] * NUM_CHECKPOINTS, np.float32)


def limits_within(trace: Trace, threshold: float, budget: float, *, gated: bool) -> np.ndarray:
    """Limits [S, 2], nats, each of which settles at most ``budget * N`` tokens wrongly.

    Certain is wrong where all samples open the gate or give another draft label, uncertain is
    wrong where they leave the gate shut. Without a gate no token is settled by being uncertain.
    """
    limits = never_settled()
    allowed = int(budget * trace.uncertainty.shape[1])
    opens = (trace.uncertainty[-1] > threshold) & gated
    for stage in range(NUM_CHECKPOINTS):
        u = trace.uncertainty[stage]
        flips = opens | (trace.label_ids[stage] != trace.label_ids[-1])
        wrong = np.sort(u[flips])
        # Just below the first wrong token that the budget does not cover.
        bound = wrong[allowed] if len(wrong) > allowed else np.inf
        below = u[u < bound]
        limits[stage, 0] = below.max() if len(below) else -1.0
        if gated:
            wrong = np.sort(u[~opens])[::-1]
            bound = wrong[allowed] if len(wrong) > allowed else -np.inf
            above = u[u > bound]
            limits[stage, 1] = above.min() if len(above) else np.inf
    return limits


def trace_samples(tagger: Tagger, sentences: Sequence[Sequence[str]]) -> Trace:
    """What the draft would say at each checkpoint, for all tokens of the sentences."""
    steps = checkpoints(tagger.num_samples)

    @graph_function([tf.TensorSpec([None, None], tf.string), tf.TensorSpec([None], tf.int32)])
    def run(tokens, lengths):
        features = tagger.features({"tokens": tokens, "lengths": lengths})
        drafter, mask = tagger.drafter, token_mask(features)
        words = drafter.representation(features)
        states = sample_states(
            drafter.encoder,
            words,
            mask,
            num_samples=tagger.num_samples,
            seed=sampling_seed(tagger.mc_seed),
        )
        samples = drafter.decoder.decide(states, mask).samples  # [M, B, T, C]
        plain = drafter.decoder.decide(tf.expand_dims(drafter.encoder(words, mask=mask), 0), mask)
        means = [plain.probabilities]
        means += [tf.reduce_mean(samples[:step], axis=0) for step in steps[1:]]
        p = tf.stack(means)  # [S + 1, B, T, C]
        return (
            tf.boolean_mask(entropy(p), mask, axis=1),
            tf.boolean_mask(tf.argmax(p, axis=-1, output_type=tf.int32), mask, axis=1),
        )

    lengths = np.array([len(sentence) for sentence in sentences])
    parts = []
    for batch in plan_batches(lengths, batch_size=BATCH_SIZE, batch_tokens=BATCH_TOKENS):
        width = lengths[batch].max()
        rows = [[*sentences[k], *[""] * (width - lengths[k])] for k in batch]
        parts.append(run(tf.constant(rows), tf.constant(lengths[batch], tf.int32)))
    uncertainty, label_ids = (
        np.concatenate([part.numpy() for part in column], axis=1)
        for column in zip(*parts, strict=True)
    )
    return Trace(uncertainty, label_ids)


def _labels(tagger: Tagger, sentences: Sequence[Sequence[str]]) -> np.ndarray:
    return np.array([label for tagged in tag(tagger, sentences) for label in tagged.labels])


def _plain(limits: np.ndarray) -> list[list[float | None]]:
    """For JSON, which has no infinity."""
    return [[float(x) if np.isfinite(x) else None for x in row] for row in limits]
