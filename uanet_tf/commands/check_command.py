"""``uanet check``: what labelled files hold, before anything is trained on them."""

import collections
import dataclasses
import io
import json
import sys

from uanet_lite.notes import Notes
from uanet_lite.text_lines import display_name
from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.labelled_file import FormatFlags, read_and_tell
from uanet_tf.config import DataConfig
from uanet_tf.errors import InputError
from uanet_tf.evaluation.corpus_report import Corpus, format_reports, report_corpora
from uanet_tf.formats.table import Reading


def check(
    files: list[str],
    how: FormatFlags,
    *,
    token_column: str = flag(
        "0", "Column of the token: a number, from 0, or a name that the file gives."
    ),
    normalize_digits: bool = flag(True, "Read every digit as 0 when counting unknown words."),
    lowercase_words: bool = flag(False, "Ignore case when counting unknown words."),
    max_tokens: int = flag(512, "Count the sentences that are longer, in tokens."),
    json_: bool = flag(False, "Print JSON instead of text."),
) -> None:
    """Checks labelled files before anything is trained on them.

        uanet check train.conll dev.conll test.conll
        uanet check train.conll --json

    Prints counts, the tag scheme, repairs, unknown words and overlaps with train. Files are train,
    dev, test and further test files, in this order; "-" is standard input. Exit code 2 and one
    sentence on stderr for bad input. --label_column=none: files without labels.
    """
    if not files:
        raise InputError("No file given: uanet check TRAIN [DEV [TEST ...]].")
    if files.count("-") > 1:
        raise InputError("Only one of the files can be '-' (standard input).")
    roles = ["train", "dev", "test", *(f"test{number}" for number in range(2, len(files)))]
    reading = how.reading(DataConfig(), token_column)
    corpora = [_read(role, path, reading) for role, path in zip(roles, files, strict=False)]
    reports = report_corpora(
        corpora,
        normalize_digits=normalize_digits,
        lowercase_words=lowercase_words,
        max_tokens=max_tokens,
    )
    text = format_reports(reports, max_tokens=max_tokens)
    if json_:
        found = [
            dataclasses.asdict(report) | {"mean_sentence_tokens": report.mean_sentence_tokens}
            for report in reports
        ]
        text = json.dumps({"files": found}, ensure_ascii=False, indent=2) + "\n"
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Words of any script can be shown, whatever the locale.
        sys.stdout.reconfigure(encoding="utf-8")
    print(text, end="", flush=True)


def _read(role: str, path: str, reading: Reading) -> Corpus:
    ends: collections.Counter[str] = collections.Counter()
    notes = Notes()
    sentences = read_and_tell(path, reading, notes=notes, ends=ends)
    return Corpus(role, display_name(path), sentences, ends, notes.format)
