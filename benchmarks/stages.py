"""Time of each stage of exact tagging, and the share of the machine's matmul rate it reaches."""

from collections.abc import Callable

import tensorflow as tf

from benchmarks.measure import MATMUL_SIZE, interleaved
from benchmarks.systems import padded, sentences_like, tagger_for
from uanet_tf.config import Config
from uanet_tf.models.sampling import sampling_seed
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.masking import sequence_mask

BATCH, LENGTH, TYPES = 64, 18, 4


def table(config: Config, *, repeats: int = 15) -> str:
    """A batch of 64 sentences of like length, stage by stage, as a Markdown table.

    Args:
      config: sizes of the layers; the decoder must be UANet.
      repeats: timed rounds over all stages.
    """
    samples = config.inference.num_samples
    tagger, batch = batch_for(config)
    count, tokens = len(batch["lengths"]), int(tf.reduce_sum(batch["lengths"]))
    stages = _stages(tagger, batch, samples)
    work = {
        f"draft: encoder, M = {samples}": samples * tokens * encoder_flops(tagger),
        f"draft: encoder, softmax, uncertainty, M = {samples}": samples
        * tokens
        * (encoder_flops(tagger) + 2 * config.encoder.hidden_width * len(tagger.vocabulary.labels)),
        "large matrix product": 2 * MATMUL_SIZE**3,
    }
    timings = interleaved(stages, repeats=repeats)
    peak = work["large matrix product"] / timings["large matrix product"].median
    lines = [
        f"{count} sentences of {tokens / count:.1f} tokens, sizes of the recipe above.",
        "",
        "| stage | milliseconds | GFLOP/s | share of the large product's rate |",
        "| --- | --- | --- | --- |",
    ]
    for name, timing in timings.items():
        cells = [
            name,
            f"{1e3 * timing.median:.1f} ({1e3 * timing.fastest:.1f} to {1e3 * timing.slowest:.1f})",
        ]
        if name in work:
            rate = work[name] / timing.median
            cells += [f"{rate / 1e9:.0f}", f"{100 * rate / peak:.0f} %"]
        else:
            cells += ["", ""]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def batch_for(config: Config) -> tuple[Tagger, dict[str, tf.Tensor]]:
    """An untrained tagger, and a batch of sentences of like length."""
    sentences = sentences_like(TYPES, 2 * LENGTH, 40 * BATCH)
    like = [s for s in sentences if LENGTH - 2 <= len(s.tokens) <= LENGTH + 2][:BATCH]
    return tagger_for(config, like), padded(like)


def encoder_flops(tagger: Tagger) -> int:
    """Floating-point operations of the BiLSTM's matrix products, for one token of one sample."""
    config = tagger.settings
    units = config.encoder.hidden_width // 2
    width = int(tagger.drafter.representation(tagger.features(_ONE)).shape[-1])
    total = 0
    for _ in range(config.encoder.encoder_layers):
        total += 2 * 2 * 4 * units * (width + units)  # directions, multiply and add, gates
        width = 2 * units
    return total


_ONE = {"tokens": tf.constant([["a"]]), "lengths": tf.constant([1])}


def _stages(
    tagger: Tagger, batch: dict[str, tf.Tensor], samples: int
) -> dict[str, Callable[[], object]]:
    features = tagger.features(batch)
    mask = sequence_mask(features["lengths"], tf.shape(features["form_index"])[1])
    words = tagger.drafter.word_vectors(features)
    seed = sampling_seed(tagger.mc_seed)
    drafted = tagger.draft(features)

    @graph_function()
    def encode():
        return tf.reduce_sum(tagger.drafter.sample_states(words, mask, samples, seed))

    matrix = tf.random.stateless_normal([MATMUL_SIZE, MATMUL_SIZE], [1, 2])
    multiply = graph_function()(lambda: tf.reduce_sum(tf.matmul(matrix, matrix)))
    look_up = graph_function()(lambda: tagger.features(batch)["form_index"])
    represent = graph_function()(lambda: tagger.drafter.representation(features))
    decide = graph_function()(lambda: tagger.draft(features).uncertainty)
    refine = graph_function()(lambda: tagger.refine(features, drafted))
    everything = graph_function()(lambda: tagger.decide(tagger.features(batch)).label_ids)
    return {
        "strings to features": lambda: look_up().numpy(),
        "word representation": lambda: represent().numpy(),
        f"draft: encoder, M = {samples}": lambda: encode().numpy(),
        f"draft: encoder, softmax, uncertainty, M = {samples}": lambda: decide().numpy(),
        "refinement of all tokens": lambda: refine().numpy(),
        "all of it": lambda: everything().numpy(),
        "large matrix product": lambda: multiply().numpy(),
    }
