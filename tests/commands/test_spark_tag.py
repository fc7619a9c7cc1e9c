"""Which runs Spark may not cut files of columns for; all else is in tests/spark."""

import pytest

from uanet_tf.commands import spark_tag_command
from uanet_tf.config import Config


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, False),
        ({"context": "document"}, True),
        ({"context": "document", "decoder": "crf"}, True),
        ({"refiner_context": "document"}, True),
        # What auto was in files that mark documents, of a tagger without a refiner.
        ({"refiner_context": "document", "decoder": "crf"}, False),
    ],
)
def test_runs_that_read_documents(settings, expected):
    assert spark_tag_command._reads_documents(Config().replace(**settings)) == expected
