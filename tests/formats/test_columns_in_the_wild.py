"""Columns as shared tasks and tools write them: comments, headers, counts, marks of documents."""

import pytest

from tests.formats.test_read_labelled import refusal, rows, write
from uanet_lite.notes import Notes
from uanet_tf.formats import csv_table

__all__ = ["write"]
ROWS = ["Anna B-PER", "# O", "saw O", "Oslo B-LOC"]
HIPE = "TOKEN\tNE-COARSE-LIT\tNE-FINE-LIT\tMISC\n"
HIPE_ROWS = "Anna\tB-PER\tB-PER.ind\tNoSpaceAfter\n#\tO\tO\t_\n"
MORE_ROWS = "saw\tO\tO\t_\nOslo\tB-LOC\tB-LOC.town\tEndOfLine\n"


@pytest.mark.parametrize(
    "text",
    [
        "## k-0\t<Anna:PER>\nAnna\tB-PER\n#\tO\n\n## k-1\t<Oslo>\nsaw\tO\nOslo\tB-LOC\n",
        "# text:\tAnna #\nAnna\tB-PER\n#\tO\n\n#\tsaw Oslo\nsaw\tO\nOslo\tB-LOC\n",
        "#Text=Anna # saw\nAnna\tB-PER\n#\tO\n\n#Text=saw Oslo\nsaw\tO\nOslo\tB-LOC\n",
        "#id=1\nAnna B-PER\n# O\n\n#id=2\nsaw O\nOslo B-LOC\n",
        "# 7c9e\nAnna B-PER\n# O\n\n# 11aa\nsaw O\nOslo B-LOC\n",
        "# id 7c9e domain=en\nAnna _ B-PER\n# _ O\n\n# id 1 domain=en\nsaw _ O\nOslo _ B-LOC\n",
        "## id 1 x\nAnna _ B-PER\n# _ O\n# page = 2\nsaw _ O\nOslo _ B-LOC\n",
        "Anna\tB-PER\n#\tO\n# line_id = a b\nsaw\tO\nOslo\tB-LOC\n",
    ],
)
def test_comments_are_no_tokens_and_number_signs_are(write, text):
    assert rows(write(text, "a.tsv")) == ROWS


def test_a_number_sign_before_any_label(write):
    text = "Anna\tO\n\n#\tLOC\n#x\tLOC\n\n# = O\n"
    assert rows(write(text, "a.tsv"))[1:3] == ["# LOC", "#x LOC"]
    assert rows(write("# O\n1 O\n# O\n", "a.conll")) == ["# O", "1 O", "# O"]
    assert rows(write("Anna NN O\n# = O\n", "a.conll")) == ["Anna O", "# O"]
    text = "won\tVB\tO\n\n#\tNN\tLOC\n\n#\thttp://a\t[2009-10-17]\nOslo\tNN\tLOC\n"
    assert rows(write(text, "a.tsv")) == ["won O", "# LOC", "Oslo LOC"]


def test_a_header_is_no_token_wherever_it_stands(write):
    path = write(f"{HIPE}# date = 1\n{HIPE_ROWS}\n{HIPE}# date = 2\n{MORE_ROWS}", "a.tsv")
    assert rows(path, label_column=1) == ROWS
    assert rows(path, token_column="token", label_column="NE-COARSE-LIT") == ROWS
    # The last column is none of labels, and two are.
    message = refusal(path)
    assert "a.tsv:1: which column has the labels?" in message
    assert "`label_column=NE-COARSE-LIT`" in message


def test_a_header_tells_the_columns(write):
    text = "id\tword\tner\tnote\nx\tAnna\tB-PER\t_\nx\t#\tO\t_\nx\tsaw\tO\t_\nx\tOslo\tB-LOC\t_\n"
    assert rows(write(text, "a.tsv")) == ROWS


