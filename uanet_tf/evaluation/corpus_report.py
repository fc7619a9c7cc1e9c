"""Facts about a corpus that are worth knowing before training on it."""

import collections
import dataclasses
import pathlib
from collections.abc import Callable, Iterable, Sequence

from uanet_lite.printable import printable
from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import decode_spans, detect_scheme, repair
from uanet_lite.token_ids import normalize_word
from uanet_tf.data.label_doubts import (
    entity_like_labels,
    said_of_uneven,
    stray_labels,
    uneven_sentences,
)
from uanet_tf.text.display_width import align, shorten

# Short sentences ("Thanks !") are in every file; only longer ones suggest a leak.
LONG_SENTENCE_TOKENS = 5
_EXAMPLES = 5


@dataclasses.dataclass(frozen=True, slots=True)
class TrainComparison:
    """What a file holds that train does not, and what both hold.

    Attributes:
      train_scheme: the scheme of train, None if its labels are not chunk labels.
      word_types: different words, in the form in which they are compared with train.
      unknown_tokens, unknown_types: words (occurrences, different ones) that are not in train.
      unknown_examples: the most frequent of them, with counts.
      unseen_labels: labels that are not in train, with counts.
      shared_sentences: sentences whose words are in train too; `shared_long_sentences` those of at
        least `LONG_SENTENCE_TOKENS` tokens.
      shared_lines: (line here, line in train) of the first shared ones, the long ones first.
    """

    train_scheme: str | None
    word_types: int
    unknown_tokens: int
    unknown_types: int
    unknown_examples: dict[str, int]
    unseen_labels: dict[str, int]
    shared_sentences: int
    shared_long_sentences: int
    shared_lines: list[tuple[int, int]]


@dataclasses.dataclass(frozen=True, slots=True)
class CorpusReport:
    """Counts of one file; lines are 1-based and those of the sentence's first token.

    `scheme` is None for labels that are not chunk labels; then `entities` is empty and nothing is
    repaired. `stray_labels` are those that keep an otherwise chunked corpus from having a scheme;
    `entity_like_labels` (see `label_doubts`) look like those of entities, but in no known scheme.
    `uneven_sentences` have rows of different numbers of columns, `first_uneven_line` is the first
    such row. `line_ends` counts LF, CRLF and CR (only a carriage return).
    """

    role: str
    path: str
    format: str
    sentences: int
    tokens: int
    documents: int
    word_types: int
    longest_sentence_tokens: int
    longest_sentence_line: int
    sentences_over_max_tokens: int
    longest_word_characters: int
    longest_word_line: int
    labels: dict[str, int]
    scheme: str | None
    stray_labels: dict[str, int]
    entity_like_labels: dict[str, int]
    uneven_sentences: int
    first_uneven_line: int | None
    repaired_labels: int
    repaired_sentences: int
    first_repaired_line: int | None
    entities: dict[str, int]
    repeated_sentences: int
    line_ends: dict[str, int]
    against_train: TrainComparison | None = None

    @property
    def mean_sentence_tokens(self) -> float:
        """Tokens in a sentence, on average."""
        return self.tokens / self.sentences


@dataclasses.dataclass(frozen=True, slots=True)
class Corpus:
    """The sentences of one file and the part it plays: train, dev, test, ..."""

    role: str
    path: str
    sentences: Sequence[Sentence]
    line_ends: dict[str, int] = dataclasses.field(default_factory=dict)
    format: str = "conll"


