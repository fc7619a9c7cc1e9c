"""Columns (CoNLL), read and written: one token per line, a blank line after each sentence.

Three layouts are told apart by the first row of the file (the first line that is neither blank nor
starts with `#` nor marks a document nor names the columns):

* `conllu`: 10 tab-separated columns, the first a word number that starts a sentence, the seventh a
  head. Rows numbered `1-2` (multi-word ranges) or `1.1` (empty nodes) are not tokens. Here, and
  where else rows count words, every line that starts with `#` is a comment.
* `tab`: rows with tabs. A comment is `# something` without any tab; it cannot be a row. `#<TAB>O`
  and `#hashtag<TAB>O` are tokens.
* `blank`: rows without tabs. `# O` and `#hashtag O` are tokens. A comment is `# ` and at least two
  more words, with another number of columns than the first row or with a `=` among them; or `# `
  and one word with a digit, as no label has.

Comments stand before the first token of a sentence; `# key = value` also within. In `tab` and
`blank` a line of three columns or more whose first is `#`, and one that begins with `# something`,
is also one where the first row has chunk labels and this line has no label in their columns.

Columns may have names: those of `# global.columns = ...` (CoNLL-U Plus), of CoNLL-U, or of a
header, a first row with a name that is asked for, or known by its words (TOKEN, NE-COARSE). Marks
of documents are `-DOCSTART-` lines and tokens, `#DOCSTART`, and `#begin document (...)` and
`#end document` of CoNLL-2012.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from uanet_lite.blank_tokens import without_blank_tokens
from uanet_lite.input_error import InputError
from uanet_lite.notes import Notes
from uanet_lite.sentence import MAX_TOKEN_CHARS, Sentence
from uanet_lite.text_lines import display_name, read_lines

# A column's index or name; of CoNLL-U's MISC "MISC:Tag", its value of this key.
Column = int | str

_BLANKS = re.compile(r"[ \t]+")
_FIRST_WORD_NUMBER = re.compile(r"1|1-[0-9]+|0\.1")
# As they count words: 1, 1., 1-1 (WebAnno: sentence and word).
_COUNT = re.compile(r"(?:[0-9]{1,9}-)?([0-9]{1,9})[.:)]?")
_NOT_A_WORD = re.compile(r"[0-9]+[-.][0-9]+")
_DOCUMENT_2012 = re.compile(r"#begin document \(.*\)(; part [0-9]+)?|#end document")
_DOCSTART = "-DOCSTART-"
_DOCUMENT_COMMENT = re.compile(r"# *(-?)DOCSTART\1([ \t].*)?")
_NUMBERED_DOCUMENT = re.compile(r"[0-9]+[ \t]-DOCSTART-([ \t]|$)")
_NEW_DOCUMENT_CONLLU = re.compile(r"#\s*newdoc\b")
_COMMENT = re.compile(r"#+ +[^ \t]")
_METADATA = re.compile(r"#+ *[^\W_][\w.:-]* *=")
_ASSIGNED = re.compile(r"[^=]+=.*|=")
_GLOBAL_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.*)")
CHUNK_LABEL = re.compile(r"O|[BIMESLUW]-\S+")
_LABEL = re.compile(r"O|[BIMESLUW]-\S+|[A-Z][A-Z_]*")  # or a type alone
_CONLLU_NAMES = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"]
_CONLLU_HEAD = re.compile(r"[0-9]+|_")  # in the seventh column
_PAIRS = re.compile(r"[^=|]+=[^|]*(\|[^=|]+=[^|]*)*")
# Header rows: what the column of the tokens and that of the labels are called.
_TOKEN_NAMES = re.compile(r"tokens?|words?|forms?|text", re.IGNORECASE)
_LABEL_NAMES = re.compile(
    r"labels?|tags?|(x|u)?pos([ _-]?tags?)?|chunks?([ _-]?tags?)?|iob.*|bio.*|(ner?|nes?)([ _-].*)?"
    r"|entity.*|entities|named[ _-]entit.*",
    re.IGNORECASE,
)
_ROW_ENDS = frozenset("\t\n\r")
MAX_SENTENCE_TOKENS = 50_000
# A header of comments is far shorter; without a limit a file of `#` lines would fill the memory.
_MAX_PEEKED_LINES = 10_000


def split_columns(line: str) -> list[str]:
    """Columns of a row: split at tabs if there is one, else at runs of ASCII spaces.

    U+00A0 (no-break space), U+3000 and other Unicode spaces belong to the token: corpora hold them
    inside tokens ("10 000"), and no format uses them between columns.
    """
    if "\t" in line:
        return [column.strip(" ") for column in line.split("\t")]
    return _BLANKS.split(line.strip(" "))


def is_blank(line: str) -> bool:
    """Whether the line holds nothing but ASCII spaces and tabs."""
    return not line.strip(" \t")


def marks_document(line: str) -> bool:
    """Whether a new document starts at this line (`-DOCSTART-`, CoNLL-2012 marks)."""
    if line.startswith("-DOCSTART-"):
        return _BLANKS.split(line, maxsplit=1)[0] == "-DOCSTART-"
    if line.startswith("#"):
        return bool(_DOCUMENT_COMMENT.fullmatch(line) or _DOCUMENT_2012.fullmatch(line.rstrip(" ")))
    return "-DOCSTART-" in line and _NUMBERED_DOCUMENT.match(line) is not None


def is_header(columns: Sequence[str]) -> bool:
    """Whether a first row names the columns: one is that of tokens, another that of labels."""
    names = {k for k, name in enumerate(columns) if _TOKEN_NAMES.fullmatch(name)}
    labels = {k for k, name in enumerate(columns) if _LABEL_NAMES.fullmatch(name)}
    several = bool(names and labels) and len(names | labels) > 1
    return several and not any(map(CHUNK_LABEL.fullmatch, columns))


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    """The layout of one file.

    Attributes:
      kind: conllu, tab or blank.
      columns: number of columns of its first row.
      numbered: whether this row starts with a number, and has something behind it.
      counted: whether the rows' numbers count, so that no row starts with a `#`.
      chunk_columns: those in which this row has a chunk label (O, B-PER).
      names: of the columns, where the file has them.
      header: line that has the names as a row; 0: none.
    """

    kind: str
    columns: int
    numbered: bool = False
    counted: bool = False
    chunk_columns: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    header: int = 0

    def is_comment(self, line: str, *, inside_sentence: bool) -> bool:
        """Whether a line that starts with `#` is a comment; see the rules of this module."""
        if self.kind == "conllu" or self.counted:
            return True
        metadata = _METADATA.match(line) is not None
        if inside_sentence and not metadata:
            return False
        if self.kind == "tab" and "\t" not in line:
            return metadata or _COMMENT.match(line) is not None
        columns = split_columns(line)
        differs = len(columns) != self.columns
        if self.kind == "blank":
            words = _BLANKS.split(line.strip(" "))
            if not metadata and (words[0].strip("#") or len(words) < 2):
                return False
            if len(words) == 2 and not metadata:
                differs = False
                if not re.search("[0-9]", words[1]):
                    return False
            differs = differs or any(map(_ASSIGNED.fullmatch, words))
        elif columns[0] != "#":
            if not _COMMENT.match(columns[0]):
                return False
            differs = not self.chunk_columns and not _LABEL.fullmatch(columns[-1])
        elif len(columns) < 3:
            return " " in columns[-1]
        else:
            differs = False
        return differs or any(
            column >= len(columns) or not _LABEL.fullmatch(columns[column])
            for column in self.chunk_columns
        )

    def marks_document(self, line: str) -> bool:
        """Whether a new document starts at this line, in this layout."""
        newdoc = self.kind == "conllu" and _NEW_DOCUMENT_CONLLU.match(line) is not None
        return newdoc or marks_document(line)

    def is_token(self, columns: list[str]) -> bool:
        """False for the rows of CoNLL-U that are not words."""
        return self.kind != "conllu" or not _NOT_A_WORD.fullmatch(columns[0])


def detect_layout(
    lines: Iterator[tuple[int, str]], asked: Sequence[str] = ()
) -> tuple[Layout, Iterator[tuple[int, str]]]:
    """The layout, by the first row, and all lines, (number, text), those read included.

    ``asked``: names of columns that the user gives; a first row with one of them is a header.
    """
    peeked = []
    names: list[str] = []
    layout, header = None, 0
    for number, line in itertools.islice(lines, _MAX_PEEKED_LINES):
        peeked.append((number, line))
        if found := _GLOBAL_COLUMNS.match(line):
            names = found[1].split()
        if is_blank(line) or line.startswith("#") or marks_document(line):
            continue
        columns = split_columns(line)
        if not names and not header and (is_header(columns) or {*asked} & {*columns}):
            names, header = columns, number
            continue
        layout = _layout_of_row(line)
        if names:
            layout = dataclasses.replace(layout, names=tuple(names), header=header)
        break
    if layout is None:
        # Nothing but `#` lines: they are rows, unless each of them lacks the tab of the others.
        rows = [line for _, line in peeked if line.startswith("#")] or [""]
        row = next((line for line in rows if "\t" in line), rows[0])
        layout = Layout("tab" if "\t" in row else "blank", len(split_columns(row)))
    return layout, itertools.chain(peeked, lines)


def _layout_of_row(line: str) -> Layout:
    columns = split_columns(line)
    if (
        "\t" in line
        and len(columns) == len(_CONLLU_NAMES)
        and _FIRST_WORD_NUMBER.fullmatch(columns[0])
        and _CONLLU_HEAD.fullmatch(columns[6])
    ):
        return Layout("conllu", len(columns), names=tuple(_CONLLU_NAMES))
    return Layout(
        "tab" if "\t" in line else "blank",
        len(columns),
        numbered=len(columns) > 1 and _COUNT.fullmatch(columns[0]) is not None,
        chunk_columns=tuple(k for k, text in enumerate(columns) if CHUNK_LABEL.fullmatch(text)),
    )


def parse_column(text: str, name: str) -> Column | None:
    """A column as flags and settings give it: "1", "-1", a name, "MISC:Tag"; "none" is None.

    Raises:
        InputError: it is empty; ``name`` says what it is.
    """
    text = text.strip()
    if not text:
        raise InputError(f"{name} must be a number, a column's name, or none. Received: ''")
    if text.lower() == "none":
        return None
    return int(text) if re.fullmatch(r"[-+]?[0-9]{1,9}", text) else text


def read_sentences(
    path: str | os.PathLike[str],
    *,
    token_column: Column = 0,
    label_column: Column | None = -1,
    keep_rows: bool = False,
    skip_blank_tokens: bool = False,
    lines: Iterator[tuple[int, str]] | None = None,
    notes: Notes | None = None,
) -> Iterator[Sentence]:
    """Streams the sentences of a file, in its order and in constant memory.

    Columns are separated by tabs if the line has one, else by ASCII spaces; `-DOCSTART-` lines are
    no sentences. See `read_lines`, and this module's text for comments, headers and CoNLL-U.

    Args:
        path: a file, or "-" for standard input.
        token_column: index or name of the column with the tokens; negative counts from the end.
        label_column: the same for the labels, or "MISC:KEY"; None reads no labels.
        keep_rows: also keep the raw line of each token.
        skip_blank_tokens: leave out tokens that are empty or blank; else they are refused.
        lines: (number, text) of the lines of `path`, where it has been opened already.
        notes: counts what is left out.

    Raises:
        InputError: bad arguments (at once); or (while reading) see `read_lines`; a file without any
            sentence; a row with too few columns, with an empty token or label, or beyond a limit; a
            column's name that the file does not have.
    """
    if token_column == label_column:
        raise InputError(
            f"token_column and label_column must differ. Received: {token_column} for both."
        )
    lines = read_lines(path) if lines is None else lines
    wanted = _Wanted(display_name(path), token_column, label_column)
    stream = _stream(lines, wanted, keep_rows, skip_blank_tokens)
    return _without_blanks(stream, wanted.file, notes or Notes()) if skip_blank_tokens else stream


def read_corpus(path: str | os.PathLike[str], **options: Any) -> list[Sentence]:
    """All sentences of a file at once; arguments as of `read_sentences`."""
    return list(read_sentences(path, **options))


@dataclasses.dataclass(frozen=True, slots=True)
class _Wanted:
    """The columns that the user asks for."""

    file: str
    token: Column
    label: Column | None

    def columns(self, layout: Layout) -> _Columns:
        """The columns of a file; raises InputError for a name that it does not have."""
        token, label, key = self.token, self.label, ""
        if isinstance(label, str):
            label, _, key = label.partition(":")
        if layout.header:
            token = self._named(token, 0, layout, _TOKEN_NAMES, "token")
            label = None if label is None else self._named(label, -1, layout, _LABEL_NAMES, "label")
        return _Columns(
            self.file,
            self._index(token, layout, "token"),
            None if label is None else self._index(label, layout, "label"),
            key,
            layout.kind == "conllu" or "MISC" in layout.names,
        )

    def _named(
        self, given: Column, default: int, layout: Layout, names: re.Pattern[str], what: str
    ) -> Column:
        """The default column, or the one that a header calls so in its place."""
        if given != default or names.fullmatch(layout.names[default]):
            return given
        found = [k for k, name in enumerate(layout.names) if names.fullmatch(name)]
        if len(found) > 1:
            raise InputError(
                f"{self.file}:{layout.header}: which column has the {what}s? The header calls "
                f"{len(found)} so ({', '.join(layout.names[k] for k in found[:6])}): "
                f"`{what}_column={layout.names[found[0]]}` takes one of them."
            )
        return found[0] if found else given

    def _index(self, column: Column, layout: Layout, what: str) -> int:
        if isinstance(column, int):
            return column
        if re.fullmatch(r"[-+]?[0-9]{1,9}", column):  # of "9:Tag"
            return int(column)
        found = [k for k, name in enumerate(layout.names) if name == column]
        if not found:
            found = [k for k, name in enumerate(layout.names) if name.lower() == column.lower()]
        if len(found) == 1:
            return found[0]
        have = "it does not name its columns (a header, or # global.columns = ...)"
        if layout.names:
            have = f"its columns are {', '.join(layout.names)}"
        raise InputError(
            f"{self.file}: no column for the {what} is called {column!r}: {have}. Received: "
            f"{what} column {column}."
        )


@dataclasses.dataclass(frozen=True, slots=True)
class _Columns:
    """Takes token and label out of the columns of a row."""

    file: str
    token: int
    label: int | None
    key: str = ""  # of the label among KEY=VALUE pairs
    has_pairs: bool = False  # the file is CoNLL-U or alike, whose last column holds such pairs
    keys: set[str] = dataclasses.field(default_factory=set)  # those found, where one is wanted

    def take(self, columns: list[str], number: int, blank: bool = False) -> tuple[str, str]:
        """The token, which may be ``blank``, and its label ("" when none are read) of a line."""
        token_index = self._index(self.token, len(columns))
        label_index = -1 if self.label is None else self._index(self.label, len(columns))
        if token_index is None or label_index is None or token_index == label_index:
            raise self._too_few(columns, number)
        token, label = columns[token_index], columns[label_index]
        if self.label is None:
            return self._checked("token", token, number, blank), ""
        if self.key:
            label = self._value(label)
        elif self.has_pairs and "=" in label and _PAIRS.fullmatch(label):
            key = label.partition("=")[0]
            raise InputError(
                f"{self.file}:{number}: the label column holds KEY=VALUE pairs ({_shown(label)}), "
                f"as CoNLL-U's MISC: name the key too, such as `label_column=MISC:{key}`."
            )
        if token and label and max(len(token), len(label)) <= MAX_TOKEN_CHARS:
            return token, label
        return (
            self._checked("token", token, number, blank),
            self._checked("label", label, number, ends=2 < len(columns) == label_index + 1),
        )

    def _value(self, pairs: str) -> str:
        """The label among KEY=VALUE pairs, O where its key is not there."""
        for pair in pairs.split("|"):
            key, _, value = pair.partition("=")
            if value:
                self.keys.add(key)
            if key == self.key:
                return value
        return "O"

    def check_key(self) -> None:
        """Raises InputError if no row had the wanted key: it is not that all labels are O."""
        if self.key and self.key not in self.keys:
            raise InputError(
                f"{self.file}: no row has the key {self.key!r} in the label column; the keys there "
                f"are {', '.join(sorted(self.keys)[:12]) or 'none'}."
            )

    @property
    def count_from_end(self) -> bool:
        """Whether a row with one column more gives another one as token or label."""
        return self.token < 0 or (self.label is not None and self.label < 0)

    def of_chunks(self, layout: Layout) -> tuple[int, ...]:
        """The columns in which each row has a chunk label, as far as the first one tells."""
        token = self._index(self.token, layout.columns)
        label = None if self.label is None else self._index(self.label, layout.columns)
        return tuple(k for k in layout.chunk_columns if k != token and label in (None, k))

    @staticmethod
    def _index(column: int, count: int) -> int | None:
        index = column if column >= 0 else count + column
        return index if 0 <= index < count else None

    def _too_few(self, columns: list[str], number: int) -> InputError:
        found = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
        wanted = f"token column {self.token}"
        if self.label is not None:
            wanted += f" and label column {self.label}"
        hint = ""
        if len(columns) == 1 and re.search("[,;]", columns[0][:-1]):
            hint = (
                " Columns are separated by tabs or blanks; commas are read in files called .csv, "
                "whose first line names the columns."
            )
        return InputError(
            f"{self.file}:{number}: too few columns: found {found} ({_shown(columns[0])} first), "
            f"which does not hold {wanted}.{hint}"
        )

    def _checked(
        self, what: str, text: str, number: int, blank: bool = False, ends: bool = False
    ) -> str:
        if not text and not blank:
            hint = " (or blank): `skip_blank_tokens` leaves such tokens out and counts them"
            if what == "label":
                hint = ends * ", as the row ends with a tab: `label_column=-2` is the one before it"
            raise InputError(f"{self.file}:{number}: the {what} is empty{hint}.")
        if len(text) > MAX_TOKEN_CHARS:
            raise InputError(
                f"{self.file}:{number}: a {what} of {len(text):,} characters ({_shown(text)}); "
                f"the limit is {MAX_TOKEN_CHARS:,}."
            )
        return text

    def refuse_word_numbers(self, layout: Layout) -> None:
        """CoNLL-U rows start with a word number, which would silently be trained on as tokens."""
        if layout.kind == "conllu" and self._index(self.token, layout.columns) == 0:
            raise InputError(
                f"{self.file}: a CoNLL-U file, whose column 0 holds word numbers; the words are "
                "in column 1 (`token_column=1`). Received: token column 0."
            )

    def refuse_counts(self, first: Sequence[Sentence]) -> None:
        """The first sentences of a file, whose tokens are numbers that count."""
        two = len(split_columns(first[0].rows[0])) == 2
        hint = " `label_column=none`, as there are no labels" if two and self.label else ""
        raise InputError(
            f"{self.file}:{first[0].line}: column 0 counts the words of each sentence "
            f"({', '.join(first[0].tokens[:3])}, ...); the words are probably in column 1 "
            f"(`token_column=1`{hint}). Received: token column 0."
        )


def _counting(sentences: Iterator[Sentence]) -> list[Sentence]:
    """The first sentences of a file, with rows, if their tokens are numbers that count; else none.

    Three words that count on are none; fewer may be, so the next sentences decide.
    """
    first: list[Sentence] = []
    longest = 0
    for sentence in sentences:
        first.append(sentence)
        longest = max(longest, len(sentence.tokens))
        if not _count(first):
            return []
        if longest > 2 or len(first) > 2 or (len(first) == 2 and longest == 2):
            break
    rest = {tuple(split_columns(row)[1:]) for sentence in first for row in sentence.rows}
    # Numbers that are words have the same tag; a word and its chunk label are two columns.
    pairs = any(len(columns) == 1 and CHUNK_LABEL.fullmatch(columns[0]) for columns in rest)
    return [] if pairs or len(rest) < 2 or len(first) + longest < 3 else first


def _count(sentences: Sequence[Sentence]) -> bool:
    """Whether all tokens count words, 1, 2, ... from 0, 1 or on; or sentences, 1, 1, then 2, 2.

    The first sentence may begin with any number, if it has three.
    """
    steps: set[int] = set()
    before = None
    for sentence in sentences:
        found = [_COUNT.fullmatch(token) for token in sentence.tokens]
        if not all(found):
            return False
        numbers = [int(match[1]) for match in found if match]
        steps |= {after - number for number, after in itertools.pairwise(numbers)}
        begins = before is None and len(numbers) > 2
        if not begins and numbers[0] not in (0, 1, (before or 0) + 1):
            return False
        before = numbers[-1]
    return len(steps) < 2 and steps <= {0, 1}


@dataclasses.dataclass(slots=True)
class _Pending:
    """The sentence being read, and the lines that preceded it."""

    tokens: list[str] = dataclasses.field(default_factory=list)
    labels: list[str] = dataclasses.field(default_factory=list)
    rows: list[str] = dataclasses.field(default_factory=list)
    line: int = 0
    new_document: bool = False
    docstart: bool = False
    columns: int = 0
    uneven_line: int = 0

    def finish(self) -> Sentence:
        tokens, labels, rows = tuple(self.tokens), tuple(self.labels), tuple(self.rows)
        return Sentence(
            tokens, labels, self.line, self.new_document, rows, self.docstart, self.uneven_line
        )


def _stream(
    lines: Iterator[tuple[int, str]], wanted: _Wanted, keep_rows: bool, blank: bool
) -> Iterator[Sentence]:
    given = (wanted.token, wanted.label)
    names = [each.partition(":")[0] for each in given if isinstance(each, str)]
    layout, lines = detect_layout(lines, names)
    columns = wanted.columns(layout)
    columns.refuse_word_numbers(layout)
    layout = dataclasses.replace(layout, chunk_columns=columns.of_chunks(layout))
    if layout.numbered:
        lines, ahead = itertools.tee(lines)
        numbers = dataclasses.replace(columns, token=0, label=None, key="")
        counted = dataclasses.replace(layout, counted=True)
        if counting := _counting(_sentences(ahead, counted, numbers, True, blank)):
            layout = counted
            if columns.token == 0:
                columns.refuse_counts(counting)
        del ahead
    yield from _sentences(lines, layout, columns, keep_rows, blank)


def _sentences(
    lines: Iterator[tuple[int, str]],
    layout: Layout,
    columns: _Columns,
    keep_rows: bool,
    blank: bool,
) -> Iterator[Sentence]:
    pending = _Pending(new_document=True)
    found_any, number = False, 0
    all_tokens = layout.kind != "conllu" and not layout.header
    for number, line in lines:
        mark = (line.startswith(("-", "#")) or _DOCSTART in line) and layout.marks_document(line)
        if mark or is_blank(line):
            if pending.tokens:
                yield pending.finish()
                pending, found_any = _Pending(), True
            if mark:
                pending.new_document = True
                pending.docstart = pending.docstart or _DOCSTART in line
            continue
        if line.startswith("#") and layout.is_comment(line, inside_sentence=bool(pending.tokens)):
            continue
        fields = split_columns(line)
        if not all_tokens and (not layout.is_token(fields) or tuple(fields) == layout.names):
            continue
        token, label = columns.take(fields, number, blank)
        if token == _DOCSTART:
            if pending.tokens:
                yield pending.finish()
                pending, found_any = _Pending(), True
            pending.new_document = pending.docstart = True
            continue
        if not pending.tokens:
            pending.line, pending.columns = number, len(fields)
        elif len(pending.tokens) == MAX_SENTENCE_TOKENS:
            raise InputError(
                f"{columns.file}:{number}: more than {MAX_SENTENCE_TOKENS:,} tokens without a "
                f"blank line (the sentence starts at line {pending.line})."
            )
        if len(fields) != pending.columns and columns.count_from_end and not pending.uneven_line:
            pending.uneven_line = number
        pending.tokens.append(token)
        if label:
            pending.labels.append(label)
        if keep_rows:
            pending.rows.append(line)
    if pending.tokens:
        yield pending.finish()
    elif not found_any:
        reason = "it has no line with a token" if number else "the file is empty"
        raise InputError(f"{columns.file}: no sentence found, {reason}.")
    columns.check_key()


def _without_blanks(sentences: Iterator[Sentence], file: str, notes: Notes) -> Iterator[Sentence]:
    """The sentences without empty tokens; those of nothing else go."""
    starts = False  # whether a document starts at a sentence that was left out
    for sentence in sentences:
        kept = [bool(token) for token in sentence.tokens]
        starts = starts or sentence.new_document
        if not all(kept):
            notes.blank_tokens(f"{file}:{sentence.line}", kept.count(False))
            labels = sentence.labels or ("O",) * len(kept)
            tokens, labels = without_blank_tokens(sentence.tokens, labels)
            rows = tuple(itertools.compress(sentence.rows, kept))
            labels = labels if sentence.labels else ()
            sentence = dataclasses.replace(sentence, tokens=tokens, labels=labels, rows=rows)
        if sentence.tokens:
            yield dataclasses.replace(sentence, new_document=starts)
            starts = False


def format_columns(
    sentences: Sequence[Sentence], where: Callable[[Sentence], str] = lambda sentence: ""
) -> str:
    """Token, tab, label; a blank line after each sentence; -DOCSTART- where documents begin.

    Raises:
      InputError: a token or label that would end its column or row, or be none; of a sentence
        ``where`` (file and line).
    """
    marked = sum(sentence.new_document for sentence in sentences) > 1
    blocks = []
    for sentence in sentences:
        if marked and sentence.new_document:
            blocks.append("-DOCSTART-\tO\n\n")
        for text in (*sentence.tokens, *sentence.labels):
            if not _ROW_ENDS.isdisjoint(text) or not text.strip(" "):
                reason = "holds a tab or a line end" if text.strip(" ") else "is blank"
                before = where(sentence)
                raise InputError(
                    f"{before}{': ' if before else ''}{text!r:.60} cannot be written in columns: "
                    f"it {reason}."
                )
        rows = zip(sentence.tokens, sentence.labels, strict=True)
        blocks.append("".join(f"{token}\t{label}\n" for token, label in rows) + "\n")
    return "".join(blocks)


def _shown(text: str, limit: int = 30) -> str:
    """A text as quoted in messages: escaped and not longer than `limit`."""
    return repr(text if len(text) <= limit else text[:limit] + "...")
