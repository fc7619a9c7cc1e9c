"""THE table of the formats of labelled text: how each is recognised, read and written.

Every command that reads labelled text reads it by ``read_labelled``, every one that writes it for
others by ``write_labelled`` or ``write_annotations``. A new format is a file in this folder and a
row here.
"""

import collections
import csv
import dataclasses
import io
import itertools
import pathlib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TextIO

from uanet_lite.blank_tokens import without_blank_tokens
from uanet_lite.columns_file import (
    CHUNK_LABEL,
    Column,
    Sentence,
    format_columns,
    is_blank,
    parse_column,
    read_sentences,
    split_columns,
)
from uanet_lite.notes import Notes
from uanet_lite.strict_json import json_text, parse_record
from uanet_lite.tag_schemes import OUTSIDE, decode_spans, detect_scheme
from uanet_lite.text_lines import (
    STDIN,
    display_name,
    json_pieces,
    looks_like_json,
    open_bytes,
    put_back,
    read_start,
    stream_lines,
)
from uanet_lite.tokenizer import Tokenizer, detokenize
from uanet_tf.errors import InputError, one_line
from uanet_tf.formats import (
    argilla,
    brat,
    csv_table,
    doccano,
    huggingface,
    label_studio,
    prodigy,
    spacy,
)
from uanet_tf.formats.annotated_text import (
    ACCEPTED,
    REJECTED,
    SUGGESTED,
    AnnotatedText,
    Mark,
    join_tokens,
    listed,
)
from uanet_tf.formats.cutting import labelled_sentences
from uanet_tf.settings import OVERLAPS, REFUSE, DataConfig

_PAIR = re.compile(r'\[\s*"')  # of text and marks
_ANNOTATOR = {"classes", "annotations"}  # a list of such pairs, of the NER annotator for spaCy
# Tuples, and texts between single quotation marks, as Python writes them.
_PYTHON = re.compile(rb"(\w+\s*=\s*)?\[\s*\(\s*['\"]|\w+\s*=\s*[\[{]|\[?\s*\{\s*'\w+'\s*:")


class Format(NamedTuple):
    """A row of the table.

    Attributes:
      json: module that knows its JSON records by ``matches`` and ``read``, of texts with marks also
        ``write``, and ``text_key`` where records may be of one text: the last counts; None: it is
        no JSON.
      ending: of file names that say it.
      is_list: written as one JSON list; else one object per line. Both are read.
    """

    json: Any = None
    ending: str | None = None
    is_list: bool = False


# JSON records are of the first format that matches.
FORMATS = {
    "conll": Format(),
    "csv": Format(ending=".csv"),
    "brat": Format(ending=".ann"),
    "label_studio": Format(label_studio, is_list=True),
    "argilla": Format(argilla, is_list=True),
    "huggingface": Format(huggingface),
    "prodigy": Format(prodigy),
    "doccano": Format(doccano),
    "spacy": Format(spacy),
}
_OUTSIDES = {OUTSIDE, "_"}  # the second is that of CoNLL-U's empty columns
_TELLING = 100  # records among which one with marks is looked for, to tell the format
# Those that carry suggestions of a tagger to people, and their answers back.
TOOLS = ("label_studio", "doccano", "prodigy", "argilla")


