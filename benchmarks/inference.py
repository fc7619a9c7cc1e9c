"""Tagging speed of whole systems by tag set and sentence length: Table 6 of the paper."""

import functools

from benchmarks.measure import matmul_rate, timed
from benchmarks.stages import encoder_flops
from benchmarks.systems import LENGTHS, TYPES, sentences_like, tagger_for
from uanet_tf.config import Config
from uanet_tf.tagging.streams import tag

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
    """Sentences per second of `uanet_tf.tag`, as a Markdown table, one row per system and tag set.

    All systems have the same word representation and the same width of encoder. The share is that
    of the encoder's products, of M samples, in what a large matrix product, measured beside it,
    would reach in the time of the longest sentences' whole tagging.

    Args:
      config: sizes of the layers.
      count: sentences to tag in each run.
      repeats: timed runs.
    """
    peak = matmul_rate()
    heads = [f"{n} tokens per sentence" for n in LENGTHS]
    heads.append(f"encoder's share of {peak / 1e9:.0f} GFLOP/s")
    lines = [
        "| classes | system | " + " | ".join(heads) + " |",
        "| --- | --- |" + " --- |" * len(heads),
    ]
    for types in TYPES:
        corpora = [sentences_like(types, length, count) for length in LENGTHS]
        for system, (encoder, decoder, samples) in SYSTEMS.items():
            tagger = tagger_for(config.replace(encoder=encoder, decoder=decoder), corpora[-1])
            tagger.num_samples = samples
            cells = []
            for corpus in corpora:
                tokens = [sentence.tokens for sentence in corpus]
                timing = timed(functools.partial(tag, tagger, tokens), repeats=repeats)
                cells.append(timing.rate(len(tokens)))
            count_of_tokens = sum(map(len, tokens))
            rate = max(samples, 1) * count_of_tokens * encoder_flops(tagger) / timing.median
            cells.append(f"{100 * rate / peak:.0f} %")
            lines.append(f"| {4 * types + 1} | {system} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