def report_corpora(
    corpora: Sequence[Corpus],
    *,
    normalize_digits: bool = True,
    lowercase_words: bool = False,
    max_tokens: int = 512,
) -> list[CorpusReport]:
    """One report for each corpus; the first is train, with which the others are compared.

    None is empty. Words are normalized as in training, which decides which are unknown.
    """

    def normalize(word: str) -> str:
        return normalize_word(word, digits=normalize_digits, lowercase=lowercase_words)

    def count(corpus: Corpus) -> collections.Counter[str]:
        tokens = (word for sentence in corpus.sentences for word in sentence.tokens)
        return collections.Counter(map(normalize, tokens))

    train, *others = corpora
    first = _report(train, None, max_tokens)
    words = count(train)
    lines = {sentence.tokens: sentence.line for sentence in reversed(train.sentences)}
    reports = [first]
    for corpus in others:
        found = count(corpus)
        report = _report(corpus, first.scheme, max_tokens)
        unknown = _by_count(word for word in found.elements() if word not in words)
        shared = [sentence for sentence in corpus.sentences if sentence.tokens in lines]
        long = [each for each in shared if len(each.tokens) >= LONG_SENTENCE_TOKENS]
        short = [each for each in shared if len(each.tokens) < LONG_SENTENCE_TOKENS]
        comparison = TrainComparison(
            train_scheme=first.scheme,
            word_types=len(found),
            unknown_tokens=sum(unknown.values()),
            unknown_types=len(unknown),
            unknown_examples=dict(list(unknown.items())[:_EXAMPLES]),
            unseen_labels={k: n for k, n in report.labels.items() if k not in first.labels},
            shared_sentences=len(shared),
            shared_long_sentences=len(long),
            shared_lines=[(s.line, lines[s.tokens]) for s in (long + short)[:_EXAMPLES]],
        )
        reports.append(dataclasses.replace(report, against_train=comparison))
    return reports


def _report(corpus: Corpus, train_scheme: str | None, max_tokens: int) -> CorpusReport:
    sentences = corpus.sentences
    longest = max(sentences, key=lambda sentence: len(sentence.tokens))
    wordiest = max(sentences, key=lambda sentence: max(map(len, sentence.tokens)))
    labels = _by_count(label for sentence in sentences for label in sentence.labels)
    scheme = detect_scheme(sentence.labels for sentence in sentences)
    if scheme and train_scheme and not _repairs(sentences, train_scheme):
        # A small file may be valid in several schemes; then train decides.
        scheme = train_scheme
    stray = {} if scheme else stray_labels(labels)
    entity_like = [] if scheme or stray else entity_like_labels(labels)
    repaired = _repairs(sentences, scheme) if scheme else []
    uneven = uneven_sentences(sentences)
    spans = (decode_spans(sentence.labels, scheme) for sentence in sentences) if scheme else ()
    entities = _by_count(span.type for found in spans for span in found)
    return CorpusReport(
        role=corpus.role,
        path=corpus.path,
        format=corpus.format,
        sentences=len(sentences),
        tokens=sum(len(sentence.tokens) for sentence in sentences),
        documents=sum(sentence.new_document for sentence in sentences),
        word_types=len({word for sentence in sentences for word in sentence.tokens}),
        longest_sentence_tokens=len(longest.tokens),
        longest_sentence_line=longest.line,
        sentences_over_max_tokens=sum(len(sentence.tokens) > max_tokens for sentence in sentences),
        longest_word_characters=max(map(len, wordiest.tokens)),
        longest_word_line=wordiest.line,
        labels=labels,
        scheme=scheme,
        stray_labels=stray,
        entity_like_labels={label: labels[label] for label in entity_like},
        uneven_sentences=len(uneven),
        first_uneven_line=uneven[0].uneven_line if uneven else None,
        repaired_labels=sum(count for count, _ in repaired),
        repaired_sentences=len(repaired),
        first_repaired_line=repaired[0][1] if repaired else None,
        entities=entities,
        repeated_sentences=len(sentences) - len({sentence.tokens for sentence in sentences}),
        line_ends={name: count for name, count in corpus.line_ends.items() if name},
    )


def _repairs(sentences: Sequence[Sentence], scheme: str) -> list[tuple[int, int]]:
    """(labels changed, line) of each sentence that breaks the scheme."""
    changes = ((repair(sentence.labels, scheme)[1], sentence.line) for sentence in sentences)
    return [(count, line) for count, line in changes if count]


