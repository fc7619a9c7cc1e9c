"""Tags sentences with a TensorFlow Lite file, without TensorFlow.

Reads text (one sentence per line), JSON lines ({"text": ...} or {"tokens": [...]}) or CoNLL, and
writes one answer for each row, in the order of the input, in constant memory.
"""

import argparse
import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from uanet_lite.atomic_file import STDOUT, open_output
from uanet_lite.input_error import InputError, as_flags
from uanet_lite.input_format import FORMATS, format_of_look, format_of_name, said_of
from uanet_lite.lite_tagger import Tagger
from uanet_lite.raw_text import LANGUAGE
from uanet_lite.row_output import FORMATS as OUTPUT_FORMATS
from uanet_lite.row_output import make_writer
from uanet_lite.rows import Row, read_rows
from uanet_lite.sentence import NO_WORDS
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_lite.text_lines import STDIN, read_lines
from uanet_lite.tokenizer import Tokenizer

BAD_ROWS, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command and exits.

    0: done; 1: done, but some lines have an error instead of an answer; 2: bad input, explained in
    one sentence; 130: interrupted; 141: the reader of the output went away.
    """
    try:
        code = main(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except InputError as error:
        print(" ".join(as_flags(str(error)).split()), file=sys.stderr)
        code = BAD_INPUT
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BROKEN_PIPE
    sys.exit(code)


def main(arguments: Sequence[str]) -> int:
    """Tags what the arguments say; returns the exit code.

    Raises:
      InputError: wrong arguments, file or input.
    """
    options = _parser().parse_args(arguments)
    kind, lines = options.format or format_of_name(options.input), read_lines(options.input)
    if kind is None:
        kind, lines = format_of_look(lines)
        if kind == "jsonl":
            print(said_of(options.input, kind), file=sys.stderr)
        else:
            kind = "text"
    output_kind = options.output_format or ("conll" if kind == "conll" else "jsonl")
    tagger = Tagger(options.model, threads=options.threads)
    column, own = options.token_column, tagger.settings["token_column"]
    rows = read_rows(options.input, kind, lines, own if column is None else column)
    tokenizer = Tokenizer("whitespace") if kind == "tokens" else tagger.tokenizer
    first = list(itertools.islice(rows, 1))  # a bad file leaves no output
    failed = 0
    with open_output(options.output) as stream:
        write = make_writer(output_kind, stream, optional_answers=tagger.optional_answers)
        split = options.split_sentences and kind != "tokens"
        cut = (
            row.cut(tokenizer, split=split, language=options.language, file=options.input)
            for row in itertools.chain(first, rows)
        )
        for row, tagged in _tag_rows(tagger, cut):
            failed += row.error is not None
            if row.error is not None and output_kind == "conll":
                raise InputError(
                    f"Line {row.line} of the input: {row.error} (--output_format=jsonl)"
                )
            write(row, tagged)
            if stream is sys.stdout:
                stream.flush()
    if failed:
        print(f"{failed:,} lines have an error instead of an answer.", file=sys.stderr)
    return BAD_ROWS if failed else 0


def _tag_rows(tagger: Tagger, rows: Iterable[Row]) -> Iterator[tuple[Row, list[TaggedSentence]]]:
    """Each row with the answers for its sentences; none if it has no words, or an error."""
    # A sentence of each row, so that it comes in its turn.
    items = ((row, each) for row in rows for each in row.sentences or (NO_WORDS,))
    found: list[TaggedSentence] = []
    for row, tagged in tagger.tag_items(items):
        found.append(tagged)
        if len(found) >= len(row.sentences):
            yield row, found if row.sentences else []
            found = []


class _Parser(argparse.ArgumentParser):
    """Reports the error in one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message[0].upper()}{message[1:]} (see --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m uanet_lite",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--model", required=True, help="a .tflite file of export.py --tflite")
    add("--input", default=STDIN, help="file to tag; '-': standard input (default)")
    add("--format", choices=FORMATS, help="default: by the file's ending, else JSON or text")
    add("--token_column", help="CoNLL: column of the words, or its name; default: the model's")
    add(
        "--split_sentences",
        action="store_true",
        help="text: split each into sentences (needs sentencex); else a text is one sentence",
    )
    add("--language", default=LANGUAGE, help="text: code of its language, for splitting")
    add("--output", default=STDOUT, help="file to write; '-': standard output (default)")
    add("--output_format", choices=OUTPUT_FORMATS, help="default: conll for conll, else jsonl")
    add(
        "--threads",
        type=int,
        default=1,
        help="sentences tagged at the same time; one thread answers each line before it reads on",
    )
    return parser
