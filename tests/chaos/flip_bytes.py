"""Does the local server refuse an export in which one byte was changed?

    python -m tests.chaos.flip_bytes [--run_dir=RUN] [--flips=500] [--seed=1]

Each time one byte at random, of a file chosen at random, is changed and the check is made that the
server makes before it loads a version. Exits with code 1 if one passed.
"""

import argparse
import collections
import random
import sys
from pathlib import Path

from tests.chaos.exported import exported
from uanet_tf.errors import InputError
from uanet_tf.files.checksums import check_checksums


def flip(version: Path, file: Path, rng: random.Random) -> bool:
    """Changes one byte, checks, and changes it back; returns whether the version was refused."""
    whole = bytearray(file.read_bytes())
    position = rng.randrange(len(whole))
    changed = whole.copy()
    changed[position] ^= rng.randint(1, 255)
    file.write_bytes(changed)
    try:
        check_checksums(version)
    except InputError:
        return True
    finally:
        file.write_bytes(whole)
    return False


def main() -> int:
    """Changes as often as asked; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run_dir", help="a trained run")
    parser.add_argument("--flips", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    refused: collections.Counter[str] = collections.Counter()
    tried: collections.Counter[str] = collections.Counter()
    with exported(arguments.run_dir) as folder:
        version = folder / "uanet" / "1"
        check_checksums(version)
        files = sorted(file for file in version.rglob("*") if file.is_file())
        for _ in range(arguments.flips):
            file = rng.choice([file for file in files if file.stat().st_size])
            name = str(file.relative_to(version))
            tried[name] += 1
            refused[name] += flip(version, file, rng)
    for name, count in sorted(tried.items()):
        sys.stdout.write(f"{refused[name]} of {count} refused: {name}\n")
    sys.stdout.write(f"{refused.total()} of {tried.total()}\n")
    return 0 if refused == tried else 1


if __name__ == "__main__":
    sys.exit(main())
