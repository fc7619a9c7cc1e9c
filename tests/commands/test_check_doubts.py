"""What `check` says of files that were probably meant otherwise."""

import json

import pytest

from tests.commands.test_check import run
from uanet_lite.sentence import Sentence
from uanet_tf.evaluation.corpus_report import Corpus, format_reports, report_corpora


def test_a_stray_label_is_named():
    sentences = [Sentence(("a", "b", "c"), ("B-PER", "I-PER", "0"), 1, True)]
    (report,) = report_corpora([Corpus("train", "x", sentences)])
    assert report.scheme is None
    assert report.stray_labels == {"0": 1}
    assert "on 1 of 3 tokens: '0' (1)" in format_reports([report])


def test_part_of_speech_labels_are_not_stray():
    labels = ("NN", "O", "B", "-LRB-", "S-x")
    (report,) = report_corpora([Corpus("train", "x", [Sentence(tuple("abcde"), labels, 1, True)])])
    assert report.stray_labels == {}


def report_of(*labels):
    sentence = Sentence(tuple(f"w{n}" for n in range(len(labels))), labels, 1, True)
    (report,) = report_corpora([Corpus("train", "x", [sentence])])
    return report


@pytest.mark.parametrize(
    "inside", ["B_PER I_PER", "b-PER i-PER", "PER-B PER-I", "B:LOC", "PER LOC"]
)
def test_labels_that_look_like_entities_are_told(inside):
    report = report_of(*["O"] * 7, *inside.split())
    assert report.scheme is None
    assert report.entity_like_labels == dict.fromkeys(inside.split(), 1)
    told = "(1) look like the labels of entities, but are in no known scheme"
    assert told in format_reports([report])


def test_labels_without_letters_are_told_where_o_is_frequent():
    assert report_of("O", "O", "PER", "LOC", "PER").entity_like_labels == {"PER": 2, "LOC": 1}
    assert report_of("O", "NN", "V", "D", "NN", "O").entity_like_labels == {}


def test_brackets_of_conll_2012_are_told():
    assert report_of(*["*", "(PER*", "*", "*)", "(LOC)"]).entity_like_labels == dict.fromkeys(
        ("(LOC)", "(PER*", "*)"), 1
    )
    assert report_of("(", "NN", ")", "*").entity_like_labels == {}


@pytest.mark.parametrize(
    "labels",
    [
        "O O B-PER I-PER",
        "B-PER O B_LOC I-PER S-X",  # a stray one, which is told as such
        "NN VB NN-B , -LRB- DT IN",
        "NOUN VERB X PUNCT B I",
        "B I O",
        "N.S V.B ADJ ADV DET PRON",
    ],
)
def test_labels_that_mean_what_they_say_are_not_told(labels):
    assert report_of(*labels.split()).entity_like_labels == {}


def test_the_format_is_told(capsys, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens": ["Ada", "met"], "labels": ["B-PER", "O"]}\n' * 3)
    code, out, _ = run(capsys, path)
    assert code == 0
    assert "huggingface" in out
    assert "entities" not in out
    path.write_text('{"id" O\n"x" O\nz O\n')
    assert "JSON" not in run(capsys, path)[1]


def test_uneven_lines_are_told(capsys, tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("in O\nNew York B-LOC\n\na O\n\nto O\nLos Angeles B-LOC\n")
    code, out, _ = run(capsys, path)
    assert code == 0
    said = "2 sentences have lines with different numbers of columns, the first is line 2: is there"
    assert f"  train: {said} a blank in a token or a label" in out
    (report,) = json.loads(run(capsys, path, "--json")[1])["files"]
    assert (report["uneven_sentences"], report["first_uneven_line"]) == (2, 2)
    path.write_text("in O\nYork B-LOC\n\na x O\n")
    assert "columns" not in run(capsys, path)[1]


def test_sentences_in_lines_are_told(capsys, tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("fly to York\tO O B-city\nto Rome\tO B-city\n")
    assert "train: most lines hold a sentence and its labels" in run(capsys, path)[1]
    assert "lines hold" not in run(capsys, path, "--label_column=none")[1]
    path.write_text("fly\tO\nNew York\tB-city name\n")
    assert "lines hold" not in run(capsys, path)[1]


def test_a_file_without_empty_lines_is_told(capsys, tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("a O\n" * 300)
    _, out, _ = run(capsys, path)
    assert "train: it is one sentence of 300 tokens: sentences need an empty line" in out
    path.write_text("a O\n" * 30)
    assert "one sentence" not in run(capsys, path)[1]
