"""Reading CoNLL-style files: layouts, comments, documents, encodings and faults."""

import collections
import gzip
import io
import sys
import tracemalloc

import pytest

from tests.pipes import SOURCES, source
from uanet_lite import columns_file, text_lines
from uanet_lite.columns_file import read_corpus, read_sentences
from uanet_lite.sentence import Sentence
from uanet_lite.text_lines import read_lines
from uanet_tf.errors import InputError


def tokens_of(path, **options):
    return [sentence.tokens for sentence in read_corpus(path, **options)]


def refusal(path, **options):
    with pytest.raises(InputError) as caught:
        read_corpus(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_two_columns(write):
    path = write("Ada\tB-PER\nsings\tO\n\nYes\tO\n")
    assert read_corpus(path) == [
        Sentence(("Ada", "sings"), ("B-PER", "O"), 1, True),
        Sentence(("Yes",), ("O",), 4, False),
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["", "{0}", "{0}{0}", "{0}{0}{0} \t{0}"])
@pytest.mark.parametrize("packed", [False, True])
def test_line_ends_byte_order_mark_and_gzip(write, newline, mark, end, packed):
    text = mark + newline.join(["", "é\tO", "b\tX", "", " ", "\t", "c\tO"]) + end.format(newline)
    content = text.encode("utf-8")
    path = write(gzip.compress(content) if packed else content)
    assert [(s.tokens, s.labels, s.line) for s in read_corpus(path)] == [
        (("é", "b"), ("O", "X"), 2),
        (("c",), ("O",), 7),
    ]


def test_mixed_line_ends(write):
    ends = collections.Counter()
    path = write(b"a\tO\rb\tO\r\r\nc\tO\n\rd\tO")
    lines = list(read_lines(path, ends=ends))
    assert lines == [(1, "a\tO"), (2, "b\tO"), (3, ""), (4, "c\tO"), (5, ""), (6, "d\tO")]
    assert ends == {"CR": 3, "CRLF": 1, "LF": 1, "": 1}


@pytest.mark.parametrize("newline", ["\r", "\r\n"])
def test_line_ends_where_a_read_is_cut(write, newline, monkeypatch):
    """Without a line feed a file is read in pieces, of which one may end within a line end."""
    monkeypatch.setattr(text_lines, "MAX_LINE_BYTES", 1 << 12)
    line = "word\tO"
    count = 2 * text_lines.MAX_LINE_BYTES // (len(line) + len(newline))
    for shift in range(len(newline) + 1):
        path = write(("x" * shift + newline + (line + newline) * count).encode())
        expected = [("x" * shift), *[line] * count]
        assert [text for _, text in read_lines(path)] == expected


def test_columns_by_index_and_from_the_end(write):
    path = write("1 Ada NNP B-PER\n2 sings VBZ O\n")
    assert tokens_of(path, token_column=1) == [("Ada", "sings")]
    assert read_corpus(path, token_column=-3, label_column=2)[0].labels == ("NNP", "VBZ")
    assert tokens_of(path, token_column=-1, label_column=0) == [("B-PER", "O")]


def test_without_labels(write):
    (sentence,) = read_corpus(write("Ada\nsings\n"), label_column=None)
    assert sentence == Sentence(("Ada", "sings"), (), 1, True)


def test_blanks_separate_only_where_no_tab_does(write):
    path = write("New York\tB-LOC\n  Ada   B-PER \n in the \t O \n")
    (sentence,) = read_corpus(path)
    assert sentence.tokens == ("New York", "Ada", "in the")
    assert sentence.labels == ("B-LOC", "B-PER", "O")


@pytest.mark.parametrize(
    "space", ["\u00a0", "\u3000", "\u2009", "\u2028", "\x85", "\x0b", "\x0c", "\x1c"]
)
@pytest.mark.parametrize("separator", ["\t", " "])
def test_unicode_spaces_and_line_separators_stay_in_the_token(write, space, separator):
    path = write(f"10{space}000{separator}NUM\n{space}{separator}X\n\nend{separator}O\n")
    sentences = read_corpus(path)
    assert [s.tokens for s in sentences] == [(f"10{space}000", space), ("end",)]
    assert [s.line for s in sentences] == [1, 4]


def test_document_marks(write):
    path = write(
        "-DOCSTART- -X- -X- O\n\na x x O\n\nb x x O\n-DOCSTART-\nc x x O\n\n-DOCSTART- -X- -X- O\n"
    )
    assert [(s.tokens, s.new_document) for s in read_corpus(path)] == [
        (("a",), True),
        (("b",), False),
        (("c",), True),
    ]
    assert tokens_of(write("-DOCSTART-\tO\n-DOCSTART-2\tO\n")) == [("-DOCSTART-2",)]


def test_document_marks_of_conll_2012(write):
    path = write(
        "#begin document (bn/a); part 000\nbn/a 0 0 Ada NNP\n\nbn/a 0 0 B NNP\n#end document\n"
        "#begin document (bn/b); part 000\nbn/b 0 0 C NNP\n#end document\n"
    )
    found = [(s.tokens, s.new_document) for s in read_corpus(path, token_column=3)]
    assert found == [(("Ada",), True), (("B",), False), (("C",), True)]


def test_rows_are_kept_as_they_stand(write):
    path = write("a  X   O \r\n# X O\r\n\r\nb X O")
    assert [s.rows for s in read_corpus(path, keep_rows=True)] == [
        ("a  X   O ", "# X O"),
        ("b X O",),
    ]


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(monkeypatch, packed):
    content = b"a\tO\n\nb\n"
    raw = io.BytesIO(gzip.compress(content) if packed else content)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(raw)))
    sentences = read_sentences("-")
    assert next(sentences).tokens == ("a",)
    with pytest.raises(InputError, match=r"^<stdin>:3: too few columns"):
        next(sentences)


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_is_read_once_and_whole(tmp_path, kind):
    content = "".join(f"a{number}\tO\n\n" for number in range(20_000)).encode()
    with source(kind, content, tmp_path) as path:
        found = [sentence.tokens[0] for sentence in read_sentences(path)]
    assert found == [f"a{number}" for number in range(20_000)]


