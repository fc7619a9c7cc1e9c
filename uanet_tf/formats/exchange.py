"""Labelled sentences in the formats of others: spaCy, Hugging Face and brat.

``huggingface``: JSON lines {"tokens": [...], "labels": [...]}, the labels as strings, or as numbers
whose names are given; also read under the keys ``ner_tags`` and ``tags``. ``spacy``: JSON lines
{"text": ..., "entities": [[start, end, type], ...]}, offsets in characters; also read under
``spans``, ``ents`` and ``label``, and as objects with start, end, label. ``brat``: FILE.ann beside
FILE.txt, lines T1<TAB>PER 0 4<TAB>Anna.
"""

import bisect
import itertools
import json
import pathlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from uanet_lite.columns_file import Sentence
from uanet_lite.raw_text import TextSentence, text_sentences
from uanet_lite.strict_json import parse_record
from uanet_lite.tag_schemes import IOB2, Span, decode_spans, detect_scheme, encode_spans
from uanet_lite.text_lines import display_name, read_lines
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.data.blank_tokens import without_blank_tokens
from uanet_tf.errors import InputError
from uanet_tf.text.cut_places import cut_at
from uanet_tf.text.detokenize import detokenize

_LABEL_KEYS = ("labels", "ner_tags", "tags")
_SPAN_KEYS = ("entities", "spans", "ents", "label")
_PLACE = r"[0-9]{1,18} [0-9]{1,18}"
_BRAT_ENTITY = re.compile(rf"T\d+\t(\S+) ({_PLACE}(?:;{_PLACE})*)\t.*")

CharSpan = tuple[int, int, str]  # first character, character after the last, type


def read_huggingface(path: str, label_names: Sequence[str] = ()) -> Iterator[Sentence]:
    """Sentences of JSON lines with tokens and labels; tokens of white space are left out.

    Args:
      path: the file.
      label_names: names of labels that are given as numbers.

    Raises:
      InputError: a line that is not one of these; names it.
    """
    for number, fields, place in _objects(path):
        tokens: Any = fields.get("tokens", fields.get("words"))
        labels: Any = next((fields[key] for key in _LABEL_KEYS if key in fields), None)
        if not _strings(tokens) or not tokens:
            raise InputError(f'{place}: "tokens" must be a list of words.')
        if label_names and isinstance(labels, list):
            labels = [_label_name(label, label_names, place) for label in labels]
        if not _strings(labels) or len(labels) != len(tokens):
            raise InputError(
                f'{place}: "labels" must be a list of as many strings as there are tokens (numbers '
                "of classes need their names: --label_names=O,B-PER,I-PER,...)."
            )
        words, labels = without_blank_tokens(tokens, labels)
        if words:
            yield Sentence(words, labels, number, number == 1)


def read_spacy(path: str, tokenizer: Tokenizer, *, split: bool = True) -> Iterator[Sentence]:
    """Sentences of JSON lines with text and entities, whose ends are ends of tokens too.

    Raises:
      InputError: a line that is not one of these, or entities that overlap; names it.
    """
    for number, fields, place in _objects(path):
        text = fields.get("text")
        spans: Any = next((fields[key] for key in _SPAN_KEYS if key in fields), [])
        if not isinstance(text, str) or not isinstance(spans, list):
            raise InputError(f'{place}: not an object with "text" and "entities".')
        given = [_char_span(span, text, place) for span in spans]
        yield from label_text(text, given, tokenizer, split, number, place)


def read_brat(path: str, tokenizer: Tokenizer, *, split: bool = True) -> Iterator[Sentence]:
    """Sentences of a text file with its .ann file, or of all in a folder; each is a document.

    An entity in several pieces is read from its first to its last character.

    Raises:
      InputError: a missing file, or a line that cannot be read; names it.
    """
    place = pathlib.Path(path)
    files = sorted(place.glob("*.ann")) if place.is_dir() else [place.with_suffix(".ann")]
    if not files:
        raise InputError(f"{path}: holds no .ann file.")
    for file in files:
        source = file.with_suffix(".txt")
        try:
            text = source.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{source}: cannot be read ({error}).") from None
        spans: list[CharSpan] = []
        for number, line in read_lines(file):
            if not line.startswith("T"):
                continue  # relations, events, notes
            found = _BRAT_ENTITY.fullmatch(line)
            if found is None:
                raise InputError(f"{file}:{number}: not an entity such as T1<TAB>PER 0 4<TAB>Anna.")
            places = [int(number) for number in re.findall(r"\d+", found[2])]
            spans.append(_char_span([min(places), max(places), found[1]], text, f"{file}:{number}"))
        yield from label_text(text, spans, tokenizer, split, 1, str(file))


def format_huggingface(sentences: Iterable[Sentence]) -> str:
    """JSON lines of tokens and labels."""
    rows = ({"tokens": list(s.tokens), "labels": list(s.labels)} for s in sentences)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def format_spacy(sentences: Sequence[Sentence]) -> str:
    """JSON lines of detokenised text and entities.

    Raises:
      InputError: labels that are no chunks.
    """
    rows = []
    for text, spans in _texts(sentences):
        rows.append({"text": text, "entities": [list(span) for span in spans]})
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def format_brat(sentences: Sequence[Sentence]) -> tuple[str, str]:
    """A text, one sentence per line, and its .ann file.

    Raises:
      InputError: labels that are no chunks, or a type that is blank or has blanks.
    """
    lines: list[str] = []
    notes: list[str] = []
    start = 0
    for text, spans in _texts(sentences):
        for first, last, kind in spans:
            if not re.fullmatch(r"\S+", kind):
                raise InputError(
                    f"the type {kind!r:.60} cannot be written for brat: its types have no blanks."
                )
            number = len(notes) + 1
            inside = " ".join(text[first:last].splitlines())  # a note is one line
            notes.append(f"T{number}\t{kind} {start + first} {start + last}\t{inside}\n")
        lines.append(text + "\n")
        start += len(text) + 1
    return "".join(lines), "".join(notes)