def _by_count(items: Iterable[str]) -> dict[str, int]:
    """Counts, the most frequent first, equals in alphabetical order."""
    counts = collections.Counter(items)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


_MAX_LABEL_ROWS = 100
_LONG_FILE = 200  # tokens in a file of one sentence, which probably lacks its empty lines
_NAME_COLUMNS = 28  # of a label or word: a longer one would widen every line


def format_reports(reports: Sequence[CorpusReport], *, max_tokens: int = 512) -> str:
    """The whole text that `uanet check` prints, ending in a line feed."""
    roles = [report.role for report in reports]
    parts = [
        # The format tells more than the ending of the name, which may say something else.
        _table([[r.role, pathlib.Path(r.path).stem, r.format] for r in reports], right_from=3),
        _table([["", *roles], *_fact_rows(reports, max_tokens)]),
    ]
    parts += [
        _count_table(field.capitalize(), reports, field)
        for field in ("entities", "labels")
        if any(getattr(report, field) for report in reports)
    ]
    remarks = [remark for report in reports for remark in _remarks(report, max_tokens)]
    parts.append("\n".join(["Worth a look", *(f"  {remark}" for remark in remarks or ["nothing"])]))
    return "\n\n".join(parts) + "\n"


def _table(rows: Sequence[Sequence[str]], right_from: int = 1) -> str:
    """Columns two spaces apart, numbers (from column `right_from` on) to the right."""
    return "\n".join(align([[printable(cell) for cell in row] for row in rows], left=right_from))


def _fact_rows(reports: Sequence[CorpusReport], max_tokens: int) -> list[list[str]]:
    facts: list[tuple[str, Callable[[CorpusReport], str]]] = [
        ("Sentences", lambda r: f"{r.sentences:,}"),
        ("  repeated within the file", lambda r: f"{r.repeated_sentences:,}"),
        ("Documents", lambda r: f"{r.documents:,}"),
        ("Tokens", lambda r: f"{r.tokens:,}"),
        ("  in a sentence, on average", lambda r: f"{r.mean_sentence_tokens:.1f}"),
        ("  in the longest sentence", lambda r: f"{r.longest_sentence_tokens:,}"),
        ("    which starts at line", lambda r: str(r.longest_sentence_line)),
        (f"  sentences over {max_tokens:,}", lambda r: f"{r.sentences_over_max_tokens:,}"),
        ("Different words", lambda r: f"{r.word_types:,}"),
        ("  characters of the longest", lambda r: f"{r.longest_word_characters:,}"),
        ("    in the sentence at line", lambda r: str(r.longest_word_line)),
    ]
    if any(report.labels for report in reports):
        facts.append(("Different labels", lambda r: f"{len(r.labels):,}"))
        facts.append(("Scheme", lambda r: r.scheme or "not chunks"))
    if any(report.scheme for report in reports):
        facts.append(("  labels to repair", lambda r: f"{r.repaired_labels:,}"))
        facts.append(("  in sentences", lambda r: f"{r.repaired_sentences:,}"))
    rows = [[name, *map(show, reports)] for name, show in facts]
    if len(reports) > 1:
        rows.append(["Against train", *[""] * len(reports)])
        shown = [
            ("-",) * 4
            if (found := report.against_train) is None
            else (
                _percent(found.unknown_tokens, report.tokens),
                _percent(found.unknown_types, found.word_types),
                f"{found.shared_sentences:,}",
                f"{found.shared_long_sentences:,}",
            )
            for report in reports
        ]
        names = (
            "  unknown words, of tokens",
            "  unknown words, of different words",
            "  sentences that train has too",
            f"    of {LONG_SENTENCE_TOKENS} tokens or more",
        )
        rows += [[name, *cells] for name, *cells in zip(names, *shown, strict=True)]
    return rows


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _count_table(title: str, reports: Sequence[CorpusReport], field: str) -> str:
    """A row for each key, in the order of train, then of the files that add others."""
    counts: list[dict[str, int]] = [getattr(report, field) for report in reports]
    totals = [sum(count.values()) for count in counts]
    keys = list(dict.fromkeys(key for count in counts for key in count))
    rows = [[title, *(header for report in reports for header in (report.role, "share"))]]
    for key in keys[:_MAX_LABEL_ROWS]:
        row = [f"  {shorten(key, _NAME_COLUMNS) or '(no type)'}"]
        for count, total in zip(counts, totals, strict=True):
            row += [f"{count.get(key, 0):,}", _percent(count.get(key, 0), total)]
        rows.append(row)
    if len(keys) > _MAX_LABEL_ROWS:
        blanks = [""] * (2 * len(reports))
        rows.append([f"  and {len(keys) - _MAX_LABEL_ROWS:,} more (--json has all)", *blanks])
    if field == "entities":
        rows.append(["  all", *(cell for total in totals for cell in (f"{total:,}", ""))])
    return _table(rows)