@dataclasses.dataclass(frozen=True)
class Reading:
    """How labelled text is read.

    Attributes:
      format: one of FORMATS; "auto": by name and content.
      token_column: of columns and tables: index, from 0, or name of the tokens' column.
      label_column: the same of the labels; "MISC:KEY" in CoNLL-U; None: of no format are labels
        read.
      label_names: of Hugging Face's labels that are numbers.
      split_sentences: whether texts may hold several sentences.
      overlaps: what to do with marks that overlap, see ``settings.OVERLAPS``.
      skip_blank_tokens: leave out blank tokens of columns; else they are refused.
      accept_suggested: take texts whose suggested marks nobody changed.
    """

    format: str = "auto"
    token_column: Column = 0
    label_column: Column | None = -1
    label_names: Sequence[str] = ()
    tokenizer: Tokenizer = dataclasses.field(default_factory=lambda: Tokenizer("ptb"))
    split_sentences: bool = True
    overlaps: str = REFUSE
    skip_blank_tokens: bool = False
    accept_suggested: bool = False

    def __post_init__(self) -> None:
        if self.format != "auto" and self.format not in FORMATS:
            raise InputError(
                f"the format must be auto or one of {', '.join(FORMATS)}. Received: {self.format!r}"
            )
        if self.overlaps not in OVERLAPS:
            raise InputError(
                f"overlaps must be one of {', '.join(OVERLAPS)}. Received: {self.overlaps!r}"
            )

    @classmethod
    def of_settings(cls, data: DataConfig) -> "Reading":
        """As the settings of a run say; raises InputError for an empty or missing column."""
        token_column = parse_column(data.token_column, "token_column")
        if token_column is None:
            raise InputError("token_column must be a number or a column's name. Received: none")
        return cls(
            format=data.data_format,
            token_column=token_column,
            label_column=parse_column(data.label_column, "label_column"),
            label_names=tuple(filter(None, data.label_names.split(","))),
            tokenizer=Tokenizer("ptb" if data.tokenizer == "auto" else data.tokenizer),
            overlaps=data.overlaps,
            skip_blank_tokens=data.skip_blank_tokens,
            accept_suggested=data.accept_suggested,
        )


def read_labelled(
    path: str,
    reading: Reading | None = None,
    notes: Notes | None = None,
    *,
    ends: collections.Counter[str] | None = None,
) -> list[Sentence]:
    """The labelled sentences of a file, gzipped or not, of a folder (brat), or of standard input.

    ``ends`` counts the line ends of columns.

    Raises:
      InputError: it cannot be read, is of no known format, or holds no sentence; names the line or
        record.
    """
    reading, notes = reading or Reading(), notes or Notes()
    sentences = list(_sentences(path, reading, notes, ends))
    if not sentences:
        why = "; ".join(notes.lines())
        raise InputError(f"{display_name(path)}: no sentence found{': ' if why else ''}{why}.")
    _refuse_other(sentences, display_name(path))
    if reading.label_column is None:
        return [dataclasses.replace(sentence, labels=()) for sentence in sentences]
    labels = {label for sentence in sentences for label in sentence.labels}
    if labels <= _OUTSIDES:
        tokens, said = sum(len(sentence.tokens) for sentence in sentences), " or ".join(labels)
        notes.count(f"no entity: the label of all {{}} tokens is {said}", "", tokens)
    return sentences


def _refuse_other(sentences: Sequence[Sentence], name: str) -> None:
    """Raises InputError where most rows hold texts, or labels in the place of tokens."""
    rows = [
        pair
        for sentence in sentences[:_TELLING]
        for pair in itertools.zip_longest(sentence.tokens, sentence.labels, fillvalue="")
    ]
    texts = sum(token.count(" ") > 1 or (" " in token and " " in label) for token, label in rows)
    labels = [token for token, _ in rows if CHUNK_LABEL.fullmatch(token)]
    said = "a text, where each token needs a line (or row)" if 2 * texts > len(rows) else ""
    if 2 * len(labels) > len(rows) and {*labels} != {OUTSIDE}:
        said = "a label such as B-PER in the column of the tokens (`token_column`)"
    if said:
        raise InputError(f"{name}:{sentences[0].line}: most lines hold {said}.")


def holds_only_labelled(path: str) -> bool:
    """Whether a file is of a format that only those read who read labelled text.

    That is: no columns, plain text, or JSON lines with a text or tokens; standard input neither.
    """
    if path == STDIN or not pathlib.Path(path).exists():
        return False
    if kind := _format_by_name(path):
        return kind != "conll"
    name = display_name(path)
    with open_bytes(path) as stream:
        start = read_start(stream, name)
        stream = put_back(start, stream)
        if not looks_like_json(start):
            return _table_or_columns(stream_lines(stream, name))[0] == "csv"
        record = next(_records(json_pieces(stream, name, start), name), (name, None))[1]
    is_list = start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    if is_list or not isinstance(record, dict):
        return True
    tokens = record.get("tokens", [] if "text" in record else None)
    return not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens)


