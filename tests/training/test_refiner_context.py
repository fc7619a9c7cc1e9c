"""``--refiner_context=auto``: documents where the files mark them."""

import json

import pytest

from tests.training.test_document_run import mark_documents
from tests.training.tiny_run import WORDS, tiny_config, write_corpus
from uanet_lite.sentence import Sentence
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.models.loading import load_model
from uanet_tf.training.fit import fit
from uanet_tf.training.prepare import prepare, with_refiner_context

PLAIN = [Sentence(("a",), ("O",), k, new_document=k == 0) for k in range(3)]
MARKED = [Sentence(("a",), ("O",), k, new_document=k != 1) for k in range(3)]


@pytest.mark.parametrize(
    ("splits", "settings", "expected"),
    [
        ({"train": MARKED, "dev": MARKED}, {}, "document"),
        ({"train": MARKED, "dev": PLAIN}, {}, "sentence"),
        ({"train": PLAIN, "dev": MARKED}, {}, "sentence"),
        ({"train": MARKED, "dev": MARKED, "test": PLAIN}, {}, "sentence"),
        ({"train": MARKED, "dev": MARKED}, {"strategy": "mirrored"}, "sentence"),
        ({"train": MARKED, "dev": MARKED}, {"refiner_context": "sentence"}, "sentence"),
        ({"train": MARKED, "dev": MARKED}, {"context": "document"}, "sentence"),
        ({"train": PLAIN, "dev": PLAIN}, {"refiner_context": "document"}, "document"),
    ],
)
def test_documents_where_all_files_mark_them(splits, settings, expected):
    config = Config().replace(**{"refiner_context": "auto", **settings})
    assert with_refiner_context(config, splits).decoder.refiner_context == expected


def test_a_run_that_is_shared_says_that_it_reads_sentences(caplog):
    config = Config().replace(refiner_context="auto", strategy="mirrored", decoder="uanet")
    with caplog.at_level("INFO"):
        with_refiner_context(config, {"train": MARKED, "dev": PLAIN})
        assert not caplog.messages
        with_refiner_context(config, {"train": MARKED, "dev": MARKED})
    assert caplog.messages == [
        "the files mark documents, but with `strategy=mirrored` the refiner reads sentences"
    ]


def config_of_documents(folder):
    """Settings of a small run whose files, in the folder, mark documents."""
    corpus = write_corpus(folder)
    for path in folder.glob("*.conll"):
        mark_documents(path)
    parts = WORDS | {"epochs": 1, "min_epochs": 1, "num_samples": 0, "calibrated": False}
    return tiny_config(corpus, **parts, max_tokens=60)


def test_the_run_keeps_what_auto_stood_for(tmp_path):
    config = config_of_documents(tmp_path).replace(refiner_context="auto")
    metrics = fit(config, tmp_path / "run")
    saved = json.loads((tmp_path / "run" / "config.json").read_text())
    assert saved["decoder"]["refiner_context"] == "document"
    assert load_model(tmp_path / "run").refiner_context == "document"
    assert fit(config, tmp_path / "run") == metrics  # the same command: complete
    with pytest.raises(InputError, match="`refiner_context` was 'document', now 'sentence'"):
        fit(config.replace(refiner_context="sentence"), tmp_path / "run")


def test_a_drafter_of_documents_leaves_the_refiner_none(tmp_path):
    """Of a passage that is one sentence there are no other sentences to read."""
    config = config_of_documents(tmp_path).replace(context="document")
    model = prepare(config.replace(refiner_context="auto")).tagger
    assert (model.context, model.refiner_context) == ("document", "sentence")
    with pytest.raises(InputError, match="`context=document` reads a passage as one sentence"):
        fit(config.replace(refiner_context="document"), tmp_path / "other")
    assert not (tmp_path / "other").exists()
