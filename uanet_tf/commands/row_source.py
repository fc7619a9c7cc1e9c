"""Where the rows to be tagged come from: what the commands that tag share."""

import functools
import itertools
import os
import stat
import sys
from collections.abc import Callable, Iterator

from uanet_lite.input_format import (
    format_of_look,
    format_of_name,
    refuse_columns,
    said_of,
)
from uanet_lite.rows import Row, read_rows
from uanet_lite.text_lines import STDIN, display_name, read_lines
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.errors import InputError


def open_rows(
    path: str,
    kind: str | None,
    token_column: int,
    output_kind: str | None,
    uncertainty_columns: bool,
) -> tuple[str, str, Iterator[Row]]:
    """The formats of input and output, and the input's rows, the first of which has been read.

    So a bad file is reported before a model is loaded. A format that is detected from the first
    line is reported on stderr.

    Args:
      path: a file, may be gzipped; "-" is standard input.
      kind: its format; None: by its name, else by its first line.
      token_column: column of the token, for "conll".
      output_kind: format of the output; None: JSON for JSON, columns for the others.
      uncertainty_columns: whether the output is to have columns that only "conll" has.

    Raises:
      InputError: the file cannot be read, is empty, or holds columns where its name says text,
        naming file and line; the output's format has no columns.
    """
    if uncertainty_columns and output_kind not in (None, "conll"):
        raise _no_columns(output_kind)
    lines = read_lines(path)
    if kind is None:
        kind = format_of_name(path)
        if kind == "text":
            lines = refuse_columns(path, lines, "name --format=conll, or --format=text")
    if kind is None:
        kind, lines = format_of_look(lines)
        if kind != "jsonl" and path.lower().removesuffix(".gz").endswith(".json"):
            raise InputError(
                f"{path}: JSON is read with an object in each line: write it so (jq -c '.[]' FILE)."
            )
        print(said_of(path, kind), file=sys.stderr)
    output_kind = output_kind or ("jsonl" if kind == "jsonl" else "conll")
    if uncertainty_columns and output_kind != "conll":
        raise _no_columns(output_kind)
    rows = read_rows(path, kind, lines, token_column)
    return kind, output_kind, itertools.chain([next(rows)], rows)


def _no_columns(kind: str | None) -> InputError:
    return InputError(f"--uncertainty_columns goes with --output_format=conll. Received: {kind}")


def cutter(
    path: str, kind: str, tokenizer: Tokenizer, split: bool, language: str
) -> Callable[[Row], Row]:
    """The function that cuts a row's text into sentences and tokens."""
    if kind == "tokens":
        tokenizer, split = Tokenizer("whitespace"), False
    return functools.partial(
        Row.cut, tokenizer=tokenizer, split=split, language=language, file=path
    )


def may_pause(path: str) -> bool:
    """Whether the input comes from a pipe, a terminal or the like."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode if path == STDIN else os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode)


def tell_error(path: str, row: Row) -> bool:
    """Reports on stderr why a row could not be tagged; returns whether there was a reason."""
    if row.error is not None:
        print(f"{display_name(path)}:{row.line}: {row.error}", file=sys.stderr)
    return row.error is not None
