"""Memory and start-up of the `tag` command, each in a process of its own.

python -m benchmarks.resources --run_dir=RUN [--sentences=10000] [--length=500] [--repeats=5]
"""

import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.command_line import make_parser

ROOT = pathlib.Path(__file__).resolve().parent.parent
COUNT, LENGTH = 10_000, 500


def table(run_dir: str, *, count: int = COUNT, length: int = LENGTH, repeats: int = 5) -> str:
    """Peak memory and start-up seconds of `tag`, as a Markdown table.

    A small process makes it: Linux counts the memory of the process that starts a command as the
    command's own, up to the moment at which that begins.

    Args:
      run_dir: a trained run.
      count: sentences of the memory run.
      length: tokens of each.
      repeats: starts.
    """
    command = [sys.executable, "-m", "benchmarks.resources", f"--repeats={repeats}"]
    command += [f"--run_dir={pathlib.Path(run_dir).resolve()}"]
    command += [f"--sentences={count}", f"--length={length}"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    return done.stdout.strip()


def _table(run_dir: str, count: int, length: int, repeats: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        directory = pathlib.Path(folder)
        starts = sorted(start_up(run_dir, directory) for _ in range(repeats))
        peak, seconds = peak_memory(run_dir, directory, count, length)
    return "\n".join(
        [
            "| `tag` | measured |",
            "| --- | --- |",
            f"| from command to first labelled sentence | {statistics.median(starts):.1f} s "
            f"({starts[0]:.1f} to {starts[-1]:.1f}) |",
            f"| peak memory, {count:,} sentences of {length} tokens | {peak / 2**30:.2f} GiB |",
            f"| time for these | {seconds:,.0f} s, {count * length / seconds:,.0f} tokens/s |",
        ]
    )


def start_up(run_dir: str, folder: pathlib.Path) -> float:
    """Seconds from the command to its first labelled sentence."""
    text = folder / "one.txt"
    text.write_text("Oslo beat Bergen 2 - 1 .\n", encoding="utf-8")
    start = time.perf_counter()
    process = subprocess.Popen(
        _command(run_dir, text), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    seconds = time.perf_counter() - start
    process.communicate()
    if process.returncode or not line:
        raise RuntimeError(f"tag ended with exit code {process.returncode}")
    return seconds


def peak_memory(run_dir: str, folder: pathlib.Path, count: int, length: int) -> tuple[int, float]:
    """Largest resident set of `tag`, in bytes, and its seconds."""
    rng = random.Random(1)
    words = [f"w{number}" for number in range(20_000)]
    text = folder / "many.txt"
    with text.open("w", encoding="utf-8") as file:
        for _ in range(count):
            file.write(" ".join(rng.choices(words, k=length)) + "\n")
    start = time.perf_counter()
    process = subprocess.Popen(
        [*_command(run_dir, text), f"--output={folder / 'many.conll'}"],
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"tag ended with exit code {process.returncode}")
    return _bytes(usage), time.perf_counter() - start


def _bytes(usage: resource.struct_rusage) -> int:
    # Kilobytes on Linux, bytes on macOS.
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _command(run_dir: str, text: pathlib.Path) -> list[str]:
    return [
        sys.executable,
        "-m",
        "uanet_tf.commands.uanet",
        "tag",
        f"--run_dir={run_dir}",
        f"--input={text}",
    ]


def main() -> None:
    """Prints the table."""
    parser = make_parser("resources", __doc__)
    parser.add_argument("--run_dir", required=True)
    parser.add_argument("--sentences", type=int, default=COUNT)
    parser.add_argument("--length", type=int, default=LENGTH)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    run_dir = str(pathlib.Path(given.run_dir).resolve())
    sys.stdout.write(_table(run_dir, given.sentences, given.length, given.repeats) + "\n")


if __name__ == "__main__":
    main()
