"""A small chart of lines as inline SVG, in the page's own colours, with an alternative text.

Colours come from the page's style sheet (classes ``s0``, ``s1``, ``axis``), so that charts follow a
dark page and print. Series differ by dashes and marks too, not only by colour.
"""

import html
import math
from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 330, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 40
_MARKS = 40  # a line of more points has no marks
_TOLD = 5  # points of a line in the alternative text


class Series(NamedTuple):
    """A line through points (x, y); ``name`` is for the legend, "": none.

    ``sizes`` are relative areas of the points' marks, in [0, 1]; None: all equal.
    """

    name: str
    points: Sequence[tuple[float, float]]
    sizes: Sequence[float] | None = None


class Axis(NamedTuple):
    """An axis: its title, and the range it shows."""

    title: str
    low: float
    high: float

    def share(self, value: float) -> float:
        """Where a value lies between the ends, 0 to 1."""
        return (value - self.low) / ((self.high - self.low) or 1.0)

    def ticks(self) -> list[float]:
        """Three to six round numbers within the axis."""
        width = (self.high - self.low) or 1.0
        unit = 10.0 ** math.floor(math.log10(width))
        steps = (unit / 5, unit / 2, unit, 2 * unit, 5 * unit)
        step = next(step for step in steps if width / step <= 5)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(number * step, 10) for number in range(first, last + 1)]


def line_chart(
    caption: str,
    x: Axis,
    y: Axis,
    series: Sequence[Series],
    *,
    diagonal: bool = False,
    mark: float | None = None,
) -> str:
    """A figure: a chart of one or two lines with its caption.

    Args:
      caption: also begins the alternative text, which goes on with some points of each line.
      diagonal: draw y = x too.
      mark: where to draw an upright line; None: nowhere.
    """
    parts = [_frame(x, y)]
    if diagonal:
        parts.append(_line([(x.low, y.low), (x.high, y.high)], x, y, "axis dashed"))
    if mark is not None and x.low <= mark <= x.high:
        parts.append(_line([(mark, y.low), (mark, y.high)], x, y, "axis dashed"))
    for number, (_, points, sizes) in enumerate(series):
        parts.append(_line(points, x, y, f"s{number}"))
        if len(points) <= _MARKS:
            parts += [
                f'<circle class="s{number}" cx="{_left(a, x):.1f}" cy="{_top(b, y):.1f}" '
                f'r="{1.5 + 6 * math.sqrt(share):.1f}"/>'
                for (a, b), share in zip(points, sizes or [0.15] * len(points), strict=True)
            ]
    told = " ".join(f"{name or y.title}: {_told(points)}." for name, points, _ in series)
    label = html.escape(f"{caption}. {y.title} at {x.title}: {told}", quote=True)
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
        f"<title>{label}</title>{''.join(parts)}</svg>{_legend(series)}"
        f"<figcaption>{html.escape(caption)}</figcaption></figure>"
    )


def _told(points: Sequence[tuple[float, float]]) -> str:
    """Points over the whole length of a line."""
    last = len(points) - 1
    places = sorted({round(last * step / (_TOLD - 1)) for step in range(_TOLD)})
    return ", ".join(f"{points[k][1]:.4g} at {points[k][0]:.4g}" for k in places)


def _legend(series: Sequence[Series]) -> str:
    keys = [
        f'<span><svg class="key" viewBox="0 0 24 8" aria-hidden="true">'
        f'<path class="s{number}" d="M0 4H24"/></svg> {html.escape(each.name)}</span>'
        for number, each in enumerate(series)
        if each.name
    ]
    return f'<div class="keys">{"".join(keys)}</div>' if keys else ""


def _line(points: Sequence[tuple[float, float]], x: Axis, y: Axis, name: str) -> str:
    places = " ".join(f"{_left(a, x):.1f},{_top(b, y):.1f}" for a, b in points)
    return f'<polyline class="{name}" points="{places}"/>'


def _left(value: float, axis: Axis) -> float:
    return _LEFT + axis.share(value) * (WIDTH - _LEFT - _RIGHT)


def _top(value: float, axis: Axis) -> float:
    return HEIGHT - _BOTTOM - axis.share(value) * (HEIGHT - _BOTTOM - _TOP)


def _frame(x: Axis, y: Axis) -> str:
    """Lines of the grid, numbers and titles of both axes."""
    low, middle = HEIGHT - _BOTTOM + 14, _TOP + (HEIGHT - _TOP - _BOTTOM) / 2
    parts = [_text(_left(value, x), low, f"{value:g}") for value in x.ticks()]
    for value in y.ticks():
        place = _top(value, y)
        parts += [
            f'<path class="grid" d="M{_LEFT} {place:.1f}H{WIDTH - _RIGHT}"/>',
            _text(_LEFT - 5, place + 3.5, f"{value:g}", "end"),
        ]
    parts.append(_text(_LEFT + (WIDTH - _LEFT - _RIGHT) / 2, HEIGHT - 8, x.title, name="soft"))
    upright = _text(0, 0, y.title, name="soft")
    return f'{"".join(parts)}<g transform="translate(11 {middle:.0f}) rotate(-90)">{upright}</g>'


def _text(x: float, y: float, text: str, anchor: str = "middle", name: str = "") -> str:
    place = f'class="{name}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text {place}>{html.escape(text)}</text>"
