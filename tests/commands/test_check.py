"""The report on corpora, as text and JSON, and the command's exit codes."""

import json
import subprocess
import sys

import pytest

from uanet_lite.sentence import Sentence
from uanet_lite.token_ids import normalize_word
from uanet_tf.commands import runner
from uanet_tf.commands.check_command import check
from uanet_tf.evaluation.corpus_report import Corpus, format_reports, report_corpora

TRAIN = """Ada B-PER
met O
Bo B-PER
Lee I-PER
in O
1999 O

Yes O

Ada B-PER
met O
"""
DEV = """Ada B-PER
met O
Bo B-PER
Lee I-PER
in O
1999 O

Kim I-PER
met O
Acme B-ORG
in O
2021 O
Kim O

Yes O
"""


@pytest.fixture
def files(tmp_path):
    paths = []
    for name, content in (("a.conll", TRAIN), ("b.conll", DEV)):
        paths.append(tmp_path / name)
        paths[-1].write_text(content, encoding="utf-8")
    return paths


def run(capsys, *arguments):
    argv = ["check", *map(str, arguments)]
    code = runner.exit_code(check, argv)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_json(capsys, files):
    code, out, err = run(capsys, *files, "--json")
    assert (code, err) == (0, "")
    train, dev = json.loads(out)["files"]
    assert train["against_train"] is None
    assert train["labels"] == {"O": 5, "B-PER": 3, "I-PER": 1}
    expected = {
        "role": "dev",
        "path": str(files[1]),
        "format": "conll",
        "sentences": 3,
        "tokens": 13,
        "documents": 1,
        "word_types": 10,
        "longest_sentence_tokens": 6,
        "longest_sentence_line": 1,
        "sentences_over_max_tokens": 0,
        "longest_word_characters": 4,
        "longest_word_line": 1,
        "labels": {"O": 8, "B-PER": 2, "B-ORG": 1, "I-PER": 2},
        "scheme": "IOB2",
        "stray_labels": {},
        "entity_like_labels": {},
        "uneven_sentences": 0,
        "first_uneven_line": None,
        "repaired_labels": 1,
        "repaired_sentences": 1,
        "first_repaired_line": 8,
        "entities": {"PER": 3, "ORG": 1},
        "repeated_sentences": 0,
        "line_ends": {"LF": 15},
        "mean_sentence_tokens": 13 / 3,
        "against_train": {
            "train_scheme": "IOB2",
            "word_types": 9,
            "unknown_tokens": 3,
            "unknown_types": 2,
            "unknown_examples": {"Kim": 2, "Acme": 1},
            "unseen_labels": {"B-ORG": 1},
            "shared_sentences": 2,
            "shared_long_sentences": 1,
            "shared_lines": [[1, 1], [15, 8]],
        },
    }
    assert dev == expected
    assert list(dev["labels"]) == ["O", "B-PER", "I-PER", "B-ORG"]


def test_text(capsys, files):
    code, out, err = run(capsys, *files, "--max_tokens=5")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    tables = out.split("\n\n")
    facts = tables[1].splitlines()
    assert {len(line) for line in facts if line != "Against train"} == {len(facts[0])}
    assert any(line.split() == ["Sentences", "3", "3"] for line in lines)
    assert any(
        line.split() == ["unknown", "words,", "of", "tokens", "-", "23.1", "%"] for line in lines
    )
    assert any(line.split() == ["PER", "3", "100.0", "%", "3", "75.0", "%"] for line in lines)
    assert "  dev: train does not have 'B-ORG' (1): scored as errors." in lines
    assert (
        "  dev: 1 sentence breaks IOB2, the first at line 8; 1 label changes when repaired."
        in lines
    )
    assert "  dev: 2 sentences are in train too, at lines (of train): 1 (1), 15 (8)." in lines
    assert "  train: 1 sentence is longer than 5 tokens and will be read in windows." in lines
    assert not any(line.endswith(" ") for line in lines)
    assert out.endswith("\n")


