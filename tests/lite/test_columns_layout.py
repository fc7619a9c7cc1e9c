"""Comments, number signs and CoNLL-U: which lines of a file are tokens."""

import pytest

from tests.lite.test_columns_file import refusal, tokens_of
from uanet_lite.columns_file import read_corpus
from uanet_lite.sentence import Sentence


@pytest.mark.parametrize("separator", ["\t", " "])
@pytest.mark.parametrize("first", ["a{0}O\n\n", ""])
def test_number_signs_are_tokens(write, separator, first):
    rows = ["#", "#hashtag", "good", "#", "##", "#end", "#begin"]
    text = first + "".join(f"{row}{{0}}O\n" for row in rows) + "\n#{0}O\n\n#x{0}B-X\n"
    found = tokens_of(write(text.format(separator)))
    assert found[-3:] == [tuple(rows), ("#",), ("#x",)]


def test_a_file_of_number_signs_only(write):
    assert tokens_of(write("#\tO\n#a\tO\n\n# b\tO\n")) == [("#", "#a"), ("# b",)]
    assert tokens_of(write("# O\n#a O\n")) == [("#", "#a")]
    assert tokens_of(write("#\n#a\n"), label_column=None) == [("#", "#a")]


def test_comments_in_tab_separated_files(write):
    path = write("# id = 1\n# text = Ada # 1\nAda\tO\n#\tO\n\n# id = 2\n#one\tO\n")
    assert tokens_of(path) == [("Ada", "#"), ("#one",)]


def test_a_row_without_its_tab_is_no_comment(write):
    assert "news.conll:3: too few columns" in refusal(write("a\tO\n\n#b\n"))
    assert "news.conll:3: too few columns" in refusal(write("a\tO\n\n#\n"))


def test_comments_in_blank_separated_files_have_other_columns(write):
    path = write(
        "# id 7c1 x domain=en\nAda _ _ B-PER\n# _ _ O\n\n# _ _ O\n\n# id 8 9 10\nend _ _ O\n"
    )
    assert tokens_of(path) == [("Ada", "#"), ("#",), ("end",)]
    # As in MultiCoNER: four words, of which the last follows a tab.
    path = write("# id 7c1\tdomain=en\nAda _ _ B-PER\n")
    assert read_corpus(path) == [Sentence(("Ada",), ("B-PER",), 2, True)]


GERMEVAL = """#\tdoc one [2009-10-17]
1\tAnna\tB-PER\tO
2\t#\tO\tO
3\tlacht\tO\tO

#\tdoc two [2009-10-18]
1\tKiel\tB-LOC\tO
"""


def test_files_of_germeval(write):
    """The first column counts words; a comment has the number sign in its place."""
    path = write(GERMEVAL)
    found = list(read_corpus(path, token_column=1, label_column=2))
    assert [sentence.tokens for sentence in found] == [("Anna", "#", "lacht"), ("Kiel",)]
    assert [sentence.labels for sentence in found] == [("B-PER", "O", "O"), ("B-LOC",)]
    assert "news.conll:2: column 0 counts the words" in refusal(path)
    # A row of as many columns is none, and the sentence may have one word.
    path = write("1\tCD\tO\n\n#\tSYM\tO\n\n#\tid\n2\tCD\tO\n")
    assert tokens_of(path) == [("1",), ("#",), ("2",)]


CONLLU = """# newdoc id = d1
# sent_id = 1
# text = du\tvin #
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_
2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_
3\tvin\tvin\tNOUN\t_\t_\t0\troot\t_\t_
3.1\tbu\tboire\tVERB\t_\t_\t_\t_\t_\t_
4\t#\t#\tSYM\t_\t_\t3\tdep\t_\t_

# sent_id = 2
1\t1-2\t1-2\tNUM\t_\t_\t0\troot\t_\t_

# newdoc id = d2
1\toui\toui\tINTJ\t_\t_\t0\troot\t_\t_
"""


def test_conllu(write):
    sentences = read_corpus(write(CONLLU), token_column=1, label_column=3, keep_rows=True)
    assert [s.tokens for s in sentences] == [("de", "le", "vin", "#"), ("1-2",), ("oui",)]
    assert sentences[0].labels == ("ADP", "DET", "NOUN", "SYM")
    assert [s.line for s in sentences] == [5, 12, 15]
    assert [s.new_document for s in sentences] == [True, False, True]
    assert sentences[0].rows[0] == "1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_"


def test_conllu_starting_with_an_empty_node(write):
    text = "0.1\tx\tx\tX\t_\t_\t_\t_\t_\t_\n1\ty\ty\tX\t_\t_\t0\troot\t_\t_\n"
    assert tokens_of(write(text), token_column=1, label_column=3) == [("y",)]


def test_word_numbers_are_not_taken_for_words(write):
    message = refusal(write(CONLLU))
    assert "CoNLL-U" in message
    assert "column 1" in message


def test_numbers_like_ranges_are_tokens_elsewhere(write):
    assert tokens_of(write("1-2\tO\n1.1\tO\n1\tO\n")) == [("1-2", "1.1", "1")]
    assert tokens_of(write("1-2 O\n1.1 O\n")) == [("1-2", "1.1")]
    ten = "\t".join(["1.1", *"abcdefghi"]) + "\n"  # ten columns, but no CoNLL-U
    assert tokens_of(write(ten)) == [("1.1",)]