@pytest.mark.parametrize(
    "text",
    [
        "0\tAnna\tB-PER\n1\tsaw\tO\n2\t.\tO\n",
        "#\thttp://a\t[2009-10]\t\n1\tAnna\tB-PER\n2\tsaw\tO\n\n#\tb\t[x]\t\n1\tOslo\tB-LOC\n",
        "0\tAnna\tB-PER\n\n0\tOslo\tB-LOC\n\n0\tsaw\tO\n1\tOslo\tB-LOC\n",
        "1\tAnna\tB-PER\n\n1\tOslo\tB-LOC\n\n1\tKiel\tB-LOC\n",
        "1.\tAnna\tB-PER\n2.\tsaw\tO\n\n1.\tOslo\tB-LOC\n",
        "1-1 Anna B-PER\n1-2 saw O\n\n2-1 Oslo B-LOC\n",
        "1\tAnna\tB-PER\n2\tsaw\tO\n\n3\tOslo\tB-LOC\n4\twon\tO\n",
        "1\tAnna\tB-PER\n1\tsaw\tO\n\n2\tOslo\tB-LOC\n2\twon\tO\n",
        "1\tAnna\tB-PER\n2\tsaw\tO\n",
        "1 Anna NNP B-PER\n2 saw VBD O\n\n1 Oslo NNP B-LOC\n2 won VBD O\n3 again RB O\n",
        "5\tAnna\tB-PER\n6\tsaw\tO\n7\tOslo\tB-LOC\n\n1\twon\tO\n",
    ],
)
def test_counts_are_not_taken_for_words(write, text):
    line = 1 + text.startswith("#")
    assert f"a.tsv:{line}: column 0 counts" in refusal(write(text, "a.tsv"))
    assert rows(write(text, "a.tsv"), token_column=1)[0] == "Anna B-PER"


def test_counts_beside_words_without_labels(write):
    path = write("1\tAnna\n2\tsaw\n\n1\tOslo\n", "a.tsv")
    assert "(`token_column=1` `label_column=none`, as there are no labels)" in refusal(path)
    assert "a.tsv:1: column 0 counts" in refusal(path, label_column=None)
    for tags in (("O", "O", "O"), ("CD", "CD", "CD"), ("O", "B-DATE", "I-DATE")):
        text = "".join(f"{number}\t{tag}\n" for number, tag in enumerate(tags, 3))
        assert len(rows(write(text, "a.tsv"))) == 3


def test_a_row_that_ends_with_a_tab(write):
    path = write("Anna\tB-PER\t\n", "a.tsv")
    assert "a.tsv:1: the label is empty, as the row ends with a tab" in refusal(path)
    assert rows(path, label_column=-2) == ["Anna B-PER"]


@pytest.mark.parametrize(
    "text",
    [
        "1\tCD\tO\n\n7\tCD\tO\n",
        "1\tCD\tO\n1\tCD\tO\nx\tNN\tO\n",
        "1\tCD\tO\n2\tCD\tO\n\n7\tCD\tO\nAnna\tNN\tB-PER\n",
    ],
)
def test_numbers_that_count_nothing(write, text):
    assert rows(write(text, "a.tsv"))[0] == "1 O"


@pytest.mark.parametrize("mark", ["#DOCSTART O", "# DOCSTART", "# -DOCSTART- -X- O"])
def test_marks_of_documents_as_comments(write, mark):
    assert rows(write(f"{mark}\nAnna B-PER\n# O\n\n{mark}\nsaw O\nOslo B-LOC\n", "a.tsv")) == ROWS


def test_marks_of_documents_in_the_tokens_column(write):
    text = "O -DOCSTART-\n\nB-PER Anna\nO #\n\nO -DOCSTART-\nO saw\nB-LOC Oslo\n"
    assert rows(write(text, "a.tsv"), token_column=1, label_column=0) == ROWS


def test_a_key_of_misc_that_no_row_has(write):
    line = "1\tAnna\t_\t_\t_\t_\t0\troot\t_\tname=B-PER|SpaceAfter=No\n"
    message = refusal(write(line, "a.conllu"), token_column=1, label_column="MISC:nam")
    assert "no row has the key 'nam'" in message
    assert "SpaceAfter, name" in message


def test_sentence_numbers_that_come_back_are_told():
    """As where rows, not sentences, were shuffled."""
    lines = ["sentence_id,token,label", "1,a,O", "2,b,O", "1,c,O", "2,d,O", "3,e,O"]
    notes = Notes()
    found = list(csv_table.read(iter(enumerate(lines, 1)), "x.csv", notes=notes))
    assert [each.tokens for each in found] == [("a",), ("b",), ("c",), ("d",), ("e",)]
    (line,) = notes.lines()
    assert line.endswith("(shuffled rows?): 2, first at x.csv:4")
