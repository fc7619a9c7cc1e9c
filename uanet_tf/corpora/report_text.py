"""Corpus reports as aligned plain text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from uanet_tf.corpora.corpus_report import LONG_SENTENCE_TOKENS, CorpusReport
from uanet_tf.data.label_doubts import said_of_uneven
from uanet_tf.printable import printable
from uanet_tf.text.columns import display_width, pad, shorten

_MAX_LABEL_ROWS = 100
_LONG_FILE = 200  # tokens in a file of one sentence, which probably lacks its empty lines
_NAME_COLUMNS = 28  # of a label or word: a longer one would widen every line
_NONE = "-"


def format_reports(reports: Sequence[CorpusReport], *, max_tokens: int = 512) -> str:
    """The whole text that `uanet_tf.corpora.check` prints, ending in a line feed."""
    roles = [report.role for report in reports]
    parts = [
        _table([[report.role, report.path] for report in reports], right_from=2),
        _table([["", *roles], *_fact_rows(reports, max_tokens)]),
    ]
    if any(report.entities for report in reports):
        parts.append(
            _table([["Entities", *_shared_headers(roles)], *_count_rows(reports, "entities")])
        )
    if any(report.labels for report in reports):
        parts.append(_table([["Labels", *_shared_headers(roles)], *_count_rows(reports, "labels")]))
    remarks = [remark for report in reports for remark in _remarks(report, max_tokens)]
    parts.append("\n".join(["Worth a look", *(f"  {remark}" for remark in remarks or ["nothing"])]))
    return "\n\n".join(parts) + "\n"


def _table(rows: Sequence[Sequence[str]], right_from: int = 1) -> str:
    """Columns two spaces apart, numbers (from column `right_from` on) to the right."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            pad(cell, width) if column < right_from else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _fact_rows(reports: Sequence[CorpusReport], max_tokens: int) -> list[list[str]]:
    def row(name: str, show: Callable[[CorpusReport], str]) -> list[str]:
        return [name, *(show(report) for report in reports)]

    rows = [
        row("Sentences", lambda r: f"{r.sentences:,}"),
        row("  repeated within the file", lambda r: f"{r.repeated_sentences:,}"),
        row("Documents", lambda r: f"{r.documents:,}"),
        row("Tokens", lambda r: f"{r.tokens:,}"),
        row("  in a sentence, on average", lambda r: f"{r.mean_sentence_tokens:.1f}"),
        row("  in the longest sentence", lambda r: f"{r.longest_sentence_tokens:,}"),
        row("    which starts at line", lambda r: str(r.longest_sentence_line)),
        row(f"  sentences over {max_tokens:,}", lambda r: f"{r.sentences_over_max_tokens:,}"),
        row("Different words", lambda r: f"{r.word_types:,}"),
        row("  characters of the longest", lambda r: f"{r.longest_word_characters:,}"),
        row("    in the sentence at line", lambda r: str(r.longest_word_line)),
    ]
    if any(report.labels for report in reports):
        rows.append(row("Different labels", lambda r: f"{len(r.labels):,}"))
        rows.append(row("Scheme", lambda r: r.scheme or "not chunks"))
    if any(report.scheme for report in reports):
        rows.append(row("  labels to repair", lambda r: f"{r.repaired_labels:,}"))
        rows.append(row("  in sentences", lambda r: f"{r.repaired_sentences:,}"))
    if len(reports) > 1:
        rows.append(["Against train", *[""] * len(reports)])
        rows.append(row("  unknown words, of tokens", _unknown_token_rate))
        rows.append(row("  unknown words, of different words", _unknown_type_rate))
        rows.append(row("  sentences that train has too", _shared_count))
        rows.append(row(f"    of {LONG_SENTENCE_TOKENS} tokens or more", _shared_long_count))
    return rows


def _unknown_token_rate(report: CorpusReport) -> str:
    found = report.against_train
    return _percent(found.unknown_tokens, report.tokens) if found else _NONE


def _unknown_type_rate(report: CorpusReport) -> str:
    found = report.against_train
    return _percent(found.unknown_types, found.word_types) if found else _NONE


