"""The figures of a report, each as HTML: a chart, its caption, its alternative text."""

import html
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from uanet_tf.evaluation.evaluation import counted, plural
from uanet_tf.evaluation.svg_chart import Axis, Bar, Series, bar_chart, line_chart
from uanet_tf.metrics.answer_group import AnswerGroup
from uanet_tf.metrics.breakdown import Confusion, GroupScore
from uanet_tf.metrics.error_detection import Trust, risk_coverage
from uanet_tf.metrics.reliability import reliability
from uanet_tf.metrics.target_recall import Cost
from uanet_tf.metrics.threshold_sweep import SweepPoint

_Point = TypeVar("_Point")

_MOST_POINTS = 200  # of a curve
_PERCENT = Axis("", 0, 100)
_TOLD_COVERAGES = (20, 50, 80, 100)  # percent, of a curve's alternative text
_TOLD_GAMMAS = 5
_LEAST_POINTS = 5.0  # of a score's axis: in less, noise looks like a difference


def reliability_figure(name: str, group: AnswerGroup, scores: Trust) -> str:
    """Mean confidence of bins against the share that is right."""
    found = reliability(group.confidence, group.right)
    points = [(100 * a, 100 * b) for a, b in zip(found.confidence, found.right, strict=True)]
    caption = f"Reliability of {name}: ECE {100 * scores.ece:.2f} % of {scores.size:,}"
    told = ", ".join(f"{b:.0f} % right at {a:.0f} %" for a, b in points)
    chart = line_chart(
        f"{caption}. {told}.",
        Axis("confidence, %", 0, 100),
        Axis("right, %", 0, 100),
        [Series("", points, list(found.size / found.size.max()))],
        diagonal=True,
    )
    return figure(chart, caption)


def risk_figure(name: str, group: AnswerGroup, plain: AnswerGroup | None) -> str:
    """Share of wrong answers among the most confident ones."""
    series, areas, told = [], [], []
    for title, values in (("tagger", group), ("one pass", plain)):
        if values is not None:
            curve = risk_coverage(values.confidence, ~values.right)
            chosen = np.unique(np.linspace(0, len(curve.risk) - 1, _MOST_POINTS).astype(int))
            points = list(zip(100 * curve.coverage[chosen], 100 * curve.risk[chosen], strict=True))
            series.append(Series(title, points))
            areas.append(f"{title} {curve.area:.2f} %")
            shares = np.interp(_TOLD_COVERAGES, 100 * curve.coverage, 100 * curve.risk)
            wrong = ", ".join(
                f"{share:.1f} % at {taken} %"
                for taken, share in zip(_TOLD_COVERAGES, shares, strict=True)
            )
            told.append(f"Wrong of the answers taken, {title}: {wrong}.")
    caption = f"Risk-coverage of {name}, lower is better: AURC {', '.join(areas)}"
    top = max(value for each in series for _, value in each.points)
    chart = line_chart(
        f"{caption}. {' '.join(told)}",
        Axis("answers taken, %", 0, 100),
        Axis("of them wrong, %", 0, top or 1.0),
        series,
    )
    return figure(chart, caption)


def cost_figure(curve: Sequence[tuple[float, Cost]]) -> str:
    """The recall of what is shown, over what a person looks at for it."""
    points = sorted({(cost.per_entity, 100 * cost.recall) for _, cost in curve})
    told = ", ".join(f"{recall:.1f} % at {looked:.2f}" for looked, recall in _some(points))
    caption = "Entities shown, over what is looked at for each entity of the file"
    chart = line_chart(
        f"{caption}. {told}.",
        Axis("looked at, per entity", 0, max(looked for looked, _ in points) or 1.0),
        _score_axis("shown", [recall for _, recall in points]),
        [Series("", points)],
    )
    return figure(chart, caption)


def group_figure(caption: str, groups: Sequence[GroupScore], unit: str) -> str:
    """Bars of scores with 95 % intervals, and below the number of items: entity or token."""
    told = ", ".join(
        f"{each.name}: {each.score:.1f}, {each.low:.1f} to {each.high:.1f} "
        f"({counted(each.size, unit)})"
        for each in groups
    )
    bars = [Bar(each.name, each.score, f"{each.size:,}", each.low, each.high) for each in groups]
    chart = bar_chart(f"{caption}. {told}.", _PERCENT._replace(title="%"), bars)
    return figure(chart, f"{caption}; lines: 95 % intervals; below: {plural(unit)} in the file")


