"""Corpora, lines to be tagged, word vectors and annotations with damage of all kinds."""

import contextlib
import io
import json

from hypothesis import example, given
from hypothesis import strategies as st

from tests.formats.records import read_annotations
from tests.fuzz.inputs import check_said, damaged_bytes, damaged_json, share, to_bytes
from uanet_lite.columns_file import read_corpus
from uanet_lite.input_format import FORMATS
from uanet_lite.printable import printable
from uanet_lite.rows import read_rows
from uanet_lite.text_lines import read_lines
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.data.vectors_file import read_vectors
from uanet_tf.errors import InputError
from uanet_tf.evaluation.corpus_report import Corpus, format_reports, report_corpora
from uanet_tf.formats.annotated_text import AnnotatedText, Mark
from uanet_tf.formats.table import TOOLS, Reading, read_labelled, write_annotations

CORPUS = b"-DOCSTART- O\n\n# text\nAnn B-PER\nBeck I-PER\nsaw O\n\nOslo\tB-LOC\n. O\n\n" * 3
CONLL_U = b"1-2\tdu\t_\t_\n1\tde\tADP\tO\n2.1\tle\tDET\tB-X\n\n"
ROWS = b'{"tokens": ["Ann", "saw"], "id": 3}\n{"text": "Ann saw Oslo."}\nplain text\n\n'
VECTORS = b"3 4\nthe 1 2 3 4\nof 0.5 -1e-3 3 4\nOslo 1 1 1 1\n"
BINARY = b"2 4\nthe " + bytes(range(16)) + b"\nof " + bytes(16) + b"\n"
EXCHANGE = {
    "tokens": ["Ann", "saw"],
    "ner_tags": ["B-PER", "O"],
    "text": "Ann saw",
    "entities": [[0, 3, "PER"]],
}


@contextlib.contextmanager
def one_sentence():
    """Inside, nothing but an InputError of one line may be raised."""
    try:
        yield
    except InputError as error:
        check_said(error)


def write(folder, data):
    path = folder / "input"
    path.write_bytes(data)
    return str(path)


@share(0.25)
@given(
    data=st.sampled_from((CORPUS, CONLL_U, b"")).flatmap(damaged_bytes), column=st.integers(-3, 3)
)
def test_corpora(tmp_path_factory, data, column):
    path = write(tmp_path_factory.getbasetemp(), data)
    with one_sentence():
        sentences = read_corpus(path, token_column=column)
        report = format_reports(report_corpora([Corpus("train", path, sentences)] * 2))
        printable(report, keep="\n").encode("utf-8")


@share(0.15)
@given(data=damaged_bytes(ROWS + CORPUS), kind=st.sampled_from(FORMATS))
def test_lines_to_be_tagged(tmp_path_factory, data, kind):
    path = write(tmp_path_factory.getbasetemp(), data)
    with one_sentence():
        for row in read_rows(path, kind, read_lines(path), 0):
            row.cut(Tokenizer(), split=True)


@share(0.1)
@given(data=st.sampled_from((VECTORS, BINARY)).flatmap(damaged_bytes))
@example(data=VECTORS.replace(b"0.5", b"x" * 5_000))
@example(data=VECTORS.replace(b"of", b"o" * 5_000).replace(b"0.5", b"nan"))
@example(data=VECTORS.replace(b"3 4", b"9" * 5_000 + b" 4", 1))
def test_word_vectors(tmp_path_factory, data):
    path = write(tmp_path_factory.getbasetemp(), data)
    with one_sentence():
        words, matrix = read_vectors(path, width=4)
        assert matrix.shape == (len(words), 4)


@share(0.1)
@given(record=damaged_json(EXCHANGE), kind=st.sampled_from(("huggingface", "spacy", "auto")))
def test_formats_of_other_programs(tmp_path_factory, record, kind):
    path = write(tmp_path_factory.getbasetemp(), to_bytes(record) + b"\n")
    with one_sentence():
        read_labelled(path, Reading(format=kind))


@share(0.05)
@example(marks=b"T1\tPER " + b"9" * 5_000 + b" 3\tAnn\n")
@given(marks=damaged_bytes(b"T1\tPER 0 3\tAnn\nR1\tknows\nT2\tLOC 8 10;10 12\tOslo\n"))
def test_brat(tmp_path_factory, marks):
    folder = tmp_path_factory.getbasetemp()
    (folder / "note.txt").write_text("Ann saw Oslo.\n")
    (folder / "note.ann").write_bytes(marks)
    with one_sentence():
        read_labelled(str(folder / "note.txt"))


def marked(tool):
    """A file of a tool, read from plain values."""
    stream = io.StringIO()
    write_annotations([AnnotatedText("Ann saw Oslo.", (Mark(0, 3, "PER"),))], stream, tool)
    text = stream.getvalue()
    return json.loads(text if text.lstrip().startswith("[") else f"[{text}]")


@share(0.1)
@given(data=st.data(), tool=st.sampled_from(sorted(TOOLS)))
def test_annotations(data, tool):
    records = data.draw(damaged_json(marked(tool)))
    with one_sentence():
        lines = io.StringIO(to_bytes(records).decode("utf-8", "surrogatepass"))
        for item in read_annotations(lines, tool, "marks.json"):
            item.text.encode("utf-8")
