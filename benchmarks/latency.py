"""Latency of a request, as a server sees it: the exported ``serving_default``, batch of 1.

    python -m benchmarks.latency --run_dir=RUN --data=FILE [--baseline=RUN]... [--tokens=20]
        [--batch=1]

Each row is a SavedModel of a run: exact and, where a head was trained, distilled sampling; then
the baselines. All rows answer each request in turn, so that ratios compare calls under the same
load.
"""

import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.command_line import make_parser

Batch = Sequence[Sequence[str]]
Call = Callable[[Batch], None]


def table(
    run_dir: str,
    data: str,
    *,
    baselines: Sequence[str] = (),
    tokens: int = 20,
    batch: int = 1,
    repeats: int = 5,
) -> str:
    """Milliseconds per request (p50, p95) and their ratio to the last row's, as Markdown.

    Args:
      run_dir: a trained run.
      data: CoNLL file; its sentences of at least ``tokens`` tokens are cut to that length.
      baselines: other runs to compare with.
      tokens: length of the sentences.
      batch: sentences in a request.
      repeats: rounds over all requests and rows.
    """
    from benchmarks.measure import matmul_rate
    from uanet_lite.columns_file import read_corpus

    sentences = [
        list(sentence.tokens[:tokens])
        for sentence in read_corpus(data)
        if len(sentence.tokens) >= tokens
    ]
    batches = [sentences[k : k + batch] for k in range(0, len(sentences) - batch + 1, batch)]
    with tempfile.TemporaryDirectory() as folder:
        calls = _calls(run_dir, baselines, pathlib.Path(folder))
        peak = matmul_rate()
        seconds = _timed_in_turn(calls, batches, repeats)
    header = (
        f"{len(batches):,} requests of {batch} sentences of {tokens} tokens, {repeats} rounds, the "
        f"range of their medians in brackets; large matrix product {peak / 1e9:.0f} GFLOP/s "
        f"before, {matmul_rate() / 1e9:.0f} after.\n\n"
    )
    last = list(calls)[-1]
    lines = [f"| serving_default | p50, ms | p95, ms | p50 over {last} |", "| --- " * 4 + "|"]
    for name, times in seconds.items():
        half, most = 1000 * np.percentile(times, (50, 95))
        rounds = 1000 * np.median(np.reshape(times, [repeats, -1]), axis=1)
        ratio = np.median(times) / np.median(seconds[last])
        spread = f"({rounds.min():.2f} to {rounds.max():.2f})"
        lines.append(f"| {name} | {half:.2f} {spread} | {most:.2f} | {ratio:.2f} |")
    return header + "\n".join(lines)


def _calls(run_dir: str, baselines: Sequence[str], folder: pathlib.Path) -> dict[str, Call]:
    import uanet_tf
    from uanet_tf.evaluation.evaluation import has_trained_head

    ways = [(run_dir, "exact", "exact")]
    if has_trained_head(uanet_tf.load_model(run_dir)):
        ways.append((run_dir, "distilled", "distilled"))
    for baseline in baselines:
        decoder = uanet_tf.load_model(baseline).settings.decoder.decoder
        ways.append((baseline, "exact", f"baseline: {decoder}"))
    return {name: _exported(path, way, folder / str(k)) for k, (path, way, name) in enumerate(ways)}


def _exported(run_dir: str, sampling: str, folder: pathlib.Path) -> Call:
    """A call of the run's exported model."""
    import tensorflow as tf

    from uanet_tf.exporting.saved_model import load_for_export, save_tokens
    from uanet_tf.exporting.signatures import DEFAULT, Signatures

    model = load_for_export(run_dir, sampling=sampling)
    if model.gate is not None:
        model.refine_all = True  # the longest that a request takes
    save_tokens(Signatures(model), folder, only=[DEFAULT])
    loaded = tf.saved_model.load(str(folder))

    def call(batch: Batch) -> None:
        answer = loaded.signatures[DEFAULT](
            tokens=tf.constant(batch), lengths=tf.constant([len(words) for words in batch])
        )
        answer["labels"].numpy()

    return call


def _timed_in_turn(
    calls: dict[str, Call], batches: Sequence[Batch], repeats: int
) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        for batch in batches[:20]:
            call(batch)
    for _ in range(repeats):
        for batch in batches:
            for name, call in calls.items():
                start = time.perf_counter()
                call(batch)
                seconds[name].append(time.perf_counter() - start)
    return seconds


def main() -> None:
    """Prints the table."""
    parser = make_parser("latency", __doc__)
    parser.add_argument("--run_dir", required=True)
    parser.add_argument("--data", required=True, metavar="FILE")
    parser.add_argument("--baseline", action="append", default=[], metavar="RUN")
    parser.add_argument("--tokens", type=int, default=20)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    sys.stdout.write(
        table(
            given.run_dir,
            given.data,
            baselines=given.baseline,
            tokens=given.tokens,
            batch=given.batch,
            repeats=given.repeats,
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