def gamma_figure(points: Sequence[SweepPoint], threshold: float, measure: str) -> str:
    """The score over Gamma."""
    best = max(points, key=lambda point: point.score)
    caption = (
        f"{measure} over Gamma, higher is better; draft and refined labels mixed without resolving "
        f"contradictions: the run's {threshold:g} is the line; best here {best.score:.2f} at "
        f"{best.threshold:g}"
    )
    told = ", ".join(f"{each.score:.2f} at {each.threshold:g}" for each in _some(points))
    chart = line_chart(
        f"{caption}. {measure}: {told}.",
        _gamma_axis(points),
        _score_axis(measure, [point.score for point in points]),
        [Series("", [(point.threshold, point.score) for point in points])],
        mark=threshold,
    )
    return figure(chart, caption)


def gamma_cost_figure(points: Sequence[SweepPoint], threshold: float) -> str:
    """What Gamma costs: how many tokens are refined."""
    refined = [(point.threshold, 100 * point.refined_fraction) for point in points]
    caption = "What Gamma costs: share of tokens that are refined; lower is faster"
    told = ", ".join(
        f"{100 * each.refined_fraction:.1f} % at {each.threshold:g}" for each in _some(points)
    )
    chart = line_chart(
        f"{caption}. Refined: {told}.",
        _gamma_axis(points),
        Axis("refined, %", 0, 100),
        [Series("", refined)],
        mark=threshold,
    )
    return figure(chart, caption)


def _gamma_axis(points: Sequence[SweepPoint]) -> Axis:
    return Axis("Gamma, nats", 0, max(point.threshold for point in points) or 1.0)


def _some(points: Sequence[_Point]) -> list[_Point]:
    """A few points over the whole range, for an alternative text."""
    places = np.unique(np.linspace(0, len(points) - 1, _TOLD_GAMMAS).astype(int))
    return [points[place] for place in places]


def samples_figure(rows: Sequence[tuple[int, float, float]], measure: str, sentences: int) -> str:
    """The score over M: rows of (M, score, sentences per second)."""
    told = ", ".join(
        f"M = {m}: {score:.2f} at {speed:,.0f} sentences/s" for m, score, speed in rows
    )
    of = "the first sentence" if sentences == 1 else f"the first {sentences:,} sentences"
    caption = (
        f"{measure} over M, {of}; higher is better. {told}. M = 0, one pass without dropout, is "
        "the baseline; M = 1 is one pass with dropout, a single draw"
    )
    chart = line_chart(
        caption,
        Axis("M, samples", 0, max(m for m, *_ in rows)),
        _score_axis(measure, [score for _, score, _ in rows]),
        [Series("", [(m, score) for m, score, _ in rows])],
    )
    return figure(chart, caption)


def _score_axis(measure: str, scores: Sequence[float]) -> Axis:
    """An axis of percent round all scores."""
    middle = (min(scores) + max(scores)) / 2
    half = max(_LEAST_POINTS / 2, (max(scores) - min(scores)) / 2 + 0.2)
    return Axis(f"{measure}, %", max(0.0, middle - half), min(100.0, middle + half))


def confusion_table(found: Confusion) -> str:
    """Rows: the file; columns: the tagger. Shaded by the share of the row; counts are written."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in found.names)
    body = []
    for name, counts in zip(found.names, found.counts, strict=True):
        total = sum(counts) or 1
        cells = "".join(
            f'<td style="background:rgba(236,112,20,{0.6 * count / total:.2f})">{count:,}</td>'
            if count
            else '<td class="soft">0</td>'
            for count in counts
        )
        body.append(f'<tr><th scope="row">{html.escape(name)}</th>{cells}</tr>')
    return (
        '<div class="scroll"><table class="numbers"><caption class="long">Tokens by label: rows '
        "are the file, columns the tagger; shaded by the share of the row</caption>"
        "<thead><tr><th>file</th>"
        f"{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column names its rows."""
    heads = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in head)
    lines = "".join(
        f'<tr><th scope="row">{html.escape(first)}</th>'
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="scroll"><table class="numbers"><caption>{html.escape(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def figure(chart: str, caption: str) -> str:
    """A chart with its caption."""
    return f"<figure>{chart}<figcaption>{html.escape(caption)}</figcaption></figure>"