def test_streams_in_constant_memory(write):
    # Packed, a line is so cheap that only a reader that keeps things can use this much.
    line = b"word\tO\n"
    path = write(gzip.compress((line * 9 + b"\n") * 4_000))
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_sentences(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 4_000
    assert peak < 1_000_000


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("a\tO\nb\n", {}, "news.conll:2: too few columns: found 1 column ('b' first)"),
        ("a O\n\nb\tc\n", {"label_column": 3}, "news.conll:1: too few columns: found 2 columns"),
        ("a O\n", {"token_column": -3}, "news.conll:1: too few columns"),
        ("a\n", {}, "news.conll:1: too few columns"),
        ("a,O\n", {}, "label column -1. Columns are separated by tabs or blanks;"),
        ("a\n", {"token_column": 1, "label_column": None}, "news.conll:1: too few columns"),
        ("a\tO\n\tO\n", {}, "news.conll:2: the token is empty"),
        ("a\tO\nb\t\n", {}, "news.conll:2: the label is empty."),
        (b"a\tO\nb\xe9\tO\n", {}, "news.conll:2: not UTF-8 (byte 0xe9 at position 2): save it"),
        ("a\tO\n".encode("utf-16"), {}, "news.conll: is UTF-16, not UTF-8: save it as UTF-8."),
        ("a\tO\n".encode("utf-16-le"), {}, "news.conll: is UTF-16, not UTF-8"),
        ("a\tO\n".encode("utf-16-be"), {}, "news.conll: is UTF-16, not UTF-8"),
        ("", {}, "news.conll: no sentence found"),
        ("\n \n-DOCSTART- O\n\n", {}, "news.conll: no sentence found"),
        ("\ufeff", {}, "news.conll: no sentence found"),
        (gzip.compress(b"", mtime=0), {}, "news.conll: no sentence found"),
        ("a\tO\n" + "x" * 5000 + "\tO\n", {}, "news.conll:2: a token of 5,000 characters"),
        ("a\t" + "x" * 5000 + "\n", {}, "news.conll:1: a label of 5,000 characters"),
        ("x" * 2_000_000, {}, "news.conll:1: the line is longer"),
        ("a\tO\n\n" + "b\tO\n" * 100_000, {}, "news.conll:50003: more than 50,000 tokens"),
    ],
)
def test_bad_files(write, content, options, expected):
    message = refusal(write(content), **options)
    assert expected in message
    assert len(message) < 400