def _remarks(report: CorpusReport, max_tokens: int) -> list[str]:
    remarks = []
    if report.entity_like_labels:
        remarks.append(
            f"{_counted(report.entity_like_labels)} look like the labels of entities, but are in "
            "no known scheme (B-PER, I-PER, O, ...): each is learnt as a label of single tokens."
        )
    if report.uneven_sentences:
        remarks.append(said_of_uneven(report.uneven_sentences, report.first_uneven_line or 0))
    if report.sentences == 1 and report.tokens >= _LONG_FILE:
        said = f"it is one sentence of {report.tokens:,} tokens"
        remarks.append(f"{said}: sentences need an empty line between them.")
    if report.line_ends.get("CR") or len(report.line_ends) > 1:
        ends = ", ".join(f"{name} ({count:,})" for name, count in report.line_ends.items())
        said = "each ends a line here, though not in every other program."
        remarks.append(f"line ends: {ends}; {said}")
    if report.stray_labels:
        remarks.append(
            f"the labels are chunk labels but for {len(report.stray_labels):,} of their kinds, "
            f"on {sum(report.stray_labels.values()):,} of {report.tokens:,} tokens: "
            f"{_counted(report.stray_labels)}; so the file counts as not chunked."
        )
    if report.repaired_labels:
        remarks.append(
            f"{_plural(report.repaired_sentences, 'sentence breaks', 'sentences break')} "
            f"{report.scheme}, the first at line {report.first_repaired_line}; "
            f"{_plural(report.repaired_labels, 'label changes', 'labels change')} when repaired."
        )
    if report.sentences_over_max_tokens:
        count = _plural(report.sentences_over_max_tokens, "sentence is", "sentences are")
        remarks.append(f"{count} longer than {max_tokens:,} tokens and will be read in windows.")
    found = report.against_train
    if found and found.train_scheme != report.scheme:
        here, there = (name or "not that of chunks" for name in (report.scheme, found.train_scheme))
        remarks.append(f"the scheme is {here}, in train {there}.")
    if found and found.unseen_labels:
        remarks.append(f"train does not have {_counted(found.unseen_labels)}: scored as errors.")
    if found and found.unknown_examples:
        remarks.append(f"most frequent words unknown to train: {_counted(found.unknown_examples)}.")
    if found and found.shared_sentences:
        pairs = ", ".join(f"{here} ({there})" for here, there in found.shared_lines)
        rest = ", ..." if found.shared_sentences > len(found.shared_lines) else "."
        count = _plural(found.shared_sentences, "sentence is", "sentences are")
        remarks.append(f"{count} in train too, at lines (of train): {pairs}{rest}")
    return [printable(f"{report.role}: {remark}") for remark in remarks]


def _plural(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _counted(counts: dict[str, int], limit: int = 8) -> str:
    first = list(counts.items())[:limit]
    shown = [f"{shorten(repr(key), _NAME_COLUMNS)} ({count:,})" for key, count in first]
    return ", ".join([*shown, "..."] if len(counts) > limit else shown)
