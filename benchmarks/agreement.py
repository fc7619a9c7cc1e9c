"""How far the answers of two environments, machines or models for the same text lie apart.

    python -m benchmarks.agreement ONE.jsonl OTHER.jsonl [--within=1e-5]

Reads what `uanet tag --output_format=jsonl` or `python -m uanet_lite` wrote, and prints the labels
that differ and the largest difference of uncertainty and confidence. With --within the exit code is
1 if a label differs or a number by more.
"""

import json
import pathlib
import sys
from typing import Any

import numpy as np

from benchmarks.command_line import make_parser

NUMBERS = ("uncertainty", "confidence")


def compare(one: str, other: str) -> tuple[str, float]:
    """A line for people, and the largest difference; infinite if a label differs.

    Args:
      one: JSONL file.
      other: JSONL file of the same sentences in the same order.

    Raises:
      ValueError: the files are not of the same tokens.
    """
    first, second = _read(one), _read(other)
    if [row["tokens"] for row in first] != [row["tokens"] for row in second]:
        raise ValueError(f"{one} and {other} are not of the same tokens.")
    labels = [[label for row in rows for label in row["labels"]] for rows in (first, second)]
    differing = sum(a != b for a, b in zip(*labels, strict=True))
    farthest = {}
    for name in NUMBERS:
        values = [np.array([x for row in rows for x in row[name]]) for rows in (first, second)]
        farthest[name] = float(np.abs(values[0] - values[1]).max())
    shown = ", ".join(f"{name} differs by at most {by:.1e}" for name, by in farthest.items())
    line = f"{differing:,} of {len(labels[0]):,} labels differ, {shown}"
    return line, float("inf") if differing else max(farthest.values())


def _read(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in pathlib.Path(path).read_text("utf-8").splitlines()]


def main() -> None:
    """Prints the line; exit code 1 if the answers are too far apart."""
    parser = make_parser("agreement", __doc__)
    parser.add_argument("one", metavar="ONE.jsonl")
    parser.add_argument("other", metavar="OTHER.jsonl")
    parser.add_argument("--within", type=float, default=float("inf"))
    given = parser.parse_args()
    line, difference = compare(given.one, given.other)
    sys.stdout.write(line + "\n")
    sys.exit(difference > given.within)


if __name__ == "__main__":
    main()
