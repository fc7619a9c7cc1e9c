"""Line plots of the benchmarks' pages."""

import pathlib
from collections.abc import Mapping, Sequence

Curve = tuple[Sequence[float], Sequence[float]]


def draw(
    path: pathlib.Path,
    curves: Mapping[str, Curve],
    *,
    x: str,
    y: str,
    title: str,
    log: bool = False,
    zero: bool = True,
    levels: Mapping[str, float] | None = None,
) -> None:
    """Writes an SVG with a line for each curve.

    Args:
      path: file to write.
      curves: name to (x values, y values).
      x: what the x axis is, with unit.
      y: what the y axis is, with unit.
      title: heading.
      log: both axes logarithmic.
      zero: the y axis begins at 0, unless there are levels to compare with.
      levels: horizontal lines, name to height.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "uanet_tf"  # the same picture, the same file
    figure, axes = pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")
    for number, (name, (places, values)) in enumerate(curves.items()):
        axes.plot(places, values, marker="osD^v<>"[number % 7], markersize=4, label=name)
    for name, height in (levels or {}).items():
        axes.axhline(height, linestyle="--", linewidth=1, color="gray")
        axes.annotate(
            name,
            (0.99, height),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize=8,
            color="gray",
        )
    if log:
        axes.set_xscale("log")
        axes.set_yscale("log")
    elif zero and not levels:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize=11)
    axes.grid(visible=True, alpha=0.3)
    if len(curves) > 1:
        axes.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
