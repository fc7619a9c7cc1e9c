"""How near the mean of M samples comes to that of very many, by how the masks are drawn.

    python -m benchmarks.samples --data=FILE [--sentences=500] [--gammas=0.35,0.8] RUN RUN ...

Independent masks, as in the paper, and balanced ones, which drop each unit equally often. Prints,
in Markdown, mean and standard deviation over the runs: the KL divergence from 256 independent
samples; of the tokens above Gamma in either, those above it in both; the mean mutual information
over that of the many. Each run is drawn three times.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from benchmarks.command_line import make_parser
from uanet_lite.columns_file import read_corpus
from uanet_lite.sentence import Sentence
from uanet_tf.data.batching import plan_batches
from uanet_tf.data.lookup import pad
from uanet_tf.models.drafter import token_mask
from uanet_tf.models.loading import load_model
from uanet_tf.models.nearness import divergence
from uanet_tf.models.sampling import encode_samples
from uanet_tf.ops.dropout import make_seed
from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.losses import mutual_information

COUNTS = (2, 4, 8, 16, 32)
DRAWS = 3
_MANY, _AT_ONCE = 256, 32
_BATCH_SENTENCES, _BATCH_TOKENS = 64, 4_096


class Drafts(NamedTuple):
    """P [N, C] of all tokens, and their mutual information [N], nats."""

    p: np.ndarray
    mutual_information: np.ndarray

    @property
    def uncertainty(self) -> np.ndarray:
        return -np.sum(self.p * np.log(np.maximum(self.p, 1e-30)), axis=-1)


def sampler(model: Any, sentences: Sequence[Sentence]) -> Callable[..., Drafts]:
    """What drafts the sentences by M samples: (M, a number of the draw, balanced) -> drafts."""
    drafter = model.drafter
    lengths = np.array([len(sentence.tokens) for sentence in sentences])
    plan = plan_batches(lengths, batch_size=_BATCH_SENTENCES, batch_tokens=_BATCH_TOKENS)
    batches = [pad([sentences[k].tokens for k in batch]) for batch in plan]

    def graph(count: int, balanced: bool) -> Callable[..., tuple[tf.Tensor, tf.Tensor]]:
        draw = drafter.encoder.sampling_masks if balanced else drafter.encoder.draw_masks

        @graph_function(
            [
                tf.TensorSpec([None, None], tf.string),
                tf.TensorSpec([None], tf.int32),
                tf.TensorSpec([2], tf.int32),
            ]
        )
        def run(tokens, lengths, seed):
            features = model.features({"tokens": tokens, "lengths": lengths})
            mask = token_mask(features)
            words = drafter.word_vectors(features).of_tokens()
            masks = draw(seed, count, words.shape[-1])
            states = encode_samples(drafter.encoder, words, mask, masks, count)
            samples = drafter.decoder.decide(states, mask).samples  # [M, B, T, C]
            parts = tf.reduce_mean(samples, axis=0), mutual_information(samples)
            return tuple(tf.boolean_mask(part, mask) for part in parts)

        return run

    graphs: dict[tuple[int, bool], Callable[..., tuple[tf.Tensor, tf.Tensor]]] = {}

    def drafts(count: int, number: int, *, balanced: bool) -> Drafts:
        run = graphs.setdefault((count, balanced), graph(count, balanced))
        parts = [run(batch["tokens"], batch["lengths"], make_seed(number)) for batch in batches]
        columns = zip(*parts, strict=True)
        return Drafts(*(np.concatenate([x.numpy() for x in column]) for column in columns))

    return drafts


def figures(
    model: Any, sentences: Sequence[Sentence], gammas: Sequence[float]
) -> Iterator[tuple[tuple[int, bool], np.ndarray]]:
    """Of each M and kind of masks the columns of ``table``, means over the draws."""
    drafts = sampler(model, sentences)
    parts = [drafts(_AT_ONCE, 1_000 + k, balanced=False) for k in range(_MANY // _AT_ONCE)]
    many = Drafts(*(np.mean(part, axis=0, dtype=np.float64) for part in zip(*parts, strict=True)))
    for count in COUNTS:
        for balanced in (False, True):
            rows = []
            for number in range(DRAWS):
                few = drafts(count, number, balanced=balanced)
                rows.append(
                    [
                        1e3 * divergence(many.p, few.p),
                        *(equal_gates(many, few, gamma) for gamma in gammas),
                        100 * few.mutual_information.mean() / many.mutual_information.mean(),
                    ]
                )
            yield (count, balanced), np.mean(rows, axis=0)


def equal_gates(one: Drafts, other: Drafts, gamma: float) -> float:
    """Of the tokens above ``gamma`` in either, the share above it in both, percent."""
    above = one.uncertainty > gamma, other.uncertainty > gamma
    either = np.count_nonzero(above[0] | above[1])
    return 100 * np.count_nonzero(above[0] & above[1]) / either if either else 100.0


def table(
    run_dirs: Sequence[str], data: str, *, most: int = 500, gammas: Sequence[float] = (0.35, 0.8)
) -> str:
    """A Markdown table."""
    found: dict[tuple[int, bool], list[np.ndarray]] = {}
    for run_dir in run_dirs:
        model = load_model(run_dir)
        columns = model.settings.data
        sentences = read_corpus(
            data, token_column=columns.token_column, label_column=columns.label_column
        )[:most]
        for row, values in figures(model, sentences, gammas):
            found.setdefault(row, []).append(values)
    gates = [f"gates as by the many at {gamma:g}, %" for gamma in gammas]
    heads = ["M", "masks", "KL x 1e-3", *gates, "mutual information, %"]
    lines = ["| " + " | ".join(heads) + " |", "| --- " * len(heads) + "|"]
    for (count, balanced), of_runs in found.items():
        mean = np.mean(of_runs, axis=0)
        deviation = np.std(of_runs, axis=0, ddof=1) if len(of_runs) > 1 else np.zeros_like(mean)
        cells = [f"{mean[0]:.2f} ± {deviation[0]:.2f}"]
        cells += [f"{m:.1f} ± {d:.1f}" for m, d in zip(mean[1:], deviation[1:], strict=True)]
        kind = "balanced" if balanced else "independent"
        lines.append("| " + " | ".join([str(count), kind, *cells]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Prints the table."""
    parser = make_parser("samples", __doc__)
    parser.add_argument("run_dirs", nargs="+", metavar="RUN")
    parser.add_argument("--data", required=True, metavar="FILE")
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--gammas", default="0.35,0.8")
    given = parser.parse_args()
    gammas = [float(gamma) for gamma in given.gammas.split(",")]
    text = table(given.run_dirs, given.data, most=given.sentences, gammas=gammas)
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
