"""Runs the benchmarks and writes runs/benchmarks.md and its figures: `make bench`.

Everything is generated or trained here; the machine is named and its large-matmul rate is measured
in the same run. `--quick` gives a first impression, not figures to publish. With
--trained=NAME:RUN:FILE[:BASELINE_RUN], which may be repeated, the same tables are made of runs of
yours on a labelled file.
"""

import argparse
import datetime
import pathlib
import sys
from collections.abc import Iterator

from benchmarks.command_line import make_parser
from benchmarks.systems import ROOT, recipe

RECIPES = ("uanet", "uanet_fast")


def main() -> None:
    """Runs every benchmark and writes the page."""
    parser = make_parser("run_all", __doc__)
    parser.add_argument("--quick", action="store_true", help="few sentences, few repeats")
    parser.add_argument(
        "--memory", action="store_true", help="memory of 10,000 long sentences, not of 100: 16 min"
    )
    parser.add_argument("--out", default=str(ROOT / "runs" / "benchmarks.md"))
    parser.add_argument("--trained", action="append", default=[], metavar="NAME:RUN:FILE[:RUN]")
    arguments = parser.parse_args()
    own = [_own(parser, text) for text in arguments.trained]
    from benchmarks import measure

    out = pathlib.Path(arguments.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    before = measure.matmul_rate()
    parts = []
    for part in _sections(arguments.quick, own, out.parent / "figures", arguments.memory):
        parts.append(part)
        sys.stderr.write(f"{datetime.datetime.now():%H:%M:%S} {part.splitlines()[0]}\n")
    after = measure.matmul_rate()
    head = (
        f"`make bench` on {measure.device_name()}, {datetime.date.today()}. Medians of the "
        "repeats, with the range in brackets. Large float32 matrix product in the same run: "
        f"{before / 1e9:.0f} GFLOP/s before, {after / 1e9:.0f} after. docs/lab/speed.md has the "
        "figures of a release and says how to read them."
    )
    text = "\n\n".join(["# Benchmarks", head, *parts]) + "\n"
    out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def _sections(
    quick: bool, own: list[tuple[str, list[str]]], figures: pathlib.Path, memory: bool
) -> Iterator[str]:
    from benchmarks import (
        decoding,
        inference,
        measure,
        models,
        resources,
        scaling,
        stages,
        sweeps,
        trained,
        training,
    )

    count, repeats = (128, 2) if quick else (800, 5)
    recipes = {name: recipe(name) for name in RECIPES}
    fast, device = recipes["uanet_fast"], measure.device_name()

    # First: later it would share the process with all that the other sections leave.
    yield "## Training"
    yield training.table(recipes, count=count, repeats=repeats)

    yield (
        "## Trained models\n\nNaive: the whole model run M times, each token represented by "
        "itself, everything refined, sentences in the order of the file, ten at a time "
        "(benchmarks/naive.py). In batches of ten: the exact tagger, fed like that, everything "
        "refined. All others: `uanet_tf.tag`."
    )
    corpora = [models.sample_corpus(), models.uniform_corpus(4, 13), models.uniform_corpus(18, 24)]
    tables = [(c.title, [c.run_dir, c.data, c.baseline]) for c in corpora]
    for title, (run_dir, data, *rest) in tables + own:
        yield f"### {title}"
        yield trained.table(run_dir, data, baselines=rest, repeats=2 if quick else 7)

    yield (
        "## Systems (Table 6 of the paper)\n\nSentences per second, untrained weights: with them "
        "nearly every token is above Gamma, so that UANet refines all. Same word representation "
        "and encoder width, configs/uanet_fast.flags."
    )
    yield inference.table(fast, count=count, repeats=repeats)

    yield (
        "## Decoding without the encoder (Figure 3 of the paper)\n\nSentences per second, 17 "
        f"classes, batches of {decoding.BATCH}."
    )
    points = decoding.measure(fast, repeats=3 if quick else 20)
    yield decoding.table(points)
    decoding.plot(points, figures / "decoding.svg", device)
    yield (
        "![Sentences decoded per second by tokens per sentence: CRF fastest, then refine and "
        "gate; all fall with length, as in the table above](figures/decoding.svg)"
    )

    yield "## Gamma and M (Figure 4 of the paper)"
    sweeps_of = [("sample", corpora[0].run_dir, corpora[0].data)]
    sweeps_of += [(name, run, data) for name, (run, data, *_) in own]
    for name, run_dir, data in sweeps_of:
        found = sweeps.sweep(run_dir, data)
        sweeps.plot(found, figures, name)
        yield f"### {name}"
        yield found.tables
        yield sweeps.pictures(found, name)

    yield "## Stages of exact tagging"
    yield stages.table(fast, repeats=3 if quick else 15)

    yield "## Growth"
    growth = scaling.measure(
        fast, repeats=1 if quick else 3, counts=scaling.COUNTS[: 2 if quick else None]
    )
    yield scaling.table(growth)
    scaling.plot(growth, figures, device)
    yield (
        "![Seconds by number of sentences, close to a straight line through the table above]"
        "(figures/scaling_sentences.svg) ![Milliseconds per sentence by its tokens, rising a "
        "little faster than the length](figures/scaling_length.svg)"
    )

    yield "## Memory and start-up"
    run_dir = own[-1][1][0] if own else corpora[1].run_dir
    yield resources.table(run_dir, count=resources.COUNT if memory else 100)


def _own(parser: argparse.ArgumentParser, text: str) -> tuple[str, list[str]]:
    name, *paths = text.split(":")
    if len(paths) not in (2, 3):
        parser.error(f"--trained must be NAME:RUN:FILE or NAME:RUN:FILE:RUN. Received: {text}")
    for path in paths:
        if not pathlib.Path(path).exists():
            parser.error(f"--trained: there is no {path}.")
    return name, paths


if __name__ == "__main__":
    main()
