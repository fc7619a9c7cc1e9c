import re

import pytest

import uanet_tf
from benchmarks import raw_text
from uanet_lite.columns_file import read_corpus
from uanet_tf.training.corpus_scorer import score_corpus


def test_token_scores_are_those_of_evaluation(runs):
    text = raw_text.table(runs.crf, runs.data)
    scores = score_corpus(uanet_tf.load_model(runs.crf), read_corpus(runs.data), "ner")
    assert re.match(r"(100\.00|9\d\.\d\d) % of [\d,]+ tokens are found by the tokenizer", text)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    assert [row[0] for row in rows[2:]] == ["all", "without @ and #"]
    assert rows[2][1] == f"{scores['f1']:.2f}"
    for _, tokens, same_marks, raw, difference in rows[2:]:
        assert same_marks == tokens  # there are none
        assert float(difference) == pytest.approx(float(raw) - float(tokens), abs=0.011)


def test_a_wrong_cut_is_an_error_where_an_entity_stands():
    gold = [{("PER", 0, 3), ("LOC", 8, 12)}]
    assert raw_text._f1(gold, [{("PER", 0, 3), ("LOC", 8, 13)}], lambda *_: True) == 50
    assert raw_text._f1(gold, [set()], lambda *_: True) == 0
    places = [(0, 3), (4, 7), None]
    assert raw_text._entities(["B-PER", "I-PER", "O"], places, "IOB2") == {("PER", 0, 7)}
    assert raw_text._entities(["B-PER", "O", "B-LOC"], places, "IOB2") == {("PER", 0, 3)}


def test_marks_as_in_the_text():
    text = "@ann saw #b a@c.d #e.f"
    whole = [(0, 4), (5, 8), (9, 11), (12, 17), (18, 22)]
    cut = [(0, 1), (1, 4), (5, 8), (9, 10), (10, 11), (12, 17), (18, 19), (19, 22)]
    # "#e" is part of a longer token, and so is "@c".
    assert raw_text._marks_as_in(cut, [*whole, None], text) == [*cut[:6], (18, 22)]
    assert raw_text._marks_as_in(whole, cut, text) == [*whole[:4], *cut[6:]]


def test_what_each_tokenizer_finds(tmp_path):
    train, data = tmp_path / "train.conll", tmp_path / "data.conll"
    train.write_text("Do\tO\nn't\tO\nstop\tO\n.\tO\n\n" * 3, encoding="utf-8")
    data.write_text("We\tO\ndo\tO\nn't\tO\n.\tO\n", encoding="utf-8")
    rows = raw_text.tokenizers(str(train), str(data)).splitlines()[2:]
    assert "| ptb | 100.00 % of 4 | yes |" in rows
    assert "| whitespace | 25.00 % of 4 |  |" in rows  # "We"; "don't." is one
    assert len(rows) == 3
