"""Converts labelled files between columns and the formats of others.

    uanet data convert --input=train.jsonl --output=train.conll
    uanet data convert --input=train.conll --output=train.jsonl --to=spacy
    uanet data convert --input=corpus/ --from=brat --output=train.conll

Formats: conll (columns); huggingface (JSON lines of tokens and labels); spacy (JSON lines of text
and entities [start, end, type]); brat (.txt with .ann; a folder is read whole). Text is cut into
tokens by --tokenizer, and where an entity begins or ends.
"""

import json
import pathlib
from collections.abc import Iterable
from typing import NoReturn

from absl import flags

from uanet_tf.commands import runner
from uanet_tf.commands.output_file import STDOUT, open_output
from uanet_tf.corpora import exchange
from uanet_tf.corpora.fetch import format_sentences
from uanet_tf.data.conll import Sentence, read_corpus
from uanet_tf.data.text_lines import STDIN, read_lines
from uanet_tf.errors import InputError
from uanet_tf.text.tokenizer import KINDS, Tokenizer

FORMATS = ("conll", "huggingface", "spacy", "brat")
FLAGS = flags.FlagValues()
flags.DEFINE_string("input", STDIN, "File to read; '-': standard input.", flag_values=FLAGS)
flags.DEFINE_string("output", STDOUT, "File to write; '-': standard output.", flag_values=FLAGS)
flags.DEFINE_enum(
    "from", None, FORMATS, "Format of the input. Default: by name and content.", flag_values=FLAGS
)
flags.DEFINE_enum(
    "to", None, FORMATS, "Format of the output. Default: by its name.", flag_values=FLAGS
)
flags.DEFINE_integer("token_column", 0, "Column of the token in columns.", flag_values=FLAGS)
flags.DEFINE_integer("label_column", -1, "Column of the label in columns.", flag_values=FLAGS)
flags.DEFINE_enum(
    "tokenizer", "ptb", KINDS, "How text is cut into tokens, see uanet train.", flag_values=FLAGS
)
flags.DEFINE_boolean("split_sentences", True, "Split texts into sentences.", flag_values=FLAGS)


def main() -> None:
    """Runs the command with the flags in ``FLAGS``."""
    source = FLAGS["from"].value or _format_of(FLAGS.input)
    target = FLAGS.to or _format_of_output(FLAGS.output)
    sentences = list(_read(source))
    if not sentences:
        raise InputError(f"{FLAGS.input}: no sentence found.")
    if target == "brat":
        _write_brat(sentences)
        return
    text = {
        "conll": format_sentences,
        "huggingface": exchange.format_huggingface,
        "spacy": exchange.format_spacy,
    }[target](sentences)
    with open_output(FLAGS.output) as stream:
        stream.write(text)


def _read(kind: str) -> Iterable[Sentence]:
    if kind == "conll":
        return read_corpus(
            FLAGS.input, token_column=FLAGS.token_column, label_column=FLAGS.label_column
        )
    if kind == "huggingface":
        return exchange.read_huggingface(FLAGS.input)
    read = exchange.read_spacy if kind == "spacy" else exchange.read_brat
    return read(FLAGS.input, Tokenizer(FLAGS.tokenizer), split=FLAGS.split_sentences)


def _write_brat(sentences: list[Sentence]) -> None:
    if FLAGS.output == STDOUT:
        raise InputError("--to=brat writes two files: name --output=FILE.txt.")
    text, notes = exchange.format_brat(sentences)
    for ending, content in ((".txt", text), (".ann", notes)):
        with open_output(str(pathlib.Path(FLAGS.output).with_suffix(ending))) as stream:
            stream.write(content)


def _format_of(path: str) -> str:
    """The format of an input, by its name and, for JSON, its first line."""
    if path.endswith(".ann") or pathlib.Path(path).is_dir():
        return "brat"
    if ".jsonl" not in path or path == STDIN:
        return "conll"
    line = next((line for _, line in read_lines(path) if line.strip()), "")
    try:
        fields = json.loads(line)
    except ValueError:
        fields = {}
    return "huggingface" if isinstance(fields, dict) and "tokens" in fields else "spacy"


def _format_of_output(path: str) -> str:
    if path.endswith((".txt", ".ann")):
        return "brat"
    if ".jsonl" in path:
        raise InputError("--to=huggingface or --to=spacy? Both are JSON lines.")
    return "conll"


def run() -> NoReturn:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS)