def _texts(sentences: Sequence[Sentence]) -> Iterator[tuple[str, list[CharSpan]]]:
    """The detokenised text of each sentence with its entities."""
    scheme = detect_scheme([sentence.labels for sentence in sentences])
    if scheme is None:
        raise InputError("Only entities (B-PER, I-PER, ...) can be written as stretches of text.")
    for sentence in sentences:
        text, places = detokenize(sentence.tokens)
        spans = []
        for span in decode_spans(sentence.labels, scheme):
            inside = [place for place in places[span.start : span.end] if place is not None]
            if inside:
                spans.append((inside[0][0], inside[-1][1], span.type))
        yield text, spans


def _objects(path: str) -> Iterator[tuple[int, dict[str, Any], str]]:
    """(line number, object, place) of JSON lines; blank lines are passed over."""
    for number, line in read_lines(path):
        if not line.strip():
            continue
        place = f"{display_name(path)}:{number}"
        if line.lstrip().startswith("["):
            raise InputError(
                f"{place}: a JSON list, where each line must be an object: write one per line "
                "(jq -c '.[]' FILE)."
            )
        try:
            fields = parse_record(line)
        except ValueError as error:
            raise InputError(f"{place}: not JSON: {error}.") from None
        if not isinstance(fields, dict):
            raise InputError(f"{place}: not a JSON object.")
        yield number, fields, place


def _label_name(label: Any, names: Sequence[str], place: str) -> str:
    if type(label) is not int or not 0 <= label < len(names):
        raise InputError(
            f"{place}: the label {label!r:.60} is none of 0 to {len(names) - 1}, for which "
            "--label_names has names."
        )
    return names[label]


def _strings(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) and value for value in values)


def _char_span(span: Any, text: str, place: str) -> CharSpan:
    if isinstance(span, dict):
        span = [span.get("start"), span.get("end"), span.get("label", span.get("type"))]
    is_span = isinstance(span, list) and len(span) == 3
    if not is_span or not all(type(edge) is int for edge in span[:2]) or not str(span[2] or ""):
        raise InputError(f"{place}: not [start, end, type]: {span!r:.60}")
    start, end, kind = span
    if not 0 <= start < end <= len(text):
        raise InputError(f"{place}: the entity {start}-{end} is not within the text.")
    return start, end, str(kind)


def label_text(
    text: str, spans: list[CharSpan], tokenizer: Tokenizer, split: bool, line: int, place: str
) -> Iterator[Sentence]:
    """Cuts a text into sentences of labelled tokens, IOB2.

    Args:
      text: the text.
      spans: its entities, (first character, the one after the last, type); equal ones are one.
      tokenizer: cuts the text; a token is also cut where an entity begins or ends.
      split: whether the text may hold several sentences.
      line: of the file, for the sentences.
      place: file and line, for messages.

    Raises:
      InputError: entities overlap.
    """
    spans = sorted(set(spans))
    for (_, end, _), (start, _, kind) in itertools.pairwise(spans):
        if start < end:
            raise InputError(f"{place}: the entity {kind} at {start} overlaps the one before.")
    edges = {edge for start, end, _ in spans for edge in (start, end)}
    for sentence in _whole_entities(text_sentences(text, tokenizer, split=split), spans):
        yield _label(_cut_at(sentence, text, edges), spans, line)


def _whole_entities(
    sentences: Iterable[TextSentence], spans: Sequence[CharSpan]
) -> Iterator[TextSentence]:
    """The sentences; those that share an entity ("Yahoo! The Company") are one."""
    ends = [end for _, end, _ in spans]
    before: TextSentence | None = None
    for sentence in sentences:
        if before is not None:
            place = bisect.bisect_right(ends, sentence.starts[0])
            if place < len(spans) and spans[place][0] < before.ends[-1]:
                before = TextSentence(
                    before.tokens + sentence.tokens,
                    before.starts + sentence.starts,
                    before.ends + sentence.ends,
                    before.new_document,
                )
                continue
            yield before
        before = sentence
    if before is not None:
        yield before


def _cut_at(sentence: TextSentence, text: str, edges: set[int]) -> TextSentence:
    """The sentence with tokens cut where entities begin or end inside them."""
    places = cut_at(zip(sentence.starts, sentence.ends, strict=True), edges)
    return TextSentence(
        [text[start:end] for start, end in places],
        [start for start, _ in places],
        [end for _, end in places],
        sentence.new_document,
    )


def _label(sentence: TextSentence, spans: list[CharSpan], line: int) -> Sentence:
    found = []
    for start, end, kind in spans:
        inside = [
            position
            for position, (first, last) in enumerate(
                zip(sentence.starts, sentence.ends, strict=True)
            )
            if start <= first and last <= end
        ]
        if inside:
            found.append(Span(kind, inside[0], inside[-1] + 1))
    labels = encode_spans(found, len(sentence.tokens), IOB2)
    return Sentence(tuple(sentence.tokens), tuple(labels), line, sentence.new_document)
