"""Files of annotation tools: reading and writing, by the tool's name."""

import dataclasses
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple, TextIO

from uanet_lite.strict_json import json_text, parse_record
from uanet_tf.errors import InputError, one_line
from uanet_tf.formats import argilla, doccano, label_studio, prodigy
from uanet_tf.formats.annotated_text import ACCEPTED, REJECTED, AnnotatedText

Keyed = tuple[Hashable | None, str, AnnotatedText]  # key of the text, place in the file, record


def last_answers(records: Iterable[Keyed]) -> Iterator[tuple[str, AnnotatedText]]:
    """One record of each key, with its place: the last that was decided; in order of the first.

    Args:
      records: those with the key None are taken as they are.
    """
    groups: dict[Hashable, list[tuple[str, AnnotatedText]]] = {}
    for key, place, item in records:
        groups.setdefault(object() if key is None else key, []).append((place, item))
    for group in groups.values():
        decided = [pair for pair in group if pair[1].status in (ACCEPTED, REJECTED)]
        place, item = (decided or group)[-1]
        answers = {(one.status, frozenset(mark[:3] for mark in one.marks)) for _, one in decided}
        yield place, dataclasses.replace(item, disputed=True) if len(answers) > 1 else item


class _Format(NamedTuple):
    read: Callable[[dict[str, Any]], AnnotatedText]
    write: Callable[[AnnotatedText], dict[str, Any]]
    is_list: bool  # one JSON list; else one JSON object per line
    text_key: str | None = None  # equal in records of the same text, of which the last counts


FORMATS = {
    "label_studio": _Format(label_studio.read, label_studio.write, True),
    "doccano": _Format(doccano.read, doccano.write, False),
    "prodigy": _Format(prodigy.read, prodigy.write, False, prodigy.TEXT_KEY),
    "argilla": _Format(argilla.read, argilla.write, True),
}


def write_annotations(items: Iterable[AnnotatedText], stream: TextIO, tool: str) -> int:
    """Writes texts as a file for a tool; returns how many."""
    chosen = _format(tool)
    count = 0
    for count, item in enumerate(items, 1):
        if chosen.is_list:
            stream.write("[\n" if count == 1 else ",\n")
        stream.write(json_text(chosen.write(item)))
        if not chosen.is_list:
            stream.write("\n")
    if chosen.is_list:
        stream.write("\n]\n" if count else "[]\n")
    return count


def read_annotations(stream: Iterable[str], tool: str, name: str) -> Iterator[AnnotatedText]:
    """Reads a tool's file, a JSON list or one object per line, whichever it is.

    As ``read_with_places``.
    """
    return (item for _, item in read_with_places(stream, tool, name))


def read_with_places(
    stream: Iterable[str], tool: str, name: str
) -> Iterator[tuple[str, AnnotatedText]]:
    """Reads a tool's file; each text comes with its place, file and line or record.

    Where several records are of one text, the last that a person decided is taken.

    Args:
      stream: the lines of the file.
      tool: one of ``FORMATS``.
      name: the file's, for messages.

    Raises:
      InputError: the file is no JSON, or a record is not of this format; names the place.
    """
    chosen = _format(tool)
    keyed = (
        (_text_key(chosen, record), place, _item(chosen.read, record, place, tool))
        for place, record in _records(stream, name)
    )
    if chosen.text_key is not None:
        yield from last_answers(keyed)
        return
    yield from ((place, item) for _, place, item in keyed)


def _text_key(chosen: _Format, record: Any) -> int | str | None:
    found = record.get(chosen.text_key) if isinstance(record, dict) else None
    return found if isinstance(found, int | str) else None


def _item(
    read: Callable[[dict[str, Any]], AnnotatedText], record: Any, place: str, tool: str
) -> AnnotatedText:
    try:
        return read(record)
    except InputError as error:
        raise InputError(f"{place}: {one_line(error)}") from None
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
        reason = one_line(error)
        missing = f"there is no {reason}" if isinstance(error, KeyError) else reason
        raise InputError(f"{place}: not a record of {tool}: {missing}.") from error


def _format(tool: str) -> _Format:
    if tool not in FORMATS:
        raise InputError(f"the tool must be one of {', '.join(FORMATS)}. Received: {tool!r}.")
    return FORMATS[tool]


def _records(stream: Iterable[str], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Records with their place for messages."""
    numbered = ((number, line) for number, line in enumerate(stream, 1) if line.strip())
    begins, head = next(numbered, (0, ""))
    head = head.lstrip("\ufeff \t\r\n")
    if head.startswith("["):
        text = head + "".join(line for _, line in numbered)
        for position, record in enumerate(_parsed(text, name), 1):
            yield f"{name}: record {position}", record
        return
    for number, line in itertools.chain([(begins, head)] if head else [], numbered):
        yield f"{name}:{number}", _parsed(line, f"{name}:{number}")


def _parsed(text: str, place: str) -> Any:
    try:
        return parse_record(text)
    except ValueError as error:
        raise InputError(f"{place}: not JSON: {error}.") from None
