"""``uanet data convert``: between columns and the formats of others."""

import collections
import dataclasses
import os
import pathlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from uanet_lite.atomic_file import STDOUT, open_output
from uanet_lite.columns_file import read_corpus
from uanet_lite.sentence import Sentence
from uanet_lite.strict_json import parse_record
from uanet_lite.tag_schemes import IOB2, decode_spans, detect_scheme
from uanet_lite.text_lines import STDIN, display_name, read_json_text, read_lines
from uanet_lite.tokenizer import KINDS, Tokenizer
from uanet_tf.commands.command_flags import Flag
from uanet_tf.errors import InputError
from uanet_tf.formats import exchange
from uanet_tf.formats.annotated_text import ACCEPTED, SUGGESTED, AnnotatedText, Mark, join_tokens
from uanet_tf.formats.annotation_files import FORMATS as TOOLS
from uanet_tf.formats.annotation_files import read_with_places, write_annotations
from uanet_tf.resources.public_corpora import format_sentences

FORMATS = ("conll", "huggingface", "spacy", "brat", *TOOLS)


@dataclasses.dataclass(frozen=True)
class Conversion:
    """What is read and written, and how; the formats are None where the names tell them."""

    input: Annotated[str, Flag("File to read; '-': standard input.")] = STDIN
    output: Annotated[str, Flag("File to write; '-': standard output.")] = STDOUT
    from_: Annotated[
        str | None, Flag("Format of the input. Default: by name and content.", FORMATS)
    ] = None
    to: Annotated[str | None, Flag("Format of the output. Default: by its name.", FORMATS)] = None
    token_column: Annotated[int, Flag("Column of the token in columns.")] = 0
    label_column: Annotated[int, Flag("Column of the label in columns.")] = -1
    tokenizer: Annotated[str, Flag("Tokenizer of texts, see uanet train.", KINDS)] = "ptb"
    label_names: Annotated[
        Sequence[str],
        Flag("Hugging Face: names of labels that are numbers, in order: O,B-PER,I-PER,..."),
    ] = ()
    accept_suggested: Annotated[
        bool,
        Flag(
            "Files of annotation tools: take texts whose suggested marks nobody changed. doccano "
            "does not say whether a person has looked at them: export the approved ones only, and "
            "give this flag."
        ),
    ] = False
    split_sentences: Annotated[bool, Flag("Split texts into sentences.")] = True


def convert(how: Conversion) -> None:
    r"""Converts labelled files between columns and the formats of others.

        uanet data convert --input=train.jsonl --output=train.conll
        uanet data convert --input=train.conll --output=train.jsonl --to=spacy
        uanet data convert --input=corpus/ --from=brat --output=train.conll

        uanet data convert --input=export.json --from=label_studio \
            --output=train.conll

    Formats: conll (columns); huggingface (JSON lines of tokens and labels); spacy (JSON lines of
    text and entities [start, end, type]); brat (.txt with .ann; a folder is read whole);
    label_studio, doccano, prodigy, argilla (what the annotation tool exports and imports; of an
    export, the texts that a person has accepted, of several annotations of a text the last). Text
    is cut into tokens by --tokenizer, and where an entity begins or ends; so are tokens that the
    file has. Tokens of white space are left out.
    """
    source = how.from_ or _format_of(how.input)
    target = how.to or _format_of_output(how.output)
    places: dict[int, str] = {}
    sentences = list(_read(how, source, places))
    if not sentences:
        raise InputError(f"{display_name(how.input)}: no sentence found.")
    if target == "brat":
        _write_brat(sentences, how.output)
        return
    if target in TOOLS:
        with open_output(how.output) as stream:
            write_annotations(_accepted(sentences), stream, target)
        return
    if target == "conll":
        text = format_sentences(sentences, lambda sentence: _place(how, sentence, source, places))
    else:
        named = {"huggingface": exchange.format_huggingface, "spacy": exchange.format_spacy}
        text = named[target](sentences)
    with open_output(how.output) as stream:
        stream.write(text)


def _read(how: Conversion, kind: str, places: dict[int, str]) -> Iterable[Sentence]:
    """The sentences; ``places`` gets file and record of the lines that are numbers of records."""
    if kind == "conll":
        return read_corpus(how.input, token_column=how.token_column, label_column=how.label_column)
    if kind == "huggingface":
        return exchange.read_huggingface(how.input, how.label_names)
    if kind in TOOLS:
        return _read_tool(how, kind, places)
    read = exchange.read_spacy if kind == "spacy" else exchange.read_brat
    return read(how.input, Tokenizer(how.tokenizer), split=how.split_sentences)


