"""A tiny run, and Spark where this machine has it."""

import json

import pytest

from tests.models.contract_setup import make_sentences, make_vocabulary, small
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.models.build import make_tagger
from uanet_tf.spark.session import check_spark


@pytest.fixture(scope="session")
def spark_is_here():
    """Skips where pyspark or Java is missing, with the sentence that users see."""
    try:
        check_spark()
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def run_dir(tmp_path_factory):
    """A run with weights of no training, whose gate opens for some tokens."""
    folder = tmp_path_factory.mktemp("spark") / "run"
    folder.mkdir()
    config = small(Config())
    model = make_tagger(config, make_vocabulary(make_sentences("IOB2"), "IOB2"))
    model.save(folder / "model.keras")
    (folder / "config.json").write_text(json.dumps(config.to_dict()), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def sentences():
    return [list(sentence.tokens) for sentence in make_sentences("IOB2", 60)]