def _shared_count(report: CorpusReport) -> str:
    return f"{report.against_train.shared_sentences:,}" if report.against_train else _NONE


def _shared_long_count(report: CorpusReport) -> str:
    return f"{report.against_train.shared_long_sentences:,}" if report.against_train else _NONE


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else _NONE


def _shared_headers(roles: Sequence[str]) -> list[str]:
    return [header for role in roles for header in (role, "share")]


def _count_rows(reports: Sequence[CorpusReport], field: str) -> list[list[str]]:
    """A row for each key, in the order of train, then of the files that add others."""
    counts: list[dict[str, int]] = [getattr(report, field) for report in reports]
    totals = [sum(count.values()) for count in counts]
    keys = list(dict.fromkeys(key for count in counts for key in count))
    rows = []
    for key in keys[:_MAX_LABEL_ROWS]:
        row = [f"  {shorten(key, _NAME_COLUMNS) or '(no type)'}"]
        for count, total in zip(counts, totals, strict=True):
            row += [f"{count.get(key, 0):,}", _percent(count.get(key, 0), total)]
        rows.append(row)
    if len(keys) > _MAX_LABEL_ROWS:
        blanks = [""] * (2 * len(reports))
        rows.append([f"  and {len(keys) - _MAX_LABEL_ROWS:,} more (--json has all)", *blanks])
    if field == "entities":
        total_row = ["  all"]
        for total in totals:
            total_row += [f"{total:,}", ""]
        rows.append(total_row)
    return rows


def _remarks(report: CorpusReport, max_tokens: int) -> list[str]:
    remarks = []
    if report.looks_like_json:
        remarks.append(
            "it looks like JSON that was read as columns: convert it to one token and its label "
            "per line (uanet data convert --help)."
        )
    elif report.entity_like_labels:
        remarks.append(
            f"{_counted(report.entity_like_labels)} look like the labels of entities, but are in "
            "no known scheme (B-PER, I-PER, O, ...): each is learnt as a label of single tokens."
        )
    if report.uneven_sentences and not report.looks_like_json:
        remarks.append(said_of_uneven(report.uneven_sentences, report.first_uneven_line or 0))
    if report.has_sentences_in_lines:
        remarks.append(
            "most lines hold a sentence and its labels: each token needs a line of its own."
        )
    if report.sentences == 1 and report.tokens >= _LONG_FILE:
        remarks.append(
            f"it is one sentence of {report.tokens:,} tokens: sentences need an empty line between "
            "them."
        )
    if report.line_ends.get("CR") or len(report.line_ends) > 1:
        ends = ", ".join(f"{name} ({count:,})" for name, count in report.line_ends.items())
        remarks.append(
            f"line ends: {ends}; each ends a line here, though not in every other program."
        )
    if report.stray_labels:
        remarks.append(
            f"the labels are chunk labels but for {_counted(report.stray_labels)}, so the file "
            "counts as not chunked."
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
        remarks.append(
            f"the scheme is {report.scheme or 'not that of chunks'}, "
            f"in train {found.train_scheme or 'not that of chunks'}."
        )
    if found and found.unseen_labels:
        remarks.append(f"train does not have {_counted(found.unseen_labels)}: scored as errors.")
    if found and found.unknown_examples:
        remarks.append(f"most frequent words unknown to train: {_counted(found.unknown_examples)}.")
    if found and found.shared_sentences:
        pairs = ", ".join(f"{here} ({there})" for here, there in found.shared_lines)
        remarks.append(
            f"{_plural(found.shared_sentences, 'sentence is', 'sentences are')} in train too,"
            f" at lines (of train): {pairs}{_rest(found.shared_sentences, found.shared_lines)}"
        )
    return [printable(f"{report.role}: {remark}") for remark in remarks]


def _rest(count: int, shown: Sequence[object]) -> str:
    return ", ..." if count > len(shown) else "."


def _plural(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _counted(counts: dict[str, int], limit: int = 8) -> str:
    shown = ", ".join(
        f"{shorten(repr(key), _NAME_COLUMNS)} ({count:,})"
        for key, count in list(counts.items())[:limit]
    )
    return f"{shown}{', ...' if len(counts) > limit else ''}"
