"""Tagging speed: systems and numbers of samples, by tag set and sentence length."""

import functools

from benchmarks.measure import timed
from benchmarks.systems import SHAPES, sentences_like, tagger_for
from uanet_tf.config import Config
from uanet_tf.inference.tagging import tag

# (decoder, samples M): M = 0 is one pass without dropout.
SYSTEMS = {
    "softmax": ("softmax", 0),
    "variational softmax, M = 8": ("softmax", 8),
    "UANet, M = 1": ("uanet", 1),
    "UANet, M = 8": ("uanet", 8),
}


def table(config: Config, *, count: int, repeats: int) -> str:
    """Sentences a second of `uanet_tf.tag`, as a Markdown table.

    Args:
      config: sizes of the layers.
      count: sentences to tag in each run.
      repeats: timed runs.
    """
    lines = [
        "| corpus shape | classes | tokens a sentence | system | sentences/s |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, (types, length) in SHAPES.items():
        sentences = sentences_like(types, length, count)
        tokens = [sentence.tokens for sentence in sentences]
        mean = sum(map(len, tokens)) / len(tokens)
        for system, (decoder, samples) in SYSTEMS.items():
            tagger = tagger_for(config.replace(decoder=decoder), sentences)
            tagger.num_samples = samples
            timing = timed(functools.partial(tag, tagger, tokens), repeats=repeats)
            classes = 4 * types + 1
            lines.append(
                f"| {name} | {classes} | {mean:.1f} | {system} | {timing.rate(len(tokens))} |"
            )
    return "\n".join(lines)
