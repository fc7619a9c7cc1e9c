"""Line plots of the benchmarks' pages."""

import pathlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# Told apart by everyone, in print too: with different markers and, for levels, dashes.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#555555")
_MARKERS = "osD^v<>"


class Curve(NamedTuple):
    """A line of a plot.

    Attributes:
      x: places.
      y: values.
      low: lower ends of their spread, drawn as a band; None: no spread is known.
      high: upper ends.
    """

    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def draw(
    path: pathlib.Path,
    curves: Mapping[str, Curve],
    *,
    x: str,
    y: str,
    title: str,
    log: bool = False,
    ticks: Sequence[float] | None = None,
    least_height: float | None = None,
    levels: Mapping[str, float] | None = None,
) -> None:
    """Writes an SVG with a line for each curve, a band for its spread, and a legend below.

    Args:
      path: file to write.
      curves: by name.
      x: what the x axis is, with unit.
      y: what the y axis is, with unit.
      title: heading.
      log: both axes logarithmic.
      ticks: places of the x axis, which is then logarithmic, such as powers of two.
      least_height: what the y axis covers at least, so that noise does not fill it; None: it
        begins at 0.
      levels: horizontal lines, name to height.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "uanet_tf"  # the same picture, the same file
    figure, axes = pyplot.subplots(figsize=(6.4, 4.2), layout="constrained")
    for number, (name, curve) in enumerate(curves.items()):
        color, marker = _COLORS[number % 7], _MARKERS[number % 7]
        axes.plot(curve.x, curve.y, color=color, marker=marker, markersize=4, label=name)
        if curve.low is not None and curve.high is not None:
            axes.fill_between(curve.x, curve.low, curve.high, color=color, alpha=0.15, linewidth=0)
    for name, height in (levels or {}).items():
        axes.axhline(height, linestyle="--", linewidth=1.2, color="#555555", label=name)
    if log or ticks:
        axes.set_xscale("log")
    if ticks:
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    if log:
        axes.set_yscale("log")
    elif least_height is None:
        axes.set_ylim(bottom=0)
    else:
        low, high = axes.get_ylim()
        more = max(0.0, least_height - (high - low)) / 2
        axes.set_ylim(low - more, high + more)
    axes.set(xlabel=x, ylabel=y)
    axes.set_title(title, fontsize=11)
    axes.grid(visible=True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if len(curves) + len(levels or {}) > 1:
        figure.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None, "Title": title})
    pyplot.close(figure)
