"""The rows to be tagged: what the commands that tag share."""

import dataclasses
import functools
import itertools
import os
import queue
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from uanet_lite.columns_file import Column
from uanet_lite.input_format import FORMATS, format_of_look, format_of_name, refuse_columns, said_of
from uanet_lite.raw_text import LANGUAGE
from uanet_lite.rows import Row, read_rows
from uanet_lite.text_lines import STDIN, display_name, read_lines
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.runner import INPUT
from uanet_tf.errors import InputError

_PAUSE_SECONDS = 0.05
T = TypeVar("T")
_END = object()


@dataclasses.dataclass(frozen=True)
class TextFlags:
    """How raw text is split into sentences."""

    split_sentences: bool = flag(
        False, "Text: split each into sentences. Else a line, or a text of JSON, is one sentence."
    )
    language: str = flag(
        LANGUAGE, "Text: code of its language, for splitting sentences (de, pt, ...)."
    )

    def cutter(self, path: str, kind: str, tokenizer: Tokenizer) -> Callable[[Row], Row]:
        """The function that cuts a row's text into sentences and tokens, with this tokenizer."""
        how: dict[str, Any] = {"tokenizer": tokenizer, "split": self.split_sentences}
        if kind == "tokens":
            how = {"tokenizer": Tokenizer("whitespace"), "split": False}
        return functools.partial(Row.cut, **how, language=self.language, file=path)


@dataclasses.dataclass(frozen=True)
class InputFile:
    """The file to tag; ``format`` is None where its name or its first line tells it."""

    text: TextFlags
    input: str = flag(STDIN, "File to tag; '-': standard input.")
    format: str | None = flag(
        None,
        "Format of the input. Default: by its extension (.conll, .jsonl, .txt), else by its "
        "first line, which is then reported on stderr.",
        FORMATS,
    )

    def open(self, token_column: Column) -> tuple[str, Iterator[Row]]:
        """The format, which is said on stderr where the first line tells it, and the rows.

        The first row has been read, so a bad file is reported before a model is loaded.

        Raises:
          InputError: the file cannot be read, is empty, or holds columns where its name says text,
            naming file and line.
        """
        path, kind, lines = self.input, self.format, read_lines(self.input)
        if kind is None:
            kind = format_of_name(path)
            if kind == "text":
                lines = refuse_columns(path, lines, "name --format=conll, or --format=text")
        if kind is None and path.lower().removesuffix(".gz").endswith(".csv"):
            raise InputError(
                f"{path}: CSV is not tagged: write columns of it (uanet data convert "
                f"--input={path} --to=conll), or name --format."
            )
        if kind is None:
            kind, lines = format_of_look(lines)
            if kind != "jsonl" and path.lower().removesuffix(".gz").endswith(".json"):
                raise InputError(
                    f"{path}: JSON is read with an object in each line: write it so "
                    "(jq -c '.[]' FILE)."
                )
            print(said_of(path, kind), file=sys.stderr)
        rows = read_rows(path, kind, lines, token_column)
        return kind, itertools.chain([next(rows)], rows)

    def may_pause(self) -> bool:
        """Whether the input comes from a pipe, a terminal or the like."""
        path = self.input
        try:
            mode = os.fstat(sys.stdin.fileno()).st_mode if path == STDIN else os.stat(path).st_mode
        except (OSError, ValueError):
            return False
        return not stat.S_ISREG(mode)

    def tell_error(self, row: Row) -> bool:
        """Reports on stderr why a row could not be tagged; returns whether there was a reason."""
        if row.error is not None:
            print(f"{display_name(self.input)}:{row.line}: {row.error}", file=sys.stderr)
        return row.error is not None


def bursts(items: Iterator[T], most: int, seconds: float = _PAUSE_SECONDS) -> Iterator[list[T]]:
    """Lists of at most ``most`` items that come without a pause: what has arrived together.

    A pause is ``seconds`` without a further item, once there is one. A thread reads, as far ahead
    as two lists; an error of the items is raised after those that came before it.
    """
    arrived: queue.Queue[object] = queue.Queue(2 * most)
    outcome: list[InputError | None] = []

    def read() -> None:
        try:
            for item in items:
                arrived.put(item)
            outcome.append(None)
        except InputError as error:
            outcome.append(error)
        finally:
            arrived.put(_END)

    threading.Thread(target=read, daemon=True, name=INPUT).start()
    ended = False
    while not ended:
        item = arrived.get()
        burst: list[T] = []
        while item is not _END:
            burst.append(cast(T, item))
            if len(burst) == most:
                break
            try:
                item = arrived.get(timeout=seconds)
            except queue.Empty:
                break
        else:
            ended = True
        if burst:
            yield burst
    if not outcome:
        raise RuntimeError("reading the input failed, see above")
    if outcome[0] is not None:
        raise outcome[0]
