"""Tagging speed of whole systems by tag set and sentence length: Table 6 of the paper."""

import functools

from benchmarks.measure import timed
from benchmarks.systems import LENGTHS, TYPES, sentences_like, tagger_for
from uanet_tf.config import Config
from uanet_tf.inference.tagging import tag

# Encoder, decoder and samples M; M = 0 is one pass without dropout.
SYSTEMS = {
    "BiLSTM-softmax": ("bilstm", "softmax", 0),
    "BiLSTM-CRF": ("bilstm", "crf", 0),
    "BiLSTM-LAN": ("bilstm", "lan", 0),
    "BiLSTM-seq2seq": ("bilstm", "seq2seq", 0),
    "UANet, M = 1": ("variational_bilstm", "uanet", 1),
    "UANet, M = 8": ("variational_bilstm", "uanet", 8),
}


def table(config: Config, *, count: int, repeats: int) -> str:
    """Sentences a second of `uanet_tf.tag`, as a Markdown table, a row a system and tag set.

    All systems have the same word representation and the same width of encoder.

    Args:
      config: sizes of the layers.
      count: sentences to tag in each run.
      repeats: timed runs.
    """
    lines = [
        "| classes | system | " + " | ".join(f"{n} tokens a sentence" for n in LENGTHS) + " |",
        "| --- | --- |" + " --- |" * len(LENGTHS),
    ]
    for types in TYPES:
        corpora = [sentences_like(types, length, count) for length in LENGTHS]
        for system, (encoder, decoder, samples) in SYSTEMS.items():
            tagger = tagger_for(config.replace(encoder=encoder, decoder=decoder), corpora[-1])
            tagger.num_samples = samples
            tagger.refine_all = False
            cells = []
            for corpus in corpora:
                tokens = [sentence.tokens for sentence in corpus]
                timing = timed(functools.partial(tag, tagger, tokens), repeats=repeats)
                cells.append(timing.rate(len(tokens)))
            lines.append(f"| {4 * types + 1} | {system} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