def _sentences(
    path: str, reading: Reading, notes: Notes, ends: collections.Counter[str] | None
) -> Iterator[Sentence]:
    name = display_name(path)
    kind = _format_by_name(path) if reading.format == "auto" else reading.format
    notes.format = kind
    if kind == "brat":
        for number, (place, item) in enumerate(brat.read(path, notes), 1):
            yield from _cut(item, place, number, reading, notes)
        return
    with open_bytes(path) as stream:
        start = read_start(stream, name)
        stream = put_back(start, stream)
        if FORMATS[kind].json is not None if kind else looks_like_json(start):
            yield from _of_records(json_pieces(stream, name, start), name, kind, reading, notes)
            return
        if _PYTHON.match(start.lstrip()):
            raise InputError(f"{name}: Python's lists, not JSON: write them by json.dump.")
        lines = stream_lines(stream, name, ends=ends)
        if not kind:
            kind, lines = _table_or_columns(lines)
            notes.format = kind
        token, label = reading.token_column, reading.label_column
        blank = reading.skip_blank_tokens
        if kind == "csv":
            yield from csv_table.read(
                lines, name, token, label, skip_blank_tokens=blank, notes=notes
            )
        else:
            yield from read_sentences(
                path,
                token_column=token,
                label_column=label,
                skip_blank_tokens=blank,
                lines=lines,
                notes=notes,
            )


def _format_by_name(path: str) -> str:
    """The format that the name says, "" where the content has to."""
    if path == STDIN:
        return ""
    file = pathlib.Path(path)
    if file.suffix == ".spacy":
        raise InputError(
            f"{path}: spaCy's binary format is read by spaCy: write a line of JSON for each text, "
            '{"text": doc.text, "entities": [[ent.start_char, ent.end_char, ent.label_], ...]}.'
        )
    if file.is_dir() or brat.matches(file):
        return "brat"
    name = path.removesuffix(".gz")
    endings = {row.ending: kind for kind, row in FORMATS.items()}
    return endings.get(pathlib.Path(name).suffix, "")


def _table_or_columns(lines: Iterator[tuple[int, str]]) -> tuple[str, Iterator[tuple[int, str]]]:
    """Csv where the first row names a column of sentence numbers, else conll; and all lines."""
    seen = []
    for number, line in lines:
        seen.append((number, line))
        if not is_blank(line):
            break
    head = seen[-1][1] if seen else ""
    header = split_columns(head) if "\t" in head else head.split(csv_table.delimiter_of(head))
    kind = "csv" if csv_table.matches([part.strip(' "') for part in header]) else "conll"
    return kind, itertools.chain(seen, lines)


def _of_records(
    pieces: Iterable[str], name: str, kind: str, reading: Reading, notes: Notes
) -> Iterator[Sentence]:
    """The sentences of JSON records; what nobody accepted is left out and counted."""
    accepted = {ACCEPTED, SUGGESTED} if reading.accept_suggested else {ACCEPTED}
    for number, (place, item) in enumerate(read_records(pieces, kind, name, reading, notes), 1):
        notes.is_list = notes.is_list or ": record " in place
        line = int(re.sub(r".*\D", "", place))  # or the record's number
        if isinstance(item, huggingface.Tokens):
            words, labels = without_blank_tokens(item.tokens, item.labels)
            notes.blank_tokens(place, len(item.tokens) - len(words))
            if words:
                yield Sentence(words, labels, line, number == 1)
            continue
        said = "texts that several annotations mark differently (the last one is taken): {}"
        notes.count(said, place, item.disputed)
        notes.count("left out, as they have no label: {} regions", place, item.unlabelled)
        if item.status not in accepted:
            hint = ""
            if item.status == SUGGESTED:
                hint = " (`accept_suggested` takes those whose suggestions nobody changed)"
            notes.count(f"left out, as no person accepted them: {{}} {item.status}{hint}", place)
            continue
        yield from _cut(item, place, line, reading, notes)