def test_limits_are_exact(write, monkeypatch):
    path = write("abc\tO\n" * 3)
    monkeypatch.setattr(columns_file, "MAX_SENTENCE_TOKENS", 3)
    monkeypatch.setattr(columns_file, "MAX_TOKEN_CHARS", 3)
    assert tokens_of(path) == [("abc",) * 3]
    monkeypatch.setattr(columns_file, "MAX_SENTENCE_TOKENS", 2)
    assert "more than 2 tokens" in refusal(path)
    assert "starts at line 1" in refusal(path)
    monkeypatch.setattr(columns_file, "MAX_TOKEN_CHARS", 2)
    assert "the limit is 2" in refusal(path)


def test_unreadable_paths(tmp_path):
    assert "nowhere.conll: no such file" in refusal(tmp_path / "nowhere.conll")
    assert "is a directory" in refusal(tmp_path)
    assert "cannot be read" in refusal("a\0b")


@pytest.mark.parametrize("cut", [3, 12, 60, -1])
def test_truncated_gzip(write, cut):
    text = "".join(f"word{number}\tO\n" for number in range(500))
    message = refusal(write(gzip.compress(text.encode())[:cut]))
    assert "truncated or damaged" in message
    assert "news.conll:" in message


def test_bad_arguments_are_refused_at_once():
    with pytest.raises(InputError, match="Received"):
        read_sentences("never opened", token_column=1, label_column=1)


def test_a_byte_order_mark_later_is_a_character(write):
    assert tokens_of(write("\ufeffa\tO\n\ufeff\tO\n")) == [("a", "\ufeff")]
    # As of two files, one behind the other.
    both = "\ufeffa\tO\n\n\ufeff-DOCSTART-\tO\n\n\ufeffb\tO\n"
    assert tokens_of(write(both)) == [("a",), ("b",)]


@pytest.mark.parametrize(
    ("content", "options", "lines"),
    [
        ("a O\nNew York B\n\nc O\nd O\n", {}, [2, 0]),
        ("# O\na O\nb x\ty\n", {}, [0]),
        ("a x O\n\nb O\n", {}, [0, 0]),  # sentences of CoNLL-2012 differ, their lines do not
        ("a O\nb c O\n", {"label_column": 1}, [0]),
        ("a\nb c\n", {"label_column": None}, [0]),
    ],
)
def test_lines_with_other_numbers_of_columns(write, content, options, lines):
    sentences = read_corpus(write(content), **options)
    assert [sentence.uneven_line for sentence in sentences] == lines


@pytest.mark.parametrize("separator", ["\t", " "])
@pytest.mark.parametrize("first", ["a{0}O\n\n", ""])
def test_number_signs_are_tokens(write, separator, first):
    rows = ["#", "#hashtag", "good", "#", "##", "#end", "#begin"]
    text = first + "".join(f"{row}{{0}}O\n" for row in rows) + "\n#{0}O\n\n#x{0}B-X\n"
    found = tokens_of(write(text.format(separator)))
    assert found[-3:] == [tuple(rows), ("#",), ("#x",)]


def test_a_row_without_its_tab_is_no_comment(write):
    assert "news.conll:3: too few columns" in refusal(write("a\tO\n\n#b\n"))
    assert "news.conll:3: too few columns" in refusal(write("a\tO\n\n#\n"))


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


def test_numbers_like_ranges_are_tokens_elsewhere(write):
    assert tokens_of(write("1-2\tO\n1.1\tO\n1\tO\n")) == [("1-2", "1.1", "1")]
    assert tokens_of(write("1-2 O\n1.1 O\n")) == [("1-2", "1.1")]
    ten = "\t".join(["1.1", *"abcdefghi"]) + "\n"  # ten columns, but no CoNLL-U
    assert tokens_of(write(ten)) == [("1.1",)]
