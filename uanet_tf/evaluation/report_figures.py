"""The figures and tables of a report as HTML, each with its caption."""

import html
from collections.abc import Sequence

import numpy as np

from uanet_tf.evaluation.svg_chart import Axis, Series, line_chart
from uanet_tf.metrics.answer_group import AnswerGroup
from uanet_tf.metrics.breakdown import Confusion
from uanet_tf.metrics.error_detection import Trust, risk_coverage
from uanet_tf.metrics.reliability import reliability
from uanet_tf.metrics.target_recall import Cost
from uanet_tf.metrics.threshold_sweep import SweepPoint

_MOST_POINTS = 200  # of a curve
_LEAST_POINTS = 5.0  # of a score's axis: in less, noise looks like a difference


def reliability_figure(name: str, group: AnswerGroup, scores: Trust) -> str:
    """Mean confidence of bins against the share that is right."""
    found = reliability(group.confidence, group.right)
    points = list(zip(100 * found.confidence, 100 * found.right, strict=True))
    return line_chart(
        f"Reliability of {name}: ECE {100 * scores.ece:.2f} % of {scores.size:,}",
        Axis("confidence, %", 0, 100),
        Axis("right, %", 0, 100),
        [Series("", points, list(found.size / found.size.max()))],
        diagonal=True,
    )


def risk_figure(name: str, group: AnswerGroup, plain: AnswerGroup | None) -> str:
    """Share of wrong answers among the most confident ones."""
    series, areas = [], []
    for title, values in (("tagger", group), ("one pass", plain)):
        if values is not None:
            curve = risk_coverage(values.confidence, ~values.right)
            chosen = np.unique(np.linspace(0, len(curve.risk) - 1, _MOST_POINTS).astype(int))
            points = list(zip(100 * curve.coverage[chosen], 100 * curve.risk[chosen], strict=True))
            series.append(Series(title, points))
            areas.append(f"{title} {curve.area:.2f} %")
    top = max(value for each in series for _, value in each.points)
    return line_chart(
        f"Risk-coverage of {name}, lower is better: AURC {', '.join(areas)}",
        Axis("answers taken, %", 0, 100),
        Axis("of them wrong, %", 0, top or 1.0),
        series,
    )


def cost_figure(curve: Sequence[tuple[float, Cost]]) -> str:
    """The recall of what is shown, over what a person looks at for it."""
    points = sorted({(cost.per_entity, 100 * cost.recall) for _, cost in curve})
    return line_chart(
        "Entities shown, over what is looked at for each entity of the file",
        Axis("looked at, per entity", 0, max(looked for looked, _ in points) or 1.0),
        score_axis("shown", [recall for _, recall in points]),
        [Series("", points)],
    )


def gamma_figure(points: Sequence[SweepPoint], threshold: float, measure: str) -> str:
    """The score over Gamma."""
    best = max(points, key=lambda point: point.score)
    return line_chart(
        f"{measure} over Gamma, higher is better; draft and refined labels mixed without resolving "
        f"contradictions: the run's {threshold:g} is the line; best here {best.score:.2f} at "
        f"{best.threshold:g}",
        _gamma_axis(points),
        score_axis(measure, [point.score for point in points]),
        [Series("", [(point.threshold, point.score) for point in points])],
        mark=threshold,
    )


def gamma_cost_figure(points: Sequence[SweepPoint], threshold: float) -> str:
    """What Gamma costs: how many tokens are refined."""
    return line_chart(
        "What Gamma costs: share of tokens that are refined; lower is faster",
        _gamma_axis(points),
        Axis("refined, %", 0, 100),
        [Series("", [(point.threshold, 100 * point.refined_fraction) for point in points])],
        mark=threshold,
    )


def _gamma_axis(points: Sequence[SweepPoint]) -> Axis:
    return Axis("Gamma, nats", 0, max(point.threshold for point in points) or 1.0)


def score_axis(measure: str, scores: Sequence[float]) -> Axis:
    """An axis of percent round all scores."""
    middle = (min(scores) + max(scores)) / 2
    half = max(_LEAST_POINTS / 2, (max(scores) - min(scores)) / 2 + 0.2)
    return Axis(f"{measure}, %", max(0.0, middle - half), min(100.0, middle + half))


def confusion_table(found: Confusion) -> str:
    """Rows: the file; columns: the tagger. Shaded by the share of the row; counts are written."""
    caption = (
        '<caption class="long">Tokens by label: rows are the file, columns the tagger; shaded by '
        "the share of the row</caption>"
    )
    rows = []
    for name, counts in zip(found.names, found.counts, strict=True):
        total = sum(counts) or 1
        cells = (
            f'<td style="background:rgba(236,112,20,{0.6 * count / total:.2f})">{count:,}</td>'
            if count
            else '<td class="soft">0</td>'
            for count in counts
        )
        rows.append([name, *cells])
    return _table(caption, ["file", *found.names], rows)


def table(caption: str, rows: Sequence[Sequence[str]]) -> str:
    """A table whose first row and first column are names."""
    head, *others = rows
    cells = [[name, *(f"<td>{html.escape(cell)}</td>" for cell in row)] for name, *row in others]
    return _table(f"<caption>{html.escape(caption)}</caption>", head, cells)


def _table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    heads = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in head)
    lines = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>{"".join(cells)}</tr>'
        for name, *cells in rows
    )
    return (
        f'<div class="scroll"><table class="numbers">{caption}<thead><tr>{heads}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )
