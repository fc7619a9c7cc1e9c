"""Decoding without the encoder, by sentence length: Figure 3 of the paper.

A CRF reads a sentence token by token, refinement all tokens at once. The time starts where
the encoder ends: from its states to labels for the CRF, from draft distributions to labels for
UANet, the refiner's own word representation included.
"""

import dataclasses
import operator
import pathlib
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from benchmarks.measure import Timing, timed
from benchmarks.plots import Curve, draw
from benchmarks.systems import padded, sentences_like, tagger_for
from uanet_lite.sentence import Sentence
from uanet_tf.config import Config
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.graphs import graph_function

SENTENCE_LENGTHS = (5, 10, 20, 30, 40, 60, 80, 120)
BATCH = 64
# Share of tokens above Gamma: all, and about that of btc_ner's models.
ASKED = (1.0, 0.2)
CRF_LABELS, CRF_ALL = "CRF: Viterbi", "CRF: Viterbi and confidences"


@dataclasses.dataclass(frozen=True)
class Point:
    """Decoding of one batch of sentences of one length."""

    length: int
    times: dict[str, Timing]


def measure(config: Config, *, types: int = 4, repeats: int = 20) -> list[Point]:
    """Times the decoders at each sentence length.

    Args:
      config: sizes of the layers.
      types: entity types; 4 * types + 1 classes.
      repeats: timed batches.
    """
    sentences = _sentences(types, max(SENTENCE_LENGTHS))
    crf = tagger_for(config.replace(encoder="bilstm", decoder="crf"), sentences)
    uanet = tagger_for(config, sentences)
    points = []
    for length in SENTENCE_LENGTHS:
        batch = padded([_cut(sentence, length) for sentence in sentences])
        runs = {CRF_LABELS: _viterbi(crf, length), CRF_ALL: _crf(crf, length)}
        for share in ASKED:
            runs[_name(share)] = _refine_and_gate(uanet, batch, share)
        points.append(
            Point(length, {name: timed(run, repeats=repeats) for name, run in runs.items()})
        )
    return points


def table(points: list[Point]) -> str:
    """Sentences per second, as a Markdown table."""
    names = list(points[0].times)
    lines = [
        "| tokens | " + " | ".join(names) + " | refine all over CRF |",
        "| --- |" + " --- |" * (len(names) + 1),
    ]
    for point in points:
        cells = [f"{BATCH / point.times[name].median:,.0f}" for name in names]
        ratio = point.times[CRF_ALL].median / point.times[_name(1.0)].median
        lines.append(f"| {point.length} | " + " | ".join(cells) + f" | {ratio:.2f} |")
    return "\n".join(lines)


# Of the curve, and of the lower and the upper end of its rates.
_SECONDS = tuple(map(operator.attrgetter, ("median", "slowest", "fastest")))


def plot(points: list[Point], path: pathlib.Path, device: str) -> None:
    """Draws sentences per second over sentence length."""
    curves = {
        name: Curve(
            [point.length for point in points],
            *([BATCH / seconds(point.times[name]) for point in points] for seconds in _SECONDS),
        )
        for name in points[0].times
    }
    draw(
        path,
        curves,
        x="tokens per sentence",
        y="sentences per second",
        title=f"Decoding only, 17 classes, batches of {BATCH}, {device}",
        log=True,
        ticks=[point.length for point in points],
    )


def _name(share: float) -> str:
    return f"refine and gate, {100 * share:.0f} % above Gamma"


def _sentences(types: int, length: int) -> list[Sentence]:
    """Sentences of exactly ``length`` tokens, cut from longer ones."""
    long = sentences_like(types, 3 * length, 20 * BATCH)
    return [_cut(sentence, length) for sentence in long if len(sentence.tokens) >= length][:BATCH]


def _cut(sentence: Sentence, length: int) -> Sentence:
    return dataclasses.replace(
        sentence, tokens=sentence.tokens[:length], labels=sentence.labels[:length]
    )


def _states(tagger: Tagger, length: int) -> tf.Tensor:
    width = tagger.settings.encoder.hidden_width
    return tf.random.stateless_normal([1, BATCH, length, width], [1, 2])


def _viterbi(tagger: Tagger, length: int) -> Callable[[], object]:
    """Only labels, so that the graph leaves out what they do not need."""
    states, mask = _states(tagger, length), tf.ones([BATCH, length], tf.bool)
    run = graph_function()(lambda: tagger.drafter.decoder.decide(states, mask).label_ids)
    return lambda: run().numpy()


def _crf(tagger: Tagger, length: int) -> Callable[[], object]:
    states, mask = _states(tagger, length), tf.ones([BATCH, length], tf.bool)

    @graph_function()
    def run():
        decided = tagger.drafter.decoder.decide(states, mask)
        return decided.label_ids, decided.probabilities

    return lambda: run()[0].numpy()


def _refine_and_gate(
    tagger: Tagger, batch: dict[str, tf.Tensor], share: float
) -> Callable[[], object]:
    """Refines the tokens above Gamma, a given share of each sentence, and gates."""
    classes = len(tagger.vocabulary.labels)
    shape = batch["tokens"].shape
    draft = tf.fill([*shape, classes], 1.0 / classes)
    chance = np.random.default_rng(1).random(shape)
    asked = tf.constant(chance < share)
    features = tagger.features(batch)
    drafted = tagger.draft(features)._replace(probabilities=draft, mask=tf.ones(shape, tf.bool))

    @graph_function()
    def run():
        refined = tagger.refine(features, drafted, None if share == 1.0 else asked)
        chosen = tf.where(tf.expand_dims(asked, -1), refined, draft)
        ids = tf.argmax(chosen, axis=-1, output_type=tf.int32)
        (labels,) = tagger.drafter.valid_labels([ids], [chosen], drafted.mask)
        return labels

    return lambda: run().numpy()
