"""Labelled sentences as Python's users have them: a file, a list, or a table of pandas."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from uanet_lite.argument_checks import check_path
from uanet_lite.columns_file import parse_column
from uanet_lite.notes import Notes
from uanet_lite.sentence import Sentence, check_tokens
from uanet_tf.errors import InputError
from uanet_tf.formats import csv_table
from uanet_tf.formats.table import Reading, read_labelled

LabelledData: TypeAlias = str | os.PathLike[str] | Iterable[Any]
_WANTED = (
    "must be a path, a list of (tokens, labels), or a DataFrame with columns for sentence, token "
    "and label"
)


def read(
    path: str | os.PathLike[str],
    *,
    data_format: str = "auto",
    token_column: int | str = 0,
    label_column: int | str = -1,
) -> list[Sentence]:
    """The labelled sentences of a file of any format.

    Args:
      path: of the file, which may be gzipped; or a folder of brat's files.
      data_format: "auto", by name and content; or its name, see docs/formats.md.
      token_column: of columns and tables, number or name.
      label_column: the same of the labels.

    Returns:
      Sentences with ``tokens`` and ``labels``, as ``train`` and ``evaluate`` take them.

    Raises:
      InputError: it cannot be read, or holds no sentence; names the line or record.

    Example:
      >>> for tokens, labels in uanet_tf.read("dev.conll"):
      ...     print(tokens, labels)
    """
    token = parse_column(str(token_column), "token_column") or 0
    label = parse_column(str(label_column), "label_column")
    return read_labelled(check_path("path", path), Reading(data_format, token, label))


def labelled_sentences(
    data: Any, name: str, reading: Reading | None = None, notes: Notes | None = None
) -> list[Sentence]:
    """The sentences of a path, of pairs (tokens, labels), or of a DataFrame of pandas.

    A DataFrame has a row for each token, and columns known by their names, as in a CSV file.

    Raises:
      InputError: something else, or data that cannot be read; names the position.
    """
    if isinstance(data, str | os.PathLike):
        return read_labelled(os.fspath(data), reading, notes)
    if hasattr(data, "to_csv") and hasattr(data, "columns"):  # without the import of pandas
        return _of_table(data, name, reading or Reading(), notes)
    if isinstance(data, bytes | Mapping | set | frozenset) or not isinstance(data, Iterable):
        raise InputError(f"{name} {_WANTED}. Received: {data!r:.60}")
    sentences = [_of_pair(pair, f"{name}[{index}]", index) for index, pair in enumerate(data)]
    if not sentences:
        raise InputError(f"{name} {_WANTED}, and has no sentence.")
    return sentences


def _of_pair(pair: Any, name: str, index: int) -> Sentence:
    """A sentence of (tokens, labels); one that was read is taken as it is."""
    if isinstance(pair, Sentence):
        return pair
    try:
        tokens, labels = (  # NumPy's texts as Python's
            [str(each) if isinstance(each, str) else each for each in part]
            for part in pair
            if not isinstance(part, str)
        )
    except (TypeError, ValueError):
        raise InputError(
            f"{name} must be (tokens, labels), two lists of texts. Received: {pair!r:.60}"
        ) from None
    if not tokens:
        raise InputError(f"{name} is empty: a sentence needs at least one token.")
    check_tokens(tokens, f"{name}: token ")
    check_tokens(labels, f"{name}: label ")
    if len(tokens) != len(labels):
        raise InputError(f"{name} has {len(tokens)} tokens and {len(labels)} labels.")
    return Sentence(tuple(tokens), tuple(labels), new_document=not index)


def _of_table(data: Any, name: str, reading: Reading, notes: Notes | None) -> list[Sentence]:
    """The rows of a DataFrame, read as those of a CSV file are; row 1 is the first."""
    columns = [str(column) for column in data.columns]
    if not csv_table.matches(columns):
        raise InputError(f"{name} {_WANTED}. Its columns are {', '.join(columns)}.")
    lines = enumerate(data.to_csv(index=False, lineterminator="\n").split("\n")[:-1])
    token, label, blank = reading.token_column, reading.label_column, reading.skip_blank_tokens
    return list(csv_table.read(lines, name, token, label, skip_blank_tokens=blank, notes=notes))
