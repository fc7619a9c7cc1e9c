"""A small trained UANet and a CRF beside it, on the sample corpus."""

import dataclasses
import pathlib

import pytest

from tests.exporting.trained_run import SETTINGS
from uanet_tf.config import Config
from uanet_tf.resources.sample_corpus import write_sample_corpus
from uanet_tf.training.fit import fit


@pytest.hookimpl(tryfirst=True)  # before those that are marked so are left out
def pytest_collection_modifyitems(items):
    """Benchmarks are whole programs: `make test-all` tests them."""
    here = pathlib.Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.process)


@dataclasses.dataclass(frozen=True)
class Runs:
    uanet: str
    crf: str
    data: str


@pytest.fixture(scope="session")
def config() -> Config:
    """Sizes of the small models."""
    return Config().replace(**SETTINGS)


@pytest.fixture(scope="session")
def runs(tmp_path_factory, config) -> Runs:
    folder = pathlib.Path(tmp_path_factory.mktemp("bench"))
    paths = write_sample_corpus(
        folder / "data", train_sentences=200, dev_sentences=60, test_sentences=50
    )
    config = config.replace(
        train_path=str(paths["train"]),
        dev_path=str(paths["dev"]),
        epochs=6,
        min_epochs=3,
        distill_samples=4,
        refiner_layers=1,
    )
    fit(config, folder / "uanet")
    # What it is compared with: graphs that are soon made.
    light = config.replace(encoder="none", representation="words", decoder="crf")
    fit(light.replace(epochs=1, min_epochs=1, distill_samples=0), folder / "crf")
    return Runs(str(folder / "uanet"), str(folder / "crf"), str(paths["test"]))
