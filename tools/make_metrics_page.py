"""Writes docs/metrics.md from the table of the keys of metrics.json.

python -m tools.make_metrics_page
"""

import sys
from pathlib import Path

from uanet_tf.metrics.run_metrics import KEYS, Key

PAGE = Path(__file__).resolve().parent.parent / "docs" / "metrics.md"

_ABOUT = """\
A run's `metrics.json` has all scores as fractions, from 0 to 1; tables for people have percent.
So have `uanet evaluate --json`, `uanet_tf.evaluate`, results.csv of `uanet compare` and TensorBoard
(`tensorboard --logdir=RUN/tensorboard`).
`python -m tools.make_metrics_page` writes this page from the code."""


def _about(key: Key) -> str:
    """What it is, with its unit, but for a fraction."""
    if key.unit in ("", "fraction"):
        return key.about
    return f"{key.about.removesuffix('.')} ({key.unit})."


def page() -> str:
    """The whole page."""
    rows = [f"- `{name}`: {_about(key)}" for name, key in KEYS.items()]
    return "\n".join(["# The keys of metrics.json", "", _ABOUT, "", *rows, ""])


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")


if __name__ == "__main__":
    main()
