"""Models trained for the benchmarks, on generated corpora; kept in runs/bench."""

import dataclasses
import subprocess
import sys

from benchmarks.systems import ROOT
from benchmarks.uniform_corpus import generate_uniform
from uanet_lite.columns_file import format_columns
from uanet_tf.resources.sample_corpus import write_sample_corpus

FOLDER = ROOT / "runs" / "bench"
# As the recipe of configs/uanet_fast.flags; generated corpora are learned in few epochs.
_SHORT = ("--epochs=6", "--min_epochs=3", "--min_steps=0")
_CRF = ("--encoder=bilstm", "--decoder=crf", "--output_dropout=0.33")


@dataclasses.dataclass(frozen=True)
class Trained:
    """A UANet and a BiLSTM-CRF of the same sizes, trained on the same corpus.

    Attributes:
      title: what the corpus is.
      run_dir: the run of UANet.
      baseline: the run of the BiLSTM-CRF.
      data: the test file.
    """

    title: str
    run_dir: str
    baseline: str
    data: str


def sample_corpus() -> Trained:
    """The models of the sample corpus, with the settings of `make demo`."""
    data = FOLDER / "sample" / "data"
    if not data.exists():
        write_sample_corpus(data)
    title = "Sample corpus, sizes of configs/quickstart.flags"
    return _train(title, "sample", "quickstart", ())


def uniform_corpus(types: int, mean_length: int, count: int = 1200) -> Trained:
    """Models of generated sentences with a number of classes and a mean length.

    Args:
      types: entity types; 4 * types + 1 classes.
      mean_length: tokens of a sentence.
      count: training sentences.
    """
    name = f"uniform_{types}_{mean_length}"
    data = FOLDER / name / "data"
    data.mkdir(parents=True, exist_ok=True)
    for seed, (part, size) in enumerate({"train": count, "dev": 300, "test": 1000}.items(), 1):
        sentences = generate_uniform(types, mean_length, size, seed=seed)
        (data / f"{part}.conll").write_text(format_columns(sentences), encoding="utf-8")
    title = (
        f"Generated corpus, {4 * types + 1} classes, mean length {mean_length}, sizes of "
        "configs/uanet_fast.flags"
    )
    return _train(title, name, "uanet_fast", _SHORT)


def _train(title: str, name: str, recipe: str, flags: tuple[str, ...]) -> Trained:
    """Trains what is not there yet; a run that is complete is not trained again."""
    folder = FOLDER / name
    runs = {"uanet": flags, "crf": (*flags, *_CRF)}
    for run, extra in runs.items():
        command = [sys.executable, str(ROOT / "train.py")]
        command += [f"--flagfile={ROOT / 'configs' / recipe}.flags", *extra]
        command += [f"--{part}_path={folder / 'data' / part}.conll" for part in ("train", "dev")]
        subprocess.run([*command, f"--run_dir={folder / run}"], check=True, cwd=ROOT)
    return Trained(
        title, str(folder / "uanet"), str(folder / "crf"), str(folder / "data" / "test.conll")
    )
