"""Random texts and files: what was written is read again, or refused with file and line."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uanet_lite.columns_file import format_columns
from uanet_lite.sentence import Sentence
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.errors import InputError
from uanet_tf.formats import brat
from uanet_tf.formats.annotated_text import ACCEPTED, AnnotatedText, Mark
from uanet_tf.formats.table import Reading, read_labelled, write_labelled

# Emoji, combining marks, right to left, line ends, blanks, invisible characters.
PIECES = [
    "Ada",
    "in",
    "Lund",
    ".",
    "😀",
    "👩\u200d🚒",
    "e\u0301",
    "שלום",
    "عربي",
    "\u200f",
    "\u00ad",
]
PIECES += [" ", "  ", "\r\n", "\n", "\u00a0", "\u2066", "\u2069", "'", "道", "x"]
# Many only where all tests run.
EXAMPLES = pytest.mark.parametrize("examples", [100, pytest.param(1000, marks=pytest.mark.process)])


@st.composite
def documents(draw):
    text = "A" + "".join(draw(st.lists(st.sampled_from(PIECES), max_size=14)))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    marks = [
        Mark(start, end, draw(st.sampled_from(["PER", "LOC"])))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
        if text[start:end].strip()
    ]
    return AnnotatedText(text, tuple(marks), status=ACCEPTED)


@EXAMPLES
def test_marks_of_brat_are_read_as_they_were_written(examples):
    @settings(max_examples=examples, deadline=None)
    @given(item=documents())
    def check(item):
        with tempfile.TemporaryDirectory() as folder:
            for ending, content in brat.write([item]).items():
                Path(folder, f"a{ending}").write_bytes(content.encode())
            ((_, read),) = brat.read(folder)
        assert read.text == item.text + "\n"
        assert [mark[:3] for mark in read.marks] == [mark[:3] for mark in item.marks]

    check()


def check_place(error, place):
    """A refusal names file and line."""
    assert re.search(place, str(error))


COUNTINGS = {
    "code points": lambda text: text,
    "CR LF as one": lambda text: text.replace("\r\n", "\n"),
    "LF as two": lambda text: re.sub("(?<!\r)\n", "\r\n", text),
    "with a mark": lambda text: "\ufeff" + text,
}


@pytest.mark.parametrize("counting", COUNTINGS)
@settings(max_examples=100, deadline=None)
@given(item=documents())
def test_marks_that_are_counted_otherwise_are_mended_or_refused(counting, item):
    """Offsets of another form of the text: the same stretches, or an error with its line."""
    change = COUNTINGS[counting]
    lines = []
    for number, mark in enumerate(item.marks, 1):
        start = len(change(item.text[: mark.start] + "|")) - 1
        end = len(change(item.text[: mark.end] + "|")) - 1
        said = " ".join(item.text[mark.start : mark.end].splitlines())
        lines.append(f"T{number}\t{mark.label} {start} {end}\t{said}\n")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.txt").write_bytes(item.text.encode())
        Path(folder, "a.ann").write_bytes("".join(lines).encode())
        try:
            ((_, read),) = brat.read(folder)
        except InputError as error:
            check_place(error, r"a\.ann:\d+: characters")
            return
    pairs = zip(read.marks, item.marks, strict=True)
    for found, mark in pairs:
        assert found.label == mark.label
        stretches = (item.text[found.start : found.end], item.text[mark.start : mark.end])
        assert len({re.sub(r"\s|\ufeff", "", stretch) for stretch in stretches}) == 1


WORDS = ["Ada", "#", "#x", "-", "1", "2", "0", "O", "word", "-DOCSTART-x", "é", "道", "a=b", "_"]


@st.composite
def labelled(draw):
    sentences = []
    for _ in range(draw(st.integers(1, 4))):
        tokens = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
        labels = [draw(st.sampled_from(["O", "B-PER", "B-LOC"])) for _ in tokens]
        sentences.append((tuple(tokens), tuple(labels)))
    return sentences


@EXAMPLES
def test_columns_are_read_as_they_were_written_or_refused(examples):
    @settings(max_examples=examples, deadline=None)
    @given(
        sentences=labelled(), separator=st.sampled_from("\t "), middle=st.sampled_from(["", "NN"])
    )
    def check(sentences, separator, middle):
        blocks = []
        for tokens, labels in sentences:
            rows = [
                separator.join(filter(None, (token, middle, label)))
                for token, label in zip(tokens, labels, strict=True)
            ]
            blocks.append("\n".join(rows) + "\n\n")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.conll")
            path.write_text("".join(blocks), encoding="utf-8")
            try:
                read = read_labelled(str(path))
            except InputError as error:
                check_place(error, r"a\.conll:\d+: ")
                return
        assert [(sentence.tokens, sentence.labels) for sentence in read] == sentences

    check()


@pytest.mark.parametrize("kind", ["conll", "csv", "huggingface", "spacy", "doccano", "brat"])
@EXAMPLES
def test_labelled_sentences_pass_through_every_format(kind, examples):
    @settings(max_examples=examples, deadline=None)
    @given(sentences=labelled())
    def check(sentences):
        items = [
            Sentence(tokens, labels, number, number == 1)
            for number, (tokens, labels) in enumerate(sentences, 1)
        ]
        written = write_labelled(items, kind, lambda sentence: "")
        with tempfile.TemporaryDirectory() as folder:
            for ending, content in written.items():
                name = "a" + (ending or (".csv" if kind == "csv" else ".x"))
                Path(folder, name).write_bytes(content.encode())
            reading = Reading(format=kind, tokenizer=Tokenizer("whitespace"), split_sentences=False)
            path = folder if kind == "brat" else str(Path(folder, name))
            try:
                read = read_labelled(path, reading)
            except InputError as error:
                check_place(error, r"a\.\w+:\d+: ")
                return
        assert [label[2:] for one in read for label in one.labels if label[0] == "B"] == [
            label[2:] for _, labels in sentences for label in labels if label[0] == "B"
        ]
        if kind in ("conll", "csv", "huggingface"):
            assert [(one.tokens, one.labels) for one in read] == sentences
        assert format_columns(read)

    check()
