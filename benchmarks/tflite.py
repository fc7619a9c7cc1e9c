"""Size, time and agreement of the TensorFlow Lite files of a trained run, one sentence at a time.

    python -m benchmarks.tflite --run_dir=RUN --data=FILE [--repeats=5] [--sentences=300]
        [--tokens=20]

For exact sampling and, where the run has a trained head, for one pass. Rows are timed in turn, so
that they are compared under the same load: time of the processor (all threads together) and of the
clock, per sentence. Tokens are looked up beforehand for all rows but the Keras models', which do so
themselves.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.command_line import make_parser

# {row: (seconds of the processor, seconds of the clock), one of each a round}
Times = dict[str, tuple[list[float], list[float]]]


def table(
    run_dir: str,
    data: str,
    *,
    repeats: int = 5,
    most: int = 300,
    tokens: int | None = None,
) -> str:
    """A Markdown table, and how many times as fast one pass is.

    Args:
      run_dir: a trained run.
      data: CoNLL file, of which sentences are tagged.
      repeats: timed rounds over all rows.
      most: sentences taken.
      tokens: length of the sentences: longer ones are cut to it, shorter ones are left out. None:
        all, as they are.
    """
    import uanet_tf
    from benchmarks.measure import matmul_rate
    from uanet_lite.columns_file import read_corpus
    from uanet_lite.lite_tagger import Tagger
    from uanet_tf.evaluation.evaluation import has_trained_head
    from uanet_tf.exporting.tflite.tflite_export import compare, export_tflite

    sentences = [
        list(s.tokens[: tokens or None])
        for s in read_corpus(data)
        if len(s.tokens) >= (tokens or 1)
    ]
    sentences = sentences[:most]
    if not sentences:
        sys.exit(f"{data} has no sentence of at least {tokens or 1} tokens.")
    rows: dict[str, Callable[[], None]] = {}
    others = {}
    ways = ["exact"]
    if has_trained_head(uanet_tf.load_model(run_dir)):
        ways.append("distilled")
    with tempfile.TemporaryDirectory() as folder:
        for way in ways:
            model = uanet_tf.load_model(run_dir)
            model.sampling = way
            rows[f"{way}, Keras"] = _keras(model, sentences)
            others[f"{way}, Keras"] = ["", "", "", ""]
            for file in export_tflite(run_dir, folder, name=way, quantize=True, sampling=way):
                tagger = Tagger(file.path)
                name = f"{way}, {file.precision}"
                rows[name] = _tflite(tagger, sentences)
                agreement = compare(model, tagger, sentences)
                others[name] = [
                    f"{file.path.stat().st_size / 1e6:.2f}",
                    f"{100 * agreement.same:.2f}",
                    f"{100 * agreement.same_where_refined:.2f}",
                    f"{agreement.uncertainty_error:.1g}",
                ]
        peak = matmul_rate()
        seconds = _timed_in_turn(rows, repeats)
    lines = [
        f"Large matrix product {peak / 1e9:.0f} GFLOP/s before, {matmul_rate() / 1e9:.0f} after.",
        "",
        "| model | ms of processor | ms | MB | labels as Keras, % | of refined tokens, % "
        "| uncertainty within, nats |",
        "| --- " * 7 + "|",
    ]
    for name, times in seconds.items():
        cells = [_milliseconds(each, len(sentences)) for each in times]
        lines.append("| " + " | ".join([name, *cells, *others[name]]) + " |")
    return "\n".join([*lines, "", *_gains(seconds)])


def _gains(seconds: Times) -> list[str]:
    """How many times as fast one pass is, for each kind of file: the median over the rounds."""
    lines = []
    for name, (_, clock) in seconds.items():
        way, kind = name.split(", ")
        if way == "distilled":
            rounds = [
                one / two for one, two in zip(seconds[f"exact, {kind}"][1], clock, strict=True)
            ]
            half, low, high = statistics.median(rounds), min(rounds), max(rounds)
            lines.append(f"{kind}: {half:.2f} ({low:.2f} to {high:.2f}) times as fast in one pass.")
    return lines


def _milliseconds(seconds: Sequence[float], sentences: int) -> str:
    """Median and range of the rounds, per sentence."""
    low, half, high = (1000 * each(seconds) / sentences for each in (min, statistics.median, max))
    return f"{half:.2f} ({low:.2f} to {high:.2f})"


def _keras(model, sentences: Sequence[list[str]]) -> Callable[[], None]:
    batches = [(np.array([s], object), np.array([len(s)], np.int32)) for s in sentences]

    def run() -> None:
        for batch in batches:
            model.tag_batch(*batch)

    return run


def _tflite(tagger, sentences: Sequence[list[str]]) -> Callable[[], None]:
    batches = [[ids[np.newaxis] for ids in tagger.ids(s)] for s in sentences]

    def run() -> None:
        for batch in batches:
            tagger.run(*batch)

    return run


def _timed_in_turn(rows: dict[str, Callable[[], None]], repeats: int) -> Times:
    seconds: Times = {name: ([], []) for name in rows}
    for run in rows.values():
        run()
    for _ in range(repeats):
        for name, run in rows.items():
            processor, clock = time.process_time(), time.perf_counter()
            run()
            seconds[name][0].append(time.process_time() - processor)
            seconds[name][1].append(time.perf_counter() - clock)
    return seconds


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = make_parser("tflite", __doc__)
    parser.add_argument("--run_dir", required=True)
    parser.add_argument("--data", required=True, help="CoNLL file")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--tokens", type=int, help="length of the sentences (default or 0: any)")
    options = parser.parse_args(argv)
    sys.stdout.write(
        table(
            options.run_dir,
            options.data,
            repeats=options.repeats,
            most=options.sentences,
            tokens=options.tokens,
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
