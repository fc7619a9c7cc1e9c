"""The parser of a benchmark's command line."""

import argparse


def make_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """The parser of ``python -m benchmarks.NAME``, which shows the module's docstring as it is."""
    return argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
