"""A tiny corpus and tiny settings, so that a whole training run takes seconds."""

import pytest

from tests.training.tiny_run import Corpus, write_corpus


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Corpus:
    return write_corpus(tmp_path_factory.mktemp("corpus"))
