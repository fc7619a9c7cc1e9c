"""What the tests of training share: tiny settings, and looking into a run directory."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import h5py
import numpy as np

from uanet_tf.config import Config
from uanet_tf.metrics.run_metrics import read_run_metrics
from uanet_tf.resources.sample_corpus import write_sample_corpus

ROOT = Path(__file__).resolve().parent.parent.parent


class Corpus(NamedTuple):
    """Paths of the three files."""

    train: str
    dev: str
    test: str

    @property
    def settings(self) -> dict[str, str]:
        return {"train_path": self.train, "dev_path": self.dev, "test_path": self.test}


def write_corpus(folder: Path) -> Corpus:
    paths = write_sample_corpus(folder, train_sentences=40, dev_sentences=12, test_sentences=12)
    return Corpus(*(str(paths[name]) for name in Corpus._fields))


TINY: dict[str, Any] = {
    "epochs": 3,
    "min_epochs": 3,  # so that the weights that are kept have seen every step
    "batch_size": 4,
    "word_width": 8,
    "char_width": 4,
    "char_filters": 4,
    "hidden_width": 8,
    "refiner_layers": 1,
    "refiner_heads": 2,
    "refiner_head_width": 4,
    "num_samples": 2,
    "distill_samples": 0,  # teaching the head is a quarter of a tiny run, and has tests of its own
    "unknown_word_rate": 0.25,
    "average_decay": 0.9,
    "drafter_learning_rate": 0.03,
    "refiner_learning_rate": 0.02,
    "threshold": 0.1,
}


# For what does not depend on the model: graphs without loops take a third of the time.
WORDS: dict[str, Any] = {"encoder": "none", "representation": "words"}
LIGHT: dict[str, Any] = {"decoder": "softmax"} | WORDS


def tiny_config(corpus: Corpus, **changes: Any) -> Config:
    return Config().replace(**(corpus.settings | TINY | changes))


def train_command(corpus: Corpus, run_dir: Path, **changes: Any) -> list[str]:
    settings = corpus.settings | TINY | changes
    arguments = [f"--{name}={value}" for name, value in settings.items()]
    return [sys.executable, "train.py", *arguments, f"--run_dir={run_dir}"]


def start(
    command: list[str], environment: Mapping[str, str] = MappingProxyType({}), **options: Any
) -> subprocess.Popen:
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def run(command: list[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command."""
    with start(command) as process:
        out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def weights(run_dir: Path) -> dict[str, np.ndarray]:
    """Every weight in ``model.keras``."""
    found: dict[str, np.ndarray] = {}

    def keep(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item[()]

    with (
        zipfile.ZipFile(run_dir / "model.keras") as archive,
        archive.open("model.weights.h5") as stream,
        h5py.File(stream) as file,
    ):
        file.visititems(keep)
    return found


def assert_same_weights(left: Path, right: Path) -> None:
    mine, other = weights(left), weights(right)
    assert mine.keys() == other.keys()
    assert len(mine) >= 3
    changed = [name for name in mine if not np.array_equal(mine[name], other[name])]
    assert not changed


def metrics(run_dir: Path) -> dict[str, Any]:
    """In percent, as programs have them."""
    return read_run_metrics(run_dir / "metrics.json")


def timeless(values: Any) -> Any:
    """Metrics without what a clock measured."""
    if isinstance(values, dict):
        return {
            key: timeless(value)
            for key, value in values.items()
            if key not in ("seconds", "sentences_per_second")
        }
    return [timeless(value) for value in values] if isinstance(values, list) else values
