"""Looks at CoNLL files before anything is trained on them.

    python -m uanet_tf.data.check train.conll dev.conll test.conll
    python -m uanet_tf.data.check --train=train.conll --test=test.conll --json

Prints counts, the tag scheme, repairs, unknown words and overlaps with train. Exit code 2 and one
sentence on stderr for bad input.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import json
import os
import sys
from collections.abc import Sequence

from uanet_tf.corpora.corpus_report import Corpus, report_corpora
from uanet_tf.corpora.report_text import format_reports
from uanet_tf.data.conll import read_corpus
from uanet_tf.data.text_lines import display_name
from uanet_tf.errors import InputError

_ROLES = ("train", "dev", "test")


def _column_or_none(text: str) -> int | None:
    return None if text.lower() == "none" else int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m uanet_tf.data.check",
        description="Prints what is worth knowing about CoNLL files before training on them.",
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="train, dev, test, further test files; '-' is standard input",
    )
    for role in _ROLES:
        parser.add_argument(f"--{role}", f"--{role}_path", metavar="FILE", help=f"the {role} file")
    parser.add_argument(
        "--token_column", type=int, default=0, help="negative counts from the end (default: 0)"
    )
    parser.add_argument(
        "--label_column",
        type=_column_or_none,
        default=-1,
        help="negative counts from the end, 'none' for files without labels (default: -1)",
    )
    parser.add_argument(
        "--normalize_digits",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="read every digit as 0 when counting unknown words",
    )
    parser.add_argument(
        "--lowercase_words",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="ignore case when counting unknown words",
    )
    parser.add_argument(
        "--max_tokens", type=int, default=512, help="count longer sentences (default: 512)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    return parser


def _named_files(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """(role, path) of each file, train first."""
    named = [(role, path) for role in _ROLES if (path := getattr(arguments, role)) is not None]
    if named and arguments.files:
        raise InputError(
            "Name the files either in order or by --train, --dev and --test, not both ways. "
            f"Received: {' '.join(arguments.files)} and --{named[0][0]}={named[0][1]}."
        )
    if named:
        return named
    if not arguments.files:
        raise InputError("No file given: python -m uanet_tf.data.check TRAIN [DEV [TEST ...]].")
    further = [f"test{number}" for number in range(2, len(arguments.files))]
    return list(zip([*_ROLES, *further], arguments.files, strict=False))


def _run(arguments: argparse.Namespace) -> str:
    named = _named_files(arguments)
    if sum(path == "-" for _, path in named) > 1:
        raise InputError("Only one of the files can be '-' (standard input).")
    corpora = [
        Corpus(
            role,
            display_name(path),
            read_corpus(
                path, token_column=arguments.token_column, label_column=arguments.label_column
            ),
        )
        for role, path in named
    ]
    reports = report_corpora(
        corpora,
        normalize_digits=arguments.normalize_digits,
        lowercase_words=arguments.lowercase_words,
        max_tokens=arguments.max_tokens,
    )
    if arguments.json:
        files = [
            dataclasses.asdict(report) | {"mean_sentence_tokens": report.mean_sentence_tokens}
            for report in reports
        ]
        return json.dumps({"files": files}, ensure_ascii=False, indent=2) + "\n"
    return format_reports(reports, max_tokens=arguments.max_tokens)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        text = _run(parsed)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Words of any script can be shown, whatever the locale.
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        # The reader (`| head`) has seen enough; without this Python complains again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
