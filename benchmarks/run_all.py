"""Runs the benchmarks and writes docs/benchmarks.md: `make bench`.

Generated sentences and untrained weights; the machine is named and its large-matmul rate is
measured in the same run. `--quick` is for a look, not for publishing.
"""

import argparse
import datetime
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from absl import flags

from uanet_tf.commands.config_flags import config_from_flags, define_config_flags
from uanet_tf.config import Config

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECIPES = ("uanet", "uanet_fast")


def main() -> None:
    """Runs every benchmark and writes the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run_all", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few sentences, few repeats")
    parser.add_argument("--out", default=str(ROOT / "docs" / "benchmarks.md"))
    arguments = parser.parse_args()
    from benchmarks import inference, measure, training

    count, repeats = (128, 2) if arguments.quick else (800, 5)
    recipes = {name: _recipe(name) for name in RECIPES}
    before = measure.matmul_rate()
    parts = [
        "# Benchmarks",
        f"`make bench` on {measure.device_name()}, {datetime.date.today()}. Sentences are "
        "generated, weights are untrained: with them nearly every token is above Gamma, so "
        "refinement is at its most expensive. Median of the repeats, with the range.",
        "## Tagging, sizes of configs/uanet_fast.flags",
        inference.table(recipes["uanet_fast"], count=count, repeats=repeats),
        "## Training",
        training.table(recipes, count=count, repeats=repeats),
    ]
    after = measure.matmul_rate()
    parts.insert(
        2,
        f"Large float32 matrix product in the same run: {before / 1e9:.0f} GFLOP/s before, "
        f"{after / 1e9:.0f} after.",
    )
    text = "\n\n".join(parts) + "\n"
    pathlib.Path(arguments.out).write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def _recipe(name: str) -> Config:
    values = flags.FlagValues()
    define_config_flags(values)
    values(["benchmark", f"--flagfile={ROOT / 'configs' / name}.flags"])
    return config_from_flags(values)


if __name__ == "__main__":
    main()
