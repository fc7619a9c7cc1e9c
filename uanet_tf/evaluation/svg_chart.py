"""Small charts as inline SVG: lines and bars in the page's own colours, with an alternative text.

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


class Series(NamedTuple):
    """A line.

    Attributes:
      name: for the legend; "": none.
      points: (x, y).
      sizes: relative area of each point's mark, in [0, 1]; None: all equal.
    """

    name: str
    points: Sequence[tuple[float, float]]
    sizes: Sequence[float] | None = None


class Axis(NamedTuple):
    """An axis: its title, and the range it shows."""

    title: str
    low: float
    high: float


def line_chart(
    about: str,
    x: Axis,
    y: Axis,
    series: Sequence[Series],
    *,
    diagonal: bool = False,
    mark: float | None = None,
) -> str:
    """A chart of lines.

    Args:
      about: the alternative text.
      x: horizontal axis.
      y: vertical axis.
      series: lines, at most three.
      diagonal: draw y = x too.
      mark: an x at which a vertical line stands.
    """
    low = HEIGHT - _BOTTOM + 14
    ticks = [_text(_x(value, x), low, f"{value:g}", "middle") for value in _ticks(x)]
    parts = [_grid(y), *ticks, _titles(x, y)]
    if diagonal:
        parts.append(_path([(x.low, y.low), (x.high, y.high)], x, y, "axis dashed"))
    if mark is not None and x.low <= mark <= x.high:
        parts.append(_path([(mark, y.low), (mark, y.high)], x, y, "axis dashed"))
    for number, (_, points, sizes) in enumerate(series):
        parts.append(_path(points, x, y, f"s{number}"))
        if len(points) <= _MARKS:
            shares = sizes or [0.15] * len(points)
            parts += [
                f'<circle class="s{number}" cx="{_x(a, x):.1f}" cy="{_y(b, y):.1f}" '
                f'r="{1.5 + 6 * math.sqrt(share):.1f}"/>'
                for (a, b), share in zip(points, shares, strict=True)
            ]
    return _svg(about, parts) + _legend([name for name, *_ in series])


class Bar(NamedTuple):
    """A bar: the name and a note below it, its height, the ends of the interval on it."""

    name: str
    height: float
    note: str
    low: float
    high: float


def bar_chart(about: str, y: Axis, bars: Sequence[Bar]) -> str:
    """A chart of bars with intervals."""
    parts = [_grid(y), _titles(Axis("", 0, 1), y)]
    step = (WIDTH - _LEFT - _RIGHT) / max(1, len(bars))
    for index, (name, height, note, low, high) in enumerate(bars):
        left = _LEFT + index * step + 0.15 * step
        top = _y(height, y)
        middle = left + 0.35 * step
        ends = [_y(low, y), _y(high, y)]
        parts += [
            f'<rect class="bar" x="{left:.1f}" y="{top:.1f}" width="{0.7 * step:.1f}" '
            f'height="{HEIGHT - _BOTTOM - top:.1f}"/>',
            _text(middle, HEIGHT - _BOTTOM + 14, name, "middle"),
            _text(middle, HEIGHT - _BOTTOM + 28, note, "middle", "soft"),
            _interval(middle, ends),
            _text(middle, min(top, *ends) - 3, f"{height:.1f}", "middle"),
        ]
    return _svg(about, parts)


def _interval(x: float, ends: Sequence[float]) -> str:
    """A line with bars at its ends; nothing where both are the same, which would look like a rule.

    On a bar of height 0 it would go through the number above it.
    """
    if ends[0] == ends[1]:
        return ""
    line = f"M{x:.1f} {ends[0]:.1f}V{ends[1]:.1f}"
    line += "".join(f"M{x - 4:.1f} {end:.1f}h8" for end in ends)
    return f'<path class="interval" d="{line}"/>'


def _svg(about: str, parts: Sequence[str]) -> str:
    label = html.escape(about, quote=True)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
        f"<title>{label}</title>{''.join(parts)}</svg>"
    )


def _legend(names: Sequence[str]) -> str:
    keys = [
        f'<span><svg class="key" viewBox="0 0 24 8" aria-hidden="true">'
        f'<path class="s{number}" d="M0 4H24"/></svg> {html.escape(name)}</span>'
        for number, name in enumerate(names)
        if name
    ]
    return f'<div class="keys">{"".join(keys)}</div>' if keys else ""


def _path(points: Sequence[tuple[float, float]], x: Axis, y: Axis, name: str) -> str:
    places = " ".join(f"{_x(a, x):.1f},{_y(b, y):.1f}" for a, b in points)
    return f'<polyline class="{name}" points="{places}"/>'


def _x(value: float, axis: Axis) -> float:
    share = (value - axis.low) / ((axis.high - axis.low) or 1.0)
    return _LEFT + share * (WIDTH - _LEFT - _RIGHT)


def _y(value: float, axis: Axis) -> float:
    share = (value - axis.low) / ((axis.high - axis.low) or 1.0)
    return HEIGHT - _BOTTOM - share * (HEIGHT - _BOTTOM - _TOP)


def _grid(y: Axis) -> str:
    lines = []
    for value in _ticks(y):
        place = _y(value, y)
        lines += [
            f'<path class="grid" d="M{_LEFT} {place:.1f}H{WIDTH - _RIGHT}"/>',
            _text(_LEFT - 5, place + 3.5, f"{value:g}", "end"),
        ]
    return "".join(lines)


def _titles(x: Axis, y: Axis) -> str:
    middle = _TOP + (HEIGHT - _TOP - _BOTTOM) / 2
    return (
        _text(_LEFT + (WIDTH - _LEFT - _RIGHT) / 2, HEIGHT - 8, x.title, "middle", "soft")
        + f'<text class="soft" text-anchor="middle" transform="translate(11 {middle:.0f}) '
        f'rotate(-90)">{html.escape(y.title)}</text>'
    )


def _ticks(axis: Axis) -> list[float]:
    """Three to six round numbers within an axis."""
    width = (axis.high - axis.low) or 1.0
    unit = 10.0 ** math.floor(math.log10(width))
    step = next(
        step for step in (unit / 5, unit / 2, unit, 2 * unit, 5 * unit) if width / step <= 5
    )
    first = math.ceil(axis.low / step - 1e-9)
    last = math.floor(axis.high / step + 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


def _text(x: float, y: float, text: str, anchor: str, name: str = "") -> str:
    shown = f' class="{name}"' if name else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text{shown} {place}>{html.escape(text)}</text>"
