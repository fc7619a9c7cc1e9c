"""brat's standoff files: FILE.ann beside FILE.txt, lines T1<TAB>PER 0 4<TAB>Anna.

An entity in several pieces is read from its first to its last character. The third column is
compared with the text at the offsets, line ends as they stand in the text.
"""

import pathlib
import re
from collections.abc import Iterator, Sequence

from uanet_lite.notes import Notes
from uanet_lite.text_lines import read_lines
from uanet_tf.errors import InputError
from uanet_tf.formats.annotated_text import ACCEPTED, AnnotatedText, Mark
from uanet_tf.formats.offsets import Said, mend

_PLACE = r"[0-9]{1,18} [0-9]{1,18}"
_ENTITY = re.compile(rf"T\d+\t(\S+) ({_PLACE}(?:;{_PLACE})*)(?:\t(.*))?")

# Relations, events, attributes, normalisations, notes, equivalences.
_OTHERS = "REAMN#*"

Entity = tuple[str, list[Said]]  # its type and pieces


def matches(path: pathlib.Path) -> bool:
    """Whether a path is a folder with .ann files, one of them, or a text beside one."""
    if path.is_dir():
        return any(path.rglob("*.ann"))
    return path.suffix == ".ann" or (path.suffix == ".txt" and path.with_suffix(".ann").is_file())


def read(path: str, notes: Notes | None = None) -> Iterator[tuple[str, AnnotatedText]]:
    """(file, text) of a text file with its .ann file, or of all in a folder, hidden files aside.

    ``notes`` counts entities in several pieces, and texts of the folder without an .ann file.

    Raises:
      InputError: a missing file, a line that cannot be read, or a text that is not the one that
        was marked; names it.
    """
    place, notes = pathlib.Path(path), notes or Notes()
    files = [place.with_suffix(".ann")]
    if place.is_dir():
        files = [file for file in sorted(place.rglob("*.ann")) if file.name[0] != "."]
        for file in sorted(place.rglob("*.txt")):
            if file.name[0] != "." and not file.with_suffix(".ann").exists():
                notes.count("left out, as no .ann file is beside them: {} texts", str(file))
    if not files:
        raise InputError(f"{path}: holds no .ann file.")
    for file in files:
        source = file.with_suffix(".txt")
        try:
            text = source.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{source}: cannot be read ({error}).") from None
        entities = []
        for number, line in read_lines(file):
            if line[:1] == "T":
                entities.append(_entity(line, f"{file}:{number}"))
            elif line.strip() and line[0] not in _OTHERS:
                raise InputError(f"{file}:{number}: no line of brat's: {line!r:.60}")
        pieces = [piece for _, own in entities for piece in own]
        try:
            mended = mend(text, pieces)
        except InputError as error:
            raise InputError(f"{error} (text: {source})") from None
        spans = iter(mended.spans)
        marks = []
        for kind, own in entities:
            edges = [edge for _ in own for edge in next(spans)]
            mark = Mark(min(edges), max(edges), kind, place=own[0].place)
            marks.append(mark)
            gaps = zip(sorted(edges)[1:-1:2], sorted(edges)[2:-1:2], strict=True)
            if any(text[end:start].strip() for end, start in gaps):
                notes.count("marks in several pieces, read with what is between: {}", mark.place)
        yield str(file), AnnotatedText(text, tuple(marks), status=ACCEPTED, counted=mended.how)


def write(items: Sequence[AnnotatedText]) -> dict[str, str]:
    """{ending: content} of one text, a line for each item, and its .ann file.

    Raises InputError for a type that is blank or has blanks.
    """
    lines: list[str] = []
    notes: list[str] = []
    start = 0
    for item in items:
        for mark in item.marks:
            if not re.fullmatch(r"\S+", mark.label):
                raise InputError(
                    f"the type {mark.label!r:.60} cannot be written for brat: its types have no "
                    "blanks."
                )
            inside = " ".join(item.text[mark.start : mark.end].splitlines())  # a note is one line
            places = f"{start + mark.start} {start + mark.end}"
            notes.append(f"T{len(notes) + 1}\t{mark.label} {places}\t{inside}\n")
        lines.append(item.text + "\n")
        start += len(item.text) + 1
    return {".txt": "".join(lines), ".ann": "".join(notes)}


def _entity(line: str, place: str) -> Entity:
    found = _ENTITY.fullmatch(line)
    if found is None:
        raise InputError(f"{place}: not an entity such as T1<TAB>PER 0 4<TAB>Anna.")
    edges = [tuple(map(int, piece.split())) for piece in found[2].split(";")]
    texts: list[str | None] = [None] * len(edges)
    if found[3] is not None and len(edges) == 1:
        texts = [found[3]]
    elif found[3] is not None:  # the pieces, a blank between any two
        rest = found[3]
        lengths = [end - start for start, end in edges]
        if len(rest) == sum(lengths) + len(edges) - 1:
            ends = [sum(lengths[: k + 1]) + k for k in range(len(edges))]
            texts = [rest[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    return found[1], [
        Said(start, end, text, place) for (start, end), text in zip(edges, texts, strict=True)
    ]
