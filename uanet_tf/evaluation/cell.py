"""A number of a comparison, with its spread over seeds."""

import statistics
from typing import NamedTuple


class Cell(NamedTuple):
    """A number of several runs.

    Attributes:
      values: of the runs that have it.
      digits: after the point, as shown.
      spread: whether the values are those of seeds, shown with their standard deviation; else the
        median is shown.
    """

    values: list[float]
    digits: int
    spread: bool = True

    def middle(self) -> float:
        """Mean of the seeds, or the median."""
        return (statistics.mean if self.spread else statistics.median)(self.values)

    def text(self) -> str:
        """For people: "70.00 ± 0.71"; "-" without values."""
        if not self.values:
            return "-"
        text = f"{self.middle():,.{self.digits}f}"
        if self.spread and len(self.values) > 1:
            text += f" ± {statistics.stdev(self.values):.{self.digits}f}"
        return text

    def numbers(self, name: str) -> dict[str, float]:
        """For programs: {name: number}, of seeds with the standard deviation as NAME_sd."""
        found = {name: self.middle()} if self.values else {}
        if self.spread and len(self.values) > 1:
            found[f"{name}_sd"] = statistics.stdev(self.values)
        return found
