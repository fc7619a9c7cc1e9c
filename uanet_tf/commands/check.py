"""Checks labelled files before anything is trained on them.

    uanet check train.conll dev.conll test.conll
    uanet check --train_path=train.conll --test_path=test.conll --json

Prints counts, the tag scheme, repairs, unknown words and overlaps with train. Files are train, dev,
test and further test files, in this order; "-" is standard input. Exit code 2 and one sentence on
stderr for bad input.
"""

import collections
import dataclasses
import io
import json
import sys
from typing import NoReturn

from absl import flags

from uanet_lite.columns_file import read_sentences
from uanet_lite.text_lines import display_name, read_lines
from uanet_tf.commands import runner
from uanet_tf.errors import InputError
from uanet_tf.evaluation.corpus_report import Corpus, format_reports, report_corpora

FLAGS = flags.FlagValues()
_ROLES = ("train", "dev", "test")

for _role in _ROLES:
    flags.DEFINE_string(f"{_role}_path", None, f"The {_role} file.", flag_values=FLAGS)
flags.DEFINE_integer(
    "token_column", 0, "Column of the token; negative counts from the end.", flag_values=FLAGS
)
flags.DEFINE_string(
    "label_column",
    "-1",
    "Column of the label; negative counts from the end; none: files without labels.",
    flag_values=FLAGS,
)
flags.DEFINE_boolean(
    "normalize_digits",
    True,
    "Read every digit as 0 when counting unknown words.",
    flag_values=FLAGS,
)
flags.DEFINE_boolean(
    "lowercase_words", False, "Ignore case when counting unknown words.", flag_values=FLAGS
)
flags.DEFINE_integer("max_tokens", 512, "Count longer sentences.", flag_values=FLAGS)
flags.DEFINE_boolean("json", False, "Print JSON instead of text.", flag_values=FLAGS)


def main(files: list[str]) -> None:
    """Runs the command on files, or on those of the flags in ``FLAGS``."""
    text = _report(_named_files(files), _label_column())
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Words of any script can be shown, whatever the locale.
        sys.stdout.reconfigure(encoding="utf-8")
    print(text, end="", flush=True)


def _label_column() -> int | None:
    text = FLAGS.label_column
    if text.lower() == "none":
        return None
    try:
        return int(text)
    except ValueError:
        raise InputError(
            f"--label_column must be a whole number, or none. Received: {text}"
        ) from None


def _named_files(files: list[str]) -> list[tuple[str, str]]:
    """(role, path) of each file, train first."""
    paths: dict[str, str | None] = {role: FLAGS[f"{role}_path"].value for role in _ROLES}
    named = [(role, path) for role, path in paths.items() if path is not None]
    if named and files:
        raise InputError(
            "Name the files either in order or by --train_path, --dev_path and --test_path, not "
            f"both ways. Received: {' '.join(files)} and --{named[0][0]}_path={named[0][1]}."
        )
    if named:
        return named
    if not files:
        raise InputError("No file given: uanet check TRAIN [DEV [TEST ...]].")
    further = [f"test{number}" for number in range(2, len(files))]
    return list(zip([*_ROLES, *further], files, strict=False))


def _report(named: list[tuple[str, str]], label_column: int | None) -> str:
    if sum(path == "-" for _, path in named) > 1:
        raise InputError("Only one of the files can be '-' (standard input).")
    corpora = [_read(role, path, label_column) for role, path in named]
    reports = report_corpora(
        corpora,
        normalize_digits=FLAGS.normalize_digits,
        lowercase_words=FLAGS.lowercase_words,
        max_tokens=FLAGS.max_tokens,
    )
    if FLAGS.json:
        files = [
            dataclasses.asdict(report) | {"mean_sentence_tokens": report.mean_sentence_tokens}
            for report in reports
        ]
        return json.dumps({"files": files}, ensure_ascii=False, indent=2) + "\n"
    return format_reports(reports, max_tokens=FLAGS.max_tokens)


def _read(role: str, path: str, label_column: int | None) -> Corpus:
    ends: collections.Counter[str] = collections.Counter()
    lines = read_lines(path, ends=ends)
    sentences = read_sentences(
        path, token_column=FLAGS.token_column, label_column=label_column, lines=lines
    )
    return Corpus(role, display_name(path), list(sentences), ends)


def run() -> NoReturn:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, arguments=True)
