"""Tags sentences with a TensorFlow Lite file, without TensorFlow.

Reads text (one sentence per line), JSON lines ({"text": ...} or {"tokens": [...]}) or CoNLL, and
writes one answer for each sentence, in the order of the input, in constant memory.
"""

import argparse
import collections
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, TextIO

from uanet_lite.atomic_file import STDOUT, open_output
from uanet_lite.input_error import InputError
from uanet_lite.lite_tagger import Tagger
from uanet_lite.rows import FORMATS, STDIN, Row, guess_format, read_rows
from uanet_lite.strict_json import json_text
from uanet_lite.tagged_sentence import TaggedSentence

BAD_ROWS, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
_OUTPUT_FORMATS = ("jsonl", "conll")


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command and exits.

    0: done; 1: done, but some lines have an error instead of an answer; 2: bad input, explained in
    one sentence; 130: interrupted; 141: the reader of the output went away.
    """
    try:
        code = main(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except InputError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
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
    kind = options.format or guess_format(options.input)
    output_kind = options.output_format or ("conll" if kind == "conll" else "jsonl")
    tagger = Tagger(options.model, threads=options.threads)
    column = options.token_column
    column = tagger.settings["token_column"] if column is None else column
    rows = read_rows(options.input, kind, column, tagger.tokenizer)
    first = list(itertools.islice(rows, 1))  # a bad file leaves no output
    failed = 0
    with open_output(options.output) as stream:
        write = _WRITERS[output_kind]
        for row, tagged in _tag(tagger, itertools.chain(first, rows)):
            failed += tagged is None
            write(stream, row, tagged)
            if stream is sys.stdout:
                stream.flush()
    if failed:
        print(f"{failed:,} lines have an error instead of an answer.", file=sys.stderr)
    return BAD_ROWS if failed else 0


def _tag(tagger: Tagger, rows: Iterator[Row]) -> Iterator[tuple[Row, TaggedSentence | None]]:
    """Each row with its answer, in order; None for a row with an error."""
    waiting: collections.deque[Row] = collections.deque()

    def sentences():
        for row in rows:
            waiting.append(row)
            if row.error is None:
                yield row.sentence

    for tagged in tagger.tag_stream(sentences()):
        while waiting[0].error is not None:
            yield waiting.popleft(), None
        yield waiting.popleft(), tagged
    for row in waiting:
        yield row, None


def _write_json(stream: TextIO, row: Row, tagged: TaggedSentence | None) -> None:
    """The fields of the input and of the answer; the answer's win where both have one."""
    answer: dict[str, Any] = (
        {"error": row.error, "line": row.line} if tagged is None else tagged.to_dict()
    )
    stream.write(json_text(row.fields | answer) + "\n")


def _write_conll(stream: TextIO, row: Row, tagged: TaggedSentence | None) -> None:
    """The lines of the input, or its words, with the label as last column."""
    if tagged is None:
        raise InputError(f"Line {row.line} of the input: {row.error} (--output_format=jsonl)")
    lines = row.lines or tagged.tokens
    if not row.lines and any(set("\t\n\r") & set(token) for token in lines):
        raise InputError(f"Line {row.line} of the input: a word does not fit a CoNLL column.")
    # With the input's own separator: a tab after blanks would make the blanks part of the token.
    separator = " " if row.lines and " " in lines[0] and "\t" not in lines[0] else "\t"
    pairs = zip(lines, tagged.labels, strict=True)
    stream.write("".join(f"{line}{separator}{label}\n" for line, label in pairs) + "\n")


_WRITERS: dict[str, Callable[[TextIO, Row, TaggedSentence | None], None]] = {
    "jsonl": _write_json,
    "conll": _write_conll,
}


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
    add("--format", choices=FORMATS, help="default: by the file's ending, else text")
    add("--token_column", type=int, help="CoNLL: column of the words; default: the model's")
    add("--output", default=STDOUT, help="file to write; '-': standard output (default)")
    add("--output_format", choices=_OUTPUT_FORMATS, help="default: conll for conll, else jsonl")
    add(
        "--threads",
        type=int,
        default=1,
        help="sentences tagged at the same time; one thread answers each line before it reads on",
    )
    return parser