def _cut(
    item: AnnotatedText, place: str, line: int, reading: Reading, notes: Notes
) -> list[Sentence]:
    if reading.label_column is None:
        item = dataclasses.replace(item, marks=())
    elif item.counted:
        notes.mended(item.counted, place)
    return labelled_sentences(
        item,
        place,
        line,
        tokenizer=reading.tokenizer,
        split=reading.split_sentences,
        overlaps=reading.overlaps,
        notes=notes,
    )


def read_records(
    pieces: Iterable[str],
    kind: str,
    name: str,
    reading: Reading | None = None,
    notes: Notes | None = None,
) -> Iterator[tuple[str, AnnotatedText | huggingface.Tokens]]:
    """(place, text) of each record of a JSON list, or of JSON lines, whichever it is.

    Where several records are of one text, the last that a person decided is taken. ``pieces`` are
    the lines of the file, or a list as one text. Where ``kind`` is "", the first record with marks
    says the format, which ``notes`` get.

    Raises:
      InputError: the file is no JSON, or a record is not of this format; names the place.
    """
    records = _records(pieces, name)
    if not kind:
        first = list(itertools.islice(records, _TELLING))
        if not first:
            return
        kind = _matching(*next((pair for pair in first if _has_marks(pair[1])), first[0]))
        if notes is not None:
            notes.format = kind
        records = itertools.chain(first, records)
    names = reading.label_names if reading else ()
    items = ((record, place, _item(kind, record, place, names)) for place, record in records)
    text_key = getattr(FORMATS[kind].json, "text_key", None)
    if text_key is None:
        yield from ((place, item) for _, place, item in items)
    else:
        yield from _last_answers((text_key(record), place, item) for record, place, item in items)


def _has_marks(record: Any) -> bool:
    """Whether a record may tell its format: that of a text without a mark may be any."""
    return isinstance(record, dict) and any(
        value and isinstance(value, list) for value in record.values()
    )


def _matching(place: str, record: Any) -> str:
    """The format of a record."""
    if not isinstance(record, dict):
        raise InputError(f"{place}: not a JSON object.")
    for kind, row in FORMATS.items():
        if row.json is not None and row.json.matches(record):
            return kind
    raise InputError(
        f"{place}: of no known format, as no marks are found: its keys are {listed(record)}. Of "
        'text, spaCy has "entities" (or "spans", "ents"), doccano "label"; of tokens, '
        'Hugging Face has "labels" or "ner_tags".'
    )


def _item(
    kind: str, record: Any, place: str, names: Sequence[str]
) -> AnnotatedText | huggingface.Tokens:
    try:
        if not isinstance(record, dict):
            raise InputError("not a JSON object")
        if kind == "huggingface":
            return huggingface.read(record, names)
        return FORMATS[kind].json.read(record)
    except InputError as error:
        raise InputError(f"{place}: {one_line(error)}") from None
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
        reason = one_line(error)
        missing = f"there is no {reason}" if isinstance(error, KeyError) else reason
        raise InputError(f"{place}: not a record of {kind}: {missing}.") from error


def _records(pieces: Iterable[str], name: str) -> Iterator[tuple[str, Any]]:
    """Records with their place for messages."""
    numbered = ((number, line) for number, line in enumerate(pieces, 1) if line.strip())
    begins, head = next(numbered, (0, ""))
    begun = head.lstrip("\ufeff \t\r\n")
    begins, head = begins + head.count("\n", 0, len(head) - len(begun)), begun
    if head.startswith("[") and not _PAIR.match(head):
        text = head + "".join(line for _, line in numbered)
        for position, record in enumerate(_parsed(text, name), 1):
            yield f"{name}: record {position}", _of_pair(record)
        return
    if head.startswith("["):  # one piece, see ``json_pieces``
        text = head + "".join(line for _, line in numbered)
        begins, head, numbered = 0, "", (each for each in enumerate(text.split("\n"), 1))
    for number, line in itertools.chain([(begins, head)] if head else [], numbered):
        if line.strip():
            record = _parsed(line, f"{name}:{number}")
            pairs = isinstance(record, dict) and {*record} == _ANNOTATOR and record["annotations"]
            if isinstance(pairs, list):
                for position, pair in enumerate(pairs, 1):
                    if pair is not None:  # a line that nobody came to
                        yield f"{name}: record {position}", _of_pair(pair)
            else:
                yield f"{name}:{number}", _of_pair(record)


