"""``uanet data convert``: labelled files from one format to another."""

import dataclasses
import pathlib

from uanet_lite.atomic_file import STDOUT, open_output
from uanet_lite.notes import Notes
from uanet_lite.text_lines import STDIN, display_name
from uanet_lite.tokenizer import KINDS, Tokenizer
from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.labelled_file import ReadingFlags, read_and_tell
from uanet_tf.config import DataConfig
from uanet_tf.errors import InputError
from uanet_tf.formats.table import FORMATS, write_labelled

_NAMES = tuple(FORMATS)


def convert(
    how: ReadingFlags,
    *,
    input: str = flag(STDIN, "File to read; '-': standard input."),
    output: str = flag(STDOUT, "File to write; '-': standard output."),
    from_: str | None = flag(None, "Format of the input. Default: by name and content.", _NAMES),
    to: str | None = flag(None, "Format of the output. Default: by its name.", _NAMES),
    token_column: str = flag(
        "0", "Column of the token: a number, from 0, or a name that the file gives."
    ),
    tokenizer: str = flag("ptb", "How text is cut into tokens, see uanet train.", KINDS),
    split_sentences: bool = flag(True, "Split texts into sentences."),
) -> None:
    r"""Converts labelled files between columns and the formats of others.

        uanet data convert --input=train.jsonl --output=train.conll
        uanet data convert --input=train.conll --output=train.jsonl --to=spacy
        uanet data convert --input=corpus/ --from=brat --output=train.conll

        uanet data convert --input=export.json --from=label_studio \
            --output=train.conll

    Formats: conll (columns); csv (a table with a header); huggingface (JSON lines of tokens and
    labels); spacy (JSON lines of text and entities [start, end, type]); brat (.txt with .ann; a
    folder is read whole); label_studio, doccano, prodigy, argilla (what the annotation tool exports
    and imports; of an export, the texts that a person has accepted, of several annotations of a
    text the last). Text is cut into tokens by --tokenizer, and where an entity begins or ends; so
    are tokens that the file has. Tokens of white space are left out. docs/formats.md says how each
    is read. All commands that read labelled files read these formats.
    """
    reading = dataclasses.replace(
        how.reading(DataConfig(), token_column),
        format=from_ or "auto",
        tokenizer=Tokenizer(tokenizer),
        split_sentences=split_sentences,
    )
    target = to or _format_of_output(output)
    if target == "brat" and (output == STDOUT or not pathlib.Path(output).name):
        raise InputError("--to=brat writes two files: name --output=FILE.txt.")
    notes = Notes()
    sentences = read_and_tell(input, reading, notes=notes)
    before = display_name(input) + (": record " if notes.is_list else ":")
    written = write_labelled(sentences, target, lambda sentence: f"{before}{sentence.line}")
    for ending, content in written.items():
        path = str(pathlib.Path(output).with_suffix(ending)) if ending else output
        with open_output(path) as stream:
            stream.write(content)


def _format_of_output(path: str) -> str:
    if path.endswith((".txt", ".ann")):
        return "brat"
    if path.endswith(".csv"):
        return "csv"
    if ".jsonl" in path:
        raise InputError("--to=huggingface or --to=spacy? Both are JSON lines.")
    return "conll"
