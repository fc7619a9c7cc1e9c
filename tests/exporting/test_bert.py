"""A tagger on a BERT is exported like every other, but both its models need tensorflow-text."""

import json

import numpy as np
import pytest

from tests.exporting.conftest import assert_same, predict
from tests.models.test_bert_tagger import TOKENS, make_model
from uanet_tf.exporting.sample_inputs import pad
from uanet_tf.exporting.saved_graph import foreign_operations
from uanet_tf.exporting.saved_model import export_run

pytestmark = pytest.mark.process  # test_contract.py exports one too


@pytest.fixture(scope="module")
def model():
    return make_model()


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory):
    run_dir = tmp_path_factory.mktemp("bert")
    model.save(run_dir / "model.keras")
    (run_dir / "config.json").write_text(json.dumps(model.settings.to_dict()))
    return export_run(run_dir, run_dir / "models")


def test_answers_as_the_model(model, exported, with_text):
    expected = predict(model, pad(TOKENS))
    assert_same(with_text.ask(exported.path, "serving_default", **pad(TOKENS)), expected)
    texts = np.array([" ".join(tokens) for tokens in TOKENS], object)
    answers = with_text.ask(exported.text_path, "serving_default", text=texts)
    assert answers["lengths"].tolist() == list(map(len, TOKENS))
    assert_same({name: answers[name] for name in expected}, expected)
    assert not with_text.modules & {"uanet_tf", "tensorflow_addons", "keras_nlp"}


def test_operations_and_vocabularies(exported):
    sub_words = {"FastWordpieceTokenizeWithOffsets", "NormalizeUTF8"}
    assert foreign_operations(exported.path) == sub_words
    assert foreign_operations(exported.text_path) == {*sub_words, "RegexSplitWithOffsets"}
    for path in (exported.path, exported.text_path):
        names = {file.name for file in (path / "assets").iterdir()}
        assert names == {"labels.txt", "subwords.txt"}
    card = (exported.path / "assets.extra" / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert "Needs the operations of tensorflow-text" in card
    assert "`ids`" not in card
