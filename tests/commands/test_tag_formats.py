"""What `tag` takes its input for: columns, text, words, JSON."""

import json

import pytest

from uanet_lite.input_format import format_of_look, format_of_name
from uanet_tf.commands.tag_command import tag


def test_formats_by_extension():
    names = ["-", "a.conll", "a.tsv", "a.JSONL", "a.jsonl.gz", "a.txt", "a.b.txt.gz", "txt"]
    kinds = [None, "conll", None, "jsonl", "jsonl", "text", "text", None]
    assert list(map(format_of_name, names)) == kinds


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('{"tokens": []}', "jsonl"),
        ('[{"tokens": []}]', "jsonl"),
        ("[ [ O", "conll"),
        ("Angela Merkel visited Paris .", "text"),
        ("Angela Merkel", "text"),
        ("Ann NNP B-NP B-PER", "conll"),
        ("Ann NNP", "conll"),
        ("EU\tO", "conll"),
        ("-DOCSTART- -X- O O", "conll"),
        ("# newdoc id = x", "conll"),
        ("# 1 fan", "text"),
        ("EU", "conll"),
        ("", "conll"),
    ],
)
def test_formats_by_look(line, kind):
    lines = [(1, " "), (2, line), (3, "x")] if line else [(1, "")]
    found, again = format_of_look(iter(lines))
    assert (found, list(again)) == (kind, lines)


def test_the_format_found_is_said(tag_text, capsys):
    assert tag_text("p0 q1 met X2 .\n", name="noname") == (
        "p0\tB-PER\nq1\tI-PER\nmet\tO\nX2\tB-LOC\n.\tO\n\n"
    )
    said = capsys.readouterr().err
    assert "noname: read as text (text, one text per line); --format says" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "text", ["Angela Merkel visited Paris .\n", "One two three four\nfive six\n"]
)
def test_text_read_as_columns_is_refused(tmp_path, run_dir, model, call, capsys, text):
    path = tmp_path / "in.conll"
    path.write_text(text)
    assert call(tag, f"--run_dir={run_dir}", f"--input={path}") == 2
    assert f"{path}:1: looks like text, not like columns" in capsys.readouterr().err


def test_csv_is_refused(tmp_path, run_dir, model, call, capsys):
    path = tmp_path / "in.csv"
    path.write_text("sentence_id,token,label\n1,IBM,B-ORG\n")
    assert call(tag, f"--run_dir={run_dir}", f"--input={path}") == 2
    assert f"--input={path} --to=conll" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("-DOCSTART- -X- -X- O\n\nAnn NNP B-NP B-PER\n", 1),
        ("\nAnn NNP B-NP B-PER\nsleeps VBZ B-VP O\n", 2),
        ("Ann\tB-PER\n\nsleeps\tO\n", 1),
    ],
)
def test_columns_read_as_text_are_refused(tmp_path, run_dir, model, call, capsys, text, line):
    """Files of corpora are often called train.txt; read as text, each token was a sentence."""
    path = tmp_path / "test.txt"
    path.write_text(text)
    arguments = (tag, f"--run_dir={run_dir}", f"--input={path}")
    assert call(*arguments) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"{path}:{line}: looks like columns with a token a line, not like the ")
    assert told.endswith("text that its name says: name --format=conll, or --format=text.\n")
    assert call(*arguments, "--format=conll") == 0
    assert call(*arguments, "--format=text") == 0


@pytest.mark.parametrize(
    "text", ["His blood is of type O\n", "Type O\nis rare, said O\n", "Anna\nmet\nBo\n", "\nO\nO\n"]
)
def test_text_that_is_no_columns(tmp_path, run_dir, model, call, text):
    path = tmp_path / "test.txt"
    path.write_text(text)
    assert call(tag, f"--run_dir={run_dir}", f"--input={path}") == 0


def test_a_paragraph_is_split_and_is_one_row(tag_text):
    text = "p0 met X2. Nobody saw l3!\n\nDr. p4 left.\n"
    first, blank, last = map(
        json.loads,
        tag_text(text, "--output_format=jsonl", "--split_sentences", name="in.txt").splitlines(),
    )
    assert first["text"] == "p0 met X2. Nobody saw l3!"
    assert first["tokens"] == ["p0", "met", "X2", ".", "Nobody", "saw", "l3", "!"]
    assert first["sentences"] == [[0, 4], [4, 8]]
    found = first["entities"]
    assert [(e["text"], e["token_start"]) for e in found] == [
        ("p0", 0),
        ("X2", 2),
        ("Nobody", 4),
        ("l3", 6),
    ]
    assert all(first["text"][e["start"] : e["end"]] == e["text"] for e in found)
    assert blank["tokens"] == []
    assert "sentences" not in last
    one, _, _ = tag_text(text, "--output_format=jsonl", name="in.txt").splitlines()
    assert "sentences" not in json.loads(one)
    first, second, third, end = tag_text(text, "--split_sentences", name="in.txt").split("\n\n")
    assert (len(first.splitlines()), len(second.splitlines()), end) == (4, 4, "")
    assert third.startswith("\nDr\t")  # the blank line has a blank line for an answer


def test_words_between_blanks(tag_text):
    assert tag_text("p0-q1's X2.\n", "--format=tokens") == "p0-q1's\tB-PER\nX2.\tB-LOC\n\n"


def test_json_of_text(tag_text):
    lines = ['{"text": "p0 met X2. So?", "id": 1}', '{"text": " p0  X2", "tokens": ["p0", "X2"]}']
    lines += ['{"text": "other", "tokens": ["p0"]}', '{"text": ""}']
    text, both, other, none = map(
        json.loads, tag_text("\n".join(lines), "--split_sentences", name="a.jsonl").splitlines()
    )
    assert (text["id"], text["sentences"]) == (1, [[0, 4], [4, 6]])
    assert both["text"] == " p0  X2"
    assert both["starts"] == [1, 5]
    assert other["text"] == "p0"  # the tokens do not stand in the text given
    assert none["labels"] == []


def test_a_text_with_a_token_that_is_too_long_gets_an_error_and_the_others_an_answer(
    tmp_path, run_dir, model, call, capsys
):
    texts = ["p0 met X2 .", f"see {'a' * 1_200}", "p1"]
    path, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps({"id": k, "text": t}) + "\n" for k, t in enumerate(texts)))
    assert call(tag, f"--run_dir={run_dir}", f"--input={path}", f"--output={output}") == 1
    answers = [json.loads(line) for line in output.read_text().splitlines()]
    assert [answer.get("labels") for answer in answers] == [
        ["B-PER", "O", "B-LOC", "O"],
        None,
        ["B-PER"],
    ]
    said = f"token 1 has 1,200 characters ({'a' * 30!r}...); the limit is 1,000."
    assert (answers[1]["id"], answers[1]["line"], answers[1]["error"]) == (1, 2, said)
    assert f"{path}:2: {said}" in capsys.readouterr().err
    path = tmp_path / "in.txt"  # no place for an error
    path.write_text("\n".join(texts))
    assert call(tag, f"--run_dir={run_dir}", f"--input={path}", f"--output={output}.conll") == 2
    assert f"{path}:2: {said}" in capsys.readouterr().err