def _of_pair(record: Any) -> Any:
    """[text, {"entities": ...}] as one object, anything else as it is."""
    if isinstance(record, list) and [type(part) for part in record] == [str, dict]:
        return {"text": record[0], **record[1]}
    return record


def _parsed(text: str, place: str) -> Any:
    try:
        return parse_record(text)
    except ValueError as error:
        raise InputError(f"{place}: not JSON: {error}.") from None


def _last_answers(
    records: Iterable[tuple[Hashable | None, str, Any]],
) -> Iterator[tuple[str, AnnotatedText]]:
    """(place, record) of each key: the last that was decided; each one of the key None."""
    groups: dict[Hashable, list[tuple[str, AnnotatedText]]] = {}
    for key, place, item in records:
        groups.setdefault(object() if key is None else key, []).append((place, item))
    for group in groups.values():
        decided = [pair for pair in group if pair[1].status in (ACCEPTED, REJECTED)]
        place, item = (decided or group)[-1]
        answers = {(one.status, frozenset(mark[:3] for mark in one.marks)) for _, one in decided}
        yield place, dataclasses.replace(item, disputed=True) if len(answers) > 1 else item


# --------------------------------------------------------------------------------- writing


def write_labelled(
    sentences: Sequence[Sentence], kind: str, where: Callable[[Sentence], str]
) -> dict[str, str]:
    """{ending of the file's name: content} of sentences in a format; the ending is mostly "".

    Raises:
      InputError: labels that are no chunks, where the format has stretches of text only; a token
        or type that it cannot hold.
    """
    if kind == "conll":
        return {"": format_columns(sentences, where)}
    if kind == "csv":
        return {"": _format_csv(sentences)}
    if kind == "huggingface":
        rows = ({"tokens": list(s.tokens), "labels": list(s.labels)} for s in sentences)
        return {"": "".join(json_text(row) + "\n" for row in rows)}
    scheme = detect_scheme([sentence.labels for sentence in sentences])
    if scheme is None:
        raise InputError("Only entities (B-PER, I-PER, ...) can be written as stretches of text.")
    items = [_as_text(sentence, scheme, kind in TOOLS) for sentence in sentences]
    if kind == "brat":
        return brat.write(items)
    stream = io.StringIO()
    write_annotations(items, stream, kind)
    return {"": stream.getvalue()}


def _as_text(sentence: Sentence, scheme: str, with_tokens: bool) -> AnnotatedText:
    """A sentence as a text: its tokens joined by blanks, and kept, or as people write them."""
    places: Sequence[tuple[int, int] | None]
    if with_tokens:
        text, places = join_tokens(list(sentence.tokens))
    else:
        text, places = detokenize(sentence.tokens)
    marks = []
    for span in decode_spans(sentence.labels, scheme):
        inside = [place for place in places[span.start : span.end] if place is not None]
        if inside:
            marks.append(Mark(inside[0][0], inside[-1][1], span.type))
    tokens = tuple(place for place in places if place is not None) if with_tokens else None
    return AnnotatedText(text, tuple(marks), tokens, ACCEPTED)


def _format_csv(sentences: Sequence[Sentence]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["sentence_id", "token", "label"])
    for number, sentence in enumerate(sentences, 1):
        for token, label in zip(sentence.tokens, sentence.labels, strict=True):
            writer.writerow([number, token, label])
    return stream.getvalue()


def write_annotations(items: Iterable[AnnotatedText], stream: TextIO, tool: str) -> None:
    """Writes texts as a file of one of FORMATS that has ``write``."""
    row = FORMATS[tool]
    before = "[\n"
    for item in items:
        text = json_text(row.json.write(item))
        stream.write(f"{before}{text}" if row.is_list else f"{text}\n")
        before = ",\n"
    if row.is_list:
        stream.write("[]\n" if before == "[\n" else "\n]\n")