def test_line_ends_are_told_where_programs_differ(capsys, tmp_path):
    path = tmp_path / "mac.conll"
    path.write_bytes(b"Ada\tB-PER\rsings\tO\r\rYes\tO\n")
    code, out, _ = run(capsys, path)
    assert code == 0
    assert "  train: line ends: CR (3), LF (1); each ends a line here, though" in out


def test_digits_and_case_decide_what_is_unknown(capsys, files):
    def unknown(*options):
        _, out, _ = run(capsys, *files, "--json", *options)
        return json.loads(out)["files"][1]["against_train"]["unknown_tokens"]

    assert unknown() == 3
    assert unknown("--nonormalize_digits") == 4
    assert normalize_word("Ab-1٣", digits=True, lowercase=True) == "ab-00"
    assert normalize_word("Ab-1", digits=False, lowercase=False) == "Ab-1"


def test_columns(capsys, tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("1 Ada NNP B-PER\n2 -LRB- -LRB- O\n", encoding="utf-8")
    _, out, _ = run(capsys, path, "--token_column=1", "--label_column=2", "--json")
    (report,) = json.loads(out)["files"]
    assert (report["scheme"], report["labels"]) == (None, {"-LRB-": 1, "NNP": 1})
    assert report["entities"] == {}
    code, out, _ = run(capsys, path, "--token_column=1", "--label_column=none")
    assert code == 0
    assert "Scheme" not in out
    assert "Labels" not in out


def corpus_of(*label_rows):
    rows = [tuple(row.split()) for row in label_rows]
    return [Sentence(row, row, number, number == 1) for number, row in enumerate(rows, 1)]


@pytest.mark.parametrize(
    ("train", "dev", "scheme", "repaired"),
    [
        (["B-A I-A O"], ["I-A I-A O", "O I-A"], "IOB1", 0),
        (["I-A I-A O I-B"], ["O O"], "IOB1", 0),
        (["S-A O B-A E-A"], ["O O O"], "BIOES", 0),
        (["S-A O B-A E-A"], ["B-A I-A", "I-A O"], "IOB2", 1),
        (["B-A I-A O", "B-A"], ["B-A I-A", "B-B I-A B-B"], "IOB2", 1),
    ],
)
def test_the_scheme_of_a_file_that_may_differ_from_train(train, dev, scheme, repaired):
    reports = report_corpora(
        [Corpus("train", "t", corpus_of(*train)), Corpus("dev", "d", corpus_of(*dev))]
    )
    assert (reports[1].scheme, reports[1].repaired_labels) == (scheme, repaired)
    differs = reports[0].scheme != scheme
    assert (f"dev: the scheme is {scheme}, in train" in format_reports(reports)) == differs


def test_the_first_of_equal_train_sentences_is_named():
    train = Corpus("train", "t", corpus_of("A B", "C", "A B"))
    found = report_corpora([train, Corpus("dev", "d", corpus_of("D", "A B"))])[1].against_train
    assert found is not None
    assert found.shared_lines == [(2, 1)]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["{0}", "nowhere"], "nowhere: no such file."),
        ([], "No file given"),
        (["-", "-"], "Only one of the files can be '-'"),
        (["{0}", "--token_column=5"], "a.conll:1: too few columns"),
        (["{0}", "--token_column=1", "--label_column=1"], "must differ"),
    ],
)
def test_bad_input(capsys, files, arguments, expected):
    code, out, err = run(capsys, *(argument.format(*files) for argument in arguments))
    assert code == 2
    assert out == ""
    assert expected in err
    assert err.count("\n") == 1


def test_as_a_command_without_tensorflow(files):
    script = (
        "import sys\n"
        "from uanet_tf.commands.uanet import run\n"
        f"sys.argv = ['uanet', 'check', {str(files[0])!r}]\n"
        "try:\n    run()\n"
        "except SystemExit as end:\n    code = end.code\n"
        "sys.exit(3 if 'tensorflow' in sys.modules else code)\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert "Sentences" in result.stdout


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


def test_a_file_without_empty_lines_is_told(capsys, tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("a O\n" * 300)
    _, out, _ = run(capsys, path)
    assert "train: it is one sentence of 300 tokens: sentences need an empty line" in out
    path.write_text("a O\n" * 30)
    assert "one sentence" not in run(capsys, path)[1]
