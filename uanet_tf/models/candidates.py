"""Candidates: spans that may be entities, each with the probability that it is one."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from uanet_lite.tag_schemes import OUTSIDE, split_label
from uanet_tf.arguments import ArgumentError, check_positive
from uanet_tf.models.confidence import SMALLEST, TargetLayer
from uanet_tf.models.results import Draft
from uanet_tf.ops.chain import SpanWeights, span_marginals

# A span that is less probable, before its probability is calibrated, is never a candidate.
LEAST = 1e-6
# From this probability on spans are candidates where there is no target recall.
USUAL = 0.05
_FLOOR = 1e-9  # of a label's probability, so that every sequence has one


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class Candidates(TargetLayer):
    """Spans with a type whose probability is at least that of their type's threshold.

    The product of the draft's distributions of the tokens (Gui et al., 2020, Eq. 4), over the
    sequences that the tag scheme allows, gives each span its probability P (``span_marginals``),
    and a map that was fitted to development data calibrates it:

        probability = sigmoid(a log(P / (1 - P)) + b)

    Spans may overlap. Until a map is set there is none. ``classes`` are the labels of the model in
    BIOES, id = position; the longest span has ``longest`` tokens. A call takes the draft of a
    batch, not the refined distributions: those are so sure that an entity which they leave out
    ranks behind many spans that are none.

    Returns:
      [B, T, longest * K]: the probability of the span of l + 1 tokens and type ``types[k]`` that
      begins at a token, at l * K + k; 0 where it is no candidate.
    """

    def __init__(self, classes: Sequence[str], longest: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.classes = list(classes)
        self.longest = check_positive("longest", longest)
        pairs = [split_label(name) for name in classes]
        self.types = list(dict.fromkeys(name for letter, name in pairs if letter != OUTSIDE))
        places = {pair: place for place, pair in enumerate(pairs)}
        self._outside = places[OUTSIDE, ""]
        self._prefixes = [[places[letter, name] for name in self.types] for letter in "BIES"]
        self.map = self.add_weight("map", [2], initializer="zeros")
        self.add_target(len(self.types))
        self.reset()

    def reset(self) -> None:
        """No map, no target."""
        self.set_map(np.array([1.0, 0.0]))
        self.set_target(0.0, np.full(len(self.types), USUAL))

    def set_map(self, values: np.ndarray) -> None:
        """Sets the map (a, b), a >= 0; ArgumentError, if it is not such."""
        values = np.asarray(values, np.float32)
        if values.shape != (2,) or not np.isfinite(values).all() or values[0] < 0:
            raise ArgumentError(
                f"`values` must be 2 finite numbers, the first not below 0. Received: {values}"
            )
        self.map.assign(values)

    def call(self, draft: Draft) -> tf.Tensor:
        p = tf.maximum(draft.probabilities, _FLOOR)
        places = (self._outside, *self._prefixes)  # of no type, where all labels are O
        columns = (tf.gather(p, tf.constant(part, tf.int32), axis=-1) for part in places)
        spans = span_marginals(SpanWeights(*columns), draft.mask, self.longest)
        logit = tf.math.log(tf.maximum(spans, SMALLEST))
        logit -= tf.math.log(tf.maximum(1.0 - spans, SMALLEST))
        sure = tf.sigmoid(self.map[0] * logit + self.map[1])
        kept = (spans >= LEAST) & (sure >= self.thresholds)
        found = tf.where(kept, sure, 0.0)  # [B, T, L, K]
        shape = tf.shape(found)
        return tf.reshape(found, [shape[0], shape[1], self.longest * len(self.types)])


@contextlib.contextmanager
def all_candidates(tagger: Any) -> Iterator[None]:
    """Within it the tagger gives candidates of any probability."""
    layer: Candidates = tagger.candidates
    asked, target, thresholds = tagger.return_candidates, layer.target_value, layer.thresholds
    before = thresholds.numpy()
    layer.set_target(0.0, np.zeros(len(layer.types)))
    tagger.return_candidates = True
    try:
        yield
    finally:
        tagger.return_candidates = asked
        layer.set_target(target, before)