def _place(how: Conversion, sentence: Sentence, kind: str, places: dict[int, str]) -> str:
    name = display_name(how.input)
    line = "" if kind == "brat" else f":{sentence.line}"  # of brat, a document's sentences have 1
    return places.get(sentence.line, f"{name}{line}")


def _read_tool(how: Conversion, tool: str, places: dict[int, str]) -> Iterator[Sentence]:
    """The texts that a person has accepted, and a line on stderr of how many are left out."""
    left_out: collections.Counter[str] = collections.Counter()
    items = read_with_places(read_json_text(how.input), tool, display_name(how.input))
    disputed = unlabelled = 0
    for number, (place, item) in enumerate(items, 1):
        disputed += item.disputed
        unlabelled += item.unlabelled
        unchanged = item.status == SUGGESTED and how.accept_suggested
        if item.status != ACCEPTED and not unchanged:
            left_out[item.status] += 1
            continue
        places[number] = place
        if item.tokens is None:
            spans = [(mark.start, mark.end, mark.label) for mark in item.clean_marks()]
            tokenizer = Tokenizer(how.tokenizer)
            yield from exchange.label_text(
                item.text, spans, tokenizer, how.split_sentences, number, place
            )
            continue
        try:
            tokens, labels = item.token_labels(IOB2)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
        if tokens:
            yield Sentence(tuple(tokens), tuple(labels), number, number == 1)
    if disputed:
        said = "texts that several annotations mark differently (the last one is taken)"
        print(f"{said}: {disputed:,}", file=sys.stderr)
    if unlabelled:
        print(f"left out, as they have no label: {unlabelled:,} regions", file=sys.stderr)
    if left_out:
        counts = ", ".join(f"{count:,} {status}" for status, count in left_out.items())
        hint = ""
        if SUGGESTED in left_out:
            hint = " (--accept_suggested takes those whose suggestions nobody changed)"
        print(f"left out, as no person accepted them: {counts}{hint}", file=sys.stderr)


def _accepted(sentences: Sequence[Sentence]) -> Iterator[AnnotatedText]:
    """The sentences as texts with a person's marks, their tokens beside them."""
    scheme = detect_scheme([sentence.labels for sentence in sentences])
    if scheme is None:
        raise InputError("Only entities (B-PER, I-PER, ...) can be written as stretches of text.")
    for sentence in sentences:
        text, tokens = join_tokens(list(sentence.tokens))
        marks = (
            Mark(tokens[span.start][0], tokens[span.end - 1][1], span.type)
            for span in decode_spans(sentence.labels, scheme)
        )
        yield AnnotatedText(text, tuple(marks), tokens, ACCEPTED)


def _write_brat(sentences: list[Sentence], output: str) -> None:
    if output == STDOUT or not pathlib.Path(output).name:
        raise InputError("--to=brat writes two files: name --output=FILE.txt.")
    text, notes = exchange.format_brat(sentences)
    for ending, content in ((".txt", text), (".ann", notes)):
        with open_output(str(pathlib.Path(output).with_suffix(ending))) as stream:
            stream.write(content)


def _format_of(path: str) -> str:
    """The format of an input, by its name and, for JSON, its first line."""
    if path.endswith(".ann") or pathlib.Path(path).is_dir():
        return "brat"
    if path.endswith(".spacy"):
        raise InputError(
            f"{path}: spaCy's binary format is read by spaCy: write a line of JSON for each text, "
            '{"text": doc.text, "entities": [[ent.start_char, ent.end_char, ent.label_], ...]}.'
        )
    if path.endswith(".json"):
        raise InputError(f"{path}: which JSON? Say it, such as --from=label_studio.")
    if ".jsonl" not in path or path == STDIN:
        return "conll"
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path}: a pipe can be read only once: say what it holds by --from.")
    line = next((line for _, line in read_lines(path) if line.strip()), "")
    try:
        fields = parse_record(line)
    except ValueError:
        fields = {}
    tokens = fields.get("tokens") if isinstance(fields, dict) else None
    if isinstance(tokens, list) and not all(isinstance(token, str) for token in tokens):
        raise InputError(
            f"{path}: an annotation tool's JSON lines? Say it, such as --from=prodigy or "
            "--from=doccano."
        )
    return "spacy" if tokens is None else "huggingface"


def _format_of_output(path: str) -> str:
    if path.endswith((".txt", ".ann")):
        return "brat"
    if ".jsonl" in path:
        raise InputError("--to=huggingface or --to=spacy? Both are JSON lines.")
    return "conll"
