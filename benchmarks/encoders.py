"""Time and memory of pretrained encoders by type, at their usual sizes, with random weights.

    python -m benchmarks.encoders [--length=32] [--sentences=16] [--repeats=5]

Each encoder reads the same rows of sub-words, in a process of its own, beside MiniLM-L6, so that
ratios compare runs under the same load: one pass without dropout (tagging), and one with gradients
of all weights but no update (training). Memory is the most that the process ever took.
"""

import multiprocessing
import resource
import sys
from typing import Any, NamedTuple

from benchmarks.command_line import make_parser

_BASE = {
    "vocabulary_size": 30_522,
    "width": 768,
    "num_layers": 12,
    "num_heads": 12,
    "feedforward_width": 3_072,
    "max_positions": 512,
}
_MINILM = {"width": 384, "num_layers": 6, "feedforward_width": 1_536}
# Fields of an ``Architecture`` that differ from BERT's.
SIZES: dict[str, dict[str, Any]] = {
    "MiniLM-L6": _MINILM,
    "DistilBERT": {"num_layers": 6},
    "BERT": {},
    "RoBERTa": {"vocabulary_size": 50_265},
    "ModernBERT": {
        "vocabulary_size": 50_368,
        "num_layers": 22,
        "feedforward_width": 1_152,
        "max_positions": 8_192,
        "positions": "rotary",
        "normed_first": True,
        "gated": True,
        "biases": False,
        "reach": 64,
        "global_every": 3,
    },
    "ALBERT": {"vocabulary_size": 30_000, "embedding_width": 128, "groups": 1},
    "DeBERTa v3": {"vocabulary_size": 128_100, "positions": "relative", "buckets": 256},
    "XLM-R": {"vocabulary_size": 250_002},
}


class Cost(NamedTuple):
    """What one encoder costs.

    Attributes:
      megabytes: of its weights.
      tagging, training: times those of MiniLM-L6.
      gigabytes: the most memory of the process after a pass, and after gradients.
    """

    megabytes: float
    tagging: float
    training: float
    gigabytes: tuple[float, float]


def cost_of(name: str, *, length: int, sentences: int, repeats: int) -> Cost:
    """Builds, and times, an encoder; for a process of its own."""
    import tensorflow as tf

    from benchmarks.measure import interleaved
    from uanet_tf.data.encoder_spec import Architecture
    from uanet_tf.ops.graphs import graph_function
    from uanet_tf.representation.transformer.transformer_encoder import TransformerEncoder

    def runs_of(sizes):
        encoder = TransformerEncoder(Architecture(**{**_BASE, **sizes}))
        ids = tf.random.stateless_uniform(
            [sentences, length], [1, 2], 1, encoder.architecture.vocabulary_size, tf.int32
        )
        mask = tf.ones_like(ids, tf.bool)
        encoder(ids, mask)
        weights = encoder.trainable_variables

        def train():
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(encoder(ids, mask, dropout_seed=tf.constant([1, 2])))
            grads = tape.gradient(loss, weights)
            return tf.add_n([tf.reduce_sum(g.values if hasattr(g, "values") else g) for g in grads])

        plain = graph_function()(lambda: tf.reduce_sum(encoder(ids, mask)))
        with_gradients = graph_function()(train)
        size = sum(4 * tf.size(w).numpy() for w in weights) / 1e6
        return size, lambda: plain().numpy(), lambda: with_gradients().numpy()

    def most() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6

    size, plain, with_gradients = runs_of(SIZES[name])
    plain()
    after_a_pass = most()
    with_gradients()
    after_gradients = most()
    _, small_plain, small_gradients = runs_of(_MINILM)
    tagging = interleaved({"this": plain, "small": small_plain}, repeats=repeats)
    training = interleaved({"this": with_gradients, "small": small_gradients}, repeats=repeats)
    ratios = [each["this"].median / each["small"].median for each in (tagging, training)]
    return Cost(size, ratios[0], ratios[1], (after_a_pass, after_gradients))


def table(*, length: int, sentences: int, repeats: int) -> str:
    """The costs of all types, as Markdown."""
    lines = [
        "| | weights | tagging | training | memory of tagging, training |",
        "| --- | --- | --- | --- | --- |",
    ]
    options = {"length": length, "sentences": sentences, "repeats": repeats}
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for name in SIZES:
            cost = pool.apply(cost_of, (name,), options)
            lines.append(
                f"| {name} | {cost.megabytes:.0f} MB | {cost.tagging:.1f} | {cost.training:.1f} "
                f"| {cost.gigabytes[0]:.1f}, {cost.gigabytes[1]:.1f} GB |"
            )
    return "\n".join(lines)


def main() -> None:
    """Prints the table."""
    parser = make_parser("encoders", __doc__)
    parser.add_argument("--length", type=int, default=32, help="Sub-words of each row.")
    parser.add_argument("--sentences", type=int, default=16, help="Rows.")
    parser.add_argument("--repeats", type=int, default=5, help="Timed rounds.")
    given = parser.parse_args()
    text = table(length=given.length, sentences=given.sentences, repeats=given.repeats)
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
