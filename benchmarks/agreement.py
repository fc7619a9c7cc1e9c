"""How far the answers of two environments, machines or models for the same text lie apart.

    python -m benchmarks.agreement ONE.jsonl OTHER.jsonl

Reads what `uanet tag --output_format=jsonl` or `python -m uanet_lite` wrote, and prints the labels
that differ and the largest difference of uncertainty and confidence.
"""

import json
import pathlib
import sys
from typing import Any

import numpy as np

from benchmarks.command_line import make_parser

NUMBERS = ("uncertainty", "confidence")


def compare(one: str, other: str) -> str:
    """One line for people.

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
    farthest = []
    for name in NUMBERS:
        values = [np.array([x for row in rows for x in row[name]]) for rows in (first, second)]
        farthest.append(f"{name} differs by at most {np.abs(values[0] - values[1]).max():.1e}")
    return f"{differing:,} of {len(labels[0]):,} labels differ, {', '.join(farthest)}"


def _read(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in pathlib.Path(path).read_text("utf-8").splitlines()]


def main() -> None:
    """Prints the line."""
    parser = make_parser("agreement", __doc__)
    parser.add_argument("one", metavar="ONE.jsonl")
    parser.add_argument("other", metavar="OTHER.jsonl")
    given = parser.parse_args()
    sys.stdout.write(compare(given.one, given.other) + "\n")


if __name__ == "__main__":
    main()
