"""A tiny corpus and tiny settings, so that a whole training run takes seconds."""

import pytest

from tests.training.tiny_run import Corpus
from uanet_tf.data.sample_corpus import write_sample_corpus


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Corpus:
    paths = write_sample_corpus(
        tmp_path_factory.mktemp("corpus"), train_sentences=40, dev_sentences=12, test_sentences=12
    )
    return Corpus(str(paths["train"]), str(paths["dev"]), str(paths["test"]))
