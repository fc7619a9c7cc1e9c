"""Tagged sentences as rows of a table, as text of their own, and texts as HTML."""

import json
import sys
import types

import numpy as np
import pytest

from tests.lite.made_sentence import make_sentence
from uanet_lite.input_error import InputError
from uanet_lite.sentence import Sentence
from uanet_lite.tagged_sentence import (
    LabelProbabilities,
    TaggedSentence,
    TaggedSentences,
    TaggedTexts,
)

P = np.array([[0.5, 0.2, 0.3], [0.1, 0.6, 0.3], [0.0, 0.0, 1.0]], np.float32)
ASKED = {
    "probabilities": LabelProbabilities(P, ["O", "B-LOC", "B-LOC"]),
    "alternatives": [[("O", 1.0)], [("B-LOC", 0.5), ("O", 0.25)], [("I-LOC", 0.9)]],
    "accepted": [True, False, True],
}


def test_rows_of_entities_and_tokens():
    tagged = TaggedSentences([make_sentence(), make_sentence(tokens=["In", "Bonn", "now"])])
    assert [entity.text for entity in tagged.entities] == ["Paris Lyon", "Bonn now"]
    rows = tagged.to_dicts()
    assert rows[1] == {"sentence": 1, **tagged[1].entities[0].to_dict()}
    assert rows == tagged.to_dicts("entity")
    rows = tagged.to_dicts(per="token")
    assert [(row["sentence"], row["token"], row["label"]) for row in rows[1:4]] == [
        (0, "Paris", "B-LOC"),
        (0, "Lyon", "I-LOC"),
        (1, "In", "O"),
    ]
    assert rows[1]["uncertainty"] == 1.234568
    assert list(rows[0])[1:5] == ["token", "label", "start", "end"]


def test_a_sentence_is_a_table_too():
    sentence = make_sentence(**ASKED)
    assert sentence.to_dicts() == [sentence.entities[0].to_dict()]
    assert [row["token"] for row in sentence.to_dicts(per="token")] == sentence.tokens
    of_tokens = make_sentence(scheme=None, labels=["DT", "NN", "VB"])
    assert [row["label"] for row in of_tokens.to_dicts()] == ["DT", "NN", "VB"]


def test_no_cell_is_a_list_and_labels_have_their_names():
    tagged = TaggedSentences([make_sentence(**ASKED)])
    row = tagged.to_dicts("token")[1]
    assert not [value for value in row.values() if isinstance(value, list | dict)]
    assert (row["alternative 2"], row["alternative 2 probability"]) == ("O", 0.25)
    assert row["probability B-LOC"] == pytest.approx(0.9)
    (sentence,) = tagged
    assert sentence.probabilities[0] == pytest.approx({"O": 0.5, "B-LOC": 0.5})
    assert np.asarray(sentence.part(1, 3).probabilities).tolist() == P[1:].tolist()
    values = json.loads(json.dumps(sentence.to_dict()))
    assert values["probabilities"][1] == {"B-LOC": 0.9, "O": 0.1}
    assert values["alternatives"][1] == [["B-LOC", 0.5], ["O", 0.25]]


def test_single_labels_are_rows_of_tokens():
    tagged = TaggedSentences([make_sentence(scheme=None, labels=["DT", "NN", "VB"])])
    assert [row["label"] for row in tagged.to_dicts()] == ["DT", "NN", "VB"]
    for each in (tagged, TaggedSentences([])):
        with pytest.raises(InputError, match=r'per must be "entity" or "token"'):
            each.to_dicts("word")


def test_text_is_the_sentences_own():
    text = "First. Paris Lyon!"
    sentence = Sentence(["Paris", "Lyon", "!"], text=text, starts=[7, 13, 17], ends=[12, 17, 18])
    fields = vars(make_sentence(labels=["B-LOC", "I-LOC", "O"]))
    fields = {name: fields[name] for name in list(fields) if name in FIELDS}
    tagged = TaggedSentence.of(sentence, "IOB2", fields)
    assert (tagged.text, tagged.source_text) == ("Paris Lyon!", text)
    (entity,) = tagged.entities
    assert text[entity.start : entity.end] == entity.text == "Paris Lyon"
    assert tagged.to_dict()["text"] == "Paris Lyon!"
    assert tagged.to_dict()["source_text"] == text
    assert "source_text" not in make_sentence().to_dict()


FIELDS = {
    "labels", "draft_labels", "refined_labels", "uncertainty", "confidence", "refined",
}  # fmt: skip


def test_texts_are_html_and_a_table():
    texts = TaggedTexts([TaggedSentences([make_sentence()] * 2), TaggedSentences([])])
    page = texts._repr_html_()
    assert page.count("Lyon") == 2
    assert page.count("uncertainty, nats") == 1
    assert "text 1" in page
    assert [(row["source"], row["sentence"]) for row in texts.to_dicts()] == [(0, 0), (0, 1)]
    assert len(TaggedTexts([TaggedSentences([make_sentence()] * 60)] * 2)._repr_html_()) < 9e4
    assert "and 1 more texts" in TaggedTexts([texts[0] * 30] * 2)._repr_html_()


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"pip install 'pandas<3'"):
        TaggedSentences([make_sentence()]).to_dataframe()


def test_a_table_without_rows_has_its_columns(monkeypatch):
    """So that what reads the table need not ask whether there was an entity."""
    pandas = types.SimpleNamespace(DataFrame=lambda rows, columns: (rows, columns))
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    found = make_sentence(accepted=[True, True, True])
    none = make_sentence(labels=["O"] * 3, accepted=[False] * 3)
    ((row,), columns) = TaggedSentences([found]).to_dataframe()
    assert columns is None
    assert TaggedSentences([none]).to_dataframe() == ([], list(row))
    assert none.to_dataframe() == ([], list(row)[1:])
    assert TaggedSentences([]).to_dataframe()[1][:2] == ["text", "type"]


def test_with_pandas():
    pandas = pytest.importorskip("pandas")
    tagged = TaggedSentences([make_sentence(**ASKED)])
    frame = tagged.to_dataframe()
    assert (len(frame), frame.text[0], frame.type[0]) == (1, "Paris Lyon", "LOC")
    assert frame.equals(pandas.DataFrame(tagged.to_dicts()))
    assert tagged[0].to_dataframe().equals(frame.drop(columns="sentence"))
    assert len(tagged.to_dataframe(per="token")) == 3
    assert list(TaggedSentences([]).to_dataframe().columns)[:2] == ["text", "type"]
