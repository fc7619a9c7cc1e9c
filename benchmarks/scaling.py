"""How tagging time grows: with the number of sentences, and with the length of one."""

import dataclasses
import functools
import pathlib
from collections.abc import Sequence

from benchmarks.measure import Timing, timed
from benchmarks.plots import Curve, draw
from benchmarks.systems import sentences_like, tagger_for
from uanet_tf.config import Config
from uanet_tf.tagging.streams import tag

COUNTS = (100, 300, 1000, 3000, 10_000)
COUNTED_LENGTH = 13
LENGTHS = (8, 16, 32, 64, 128, 256, 512)
TOKENS = 32_768


@dataclasses.dataclass(frozen=True)
class Scaling:
    """Times by number of sentences, and by length at an equal number of tokens."""

    by_count: dict[int, Timing]
    by_length: dict[int, Timing]


def measure(config: Config, *, repeats: int = 3, counts: Sequence[int] = COUNTS) -> Scaling:
    """Times tagging of more and of longer sentences.

    Args:
      config: sizes of the layers.
      repeats: timed runs of each.
      counts: numbers of sentences.
    """
    sentences = sentences_like(4, COUNTED_LENGTH, max(counts))
    tagger = tagger_for(config, sentences)

    def time(tokens: list[Sequence[str]]) -> Timing:
        return timed(functools.partial(tag, tagger, tokens), repeats=repeats)

    words = [word for sentence in sentences for word in sentence.tokens]
    words *= 1 + TOKENS // len(words)
    by_count = {n: time([s.tokens for s in sentences[:n]]) for n in counts}
    by_length = {length: time(_of_length(words, length)) for length in LENGTHS}
    return Scaling(by_count, by_length)


def _of_length(words: Sequence[str], length: int) -> list[Sequence[str]]:
    return [words[start : start + length] for start in range(0, TOKENS, length)]


def table(scaling: Scaling) -> str:
    """Both, as Markdown tables."""
    lines = ["| sentences | seconds | sentences/s |", "| --- | --- | --- |"]
    for count, timing in scaling.by_count.items():
        lines.append(f"| {count:,} | {timing.median:.2f} | {count / timing.median:,.0f} |")
    lines += ["", "| tokens per sentence | sentences | tokens/s |", "| --- | --- | --- |"]
    for length, timing in scaling.by_length.items():
        lines.append(f"| {length} | {TOKENS // length:,} | {timing.rate(TOKENS)} |")
    return "\n".join(lines)


def plot(scaling: Scaling, folder: pathlib.Path, device: str) -> None:
    """Writes scaling_sentences.svg and scaling_length.svg, with the range over the repeats."""
    draw(
        folder / "scaling_sentences.svg",
        {"UANet, M = 8": _curve({count: (t, 1.0) for count, t in scaling.by_count.items()})},
        x="sentences",
        y="seconds",
        title=f"Tagging {COUNTED_LENGTH} tokens per sentence, {device}",
    )
    milliseconds = {n: (t, 1e3 / (TOKENS // n)) for n, t in scaling.by_length.items()}
    draw(
        folder / "scaling_length.svg",
        {"UANet, M = 8": _curve(milliseconds)},
        x="tokens per sentence",
        y="milliseconds per sentence",
        title=f"Tagging by sentence length, {device}",
    )


def _curve(points: dict[int, tuple[Timing, float]]) -> Curve:
    """By place: a timing and what its seconds are multiplied with."""
    values = [(t.median * k, t.fastest * k, t.slowest * k) for t, k in points.values()]
    return Curve(list(points), *map(list, zip(*values, strict=True)))
