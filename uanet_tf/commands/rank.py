r"""Finds the sentences that are most worth annotating.

    uanet rank --run_dir=R --input=raw.txt --by=mean --top=200 --diverse \
        --output=todo.jsonl
    uanet rank --run_dir=R --input=raw.txt --to=label_studio --output=todo.json

Tags the input and writes the sentences that the tagger is least sure of, the best first: as JSON
lines with tokens, labels and scores, as plain text, or as a file that an annotation tool imports,
with the entities as suggestions. `uanet data convert` reads what the tool exports. Further keys of
JSON lines go along, and for annotation tools the line of the input, as `input_line`.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from absl import flags, logging

from uanet_lite.atomic_file import STDOUT, open_output
from uanet_lite.strict_json import json_text
from uanet_tf.commands import input_flags, row_source, run_settings, runner
from uanet_tf.commands.output_file import check_other_file
from uanet_tf.errors import InputError
from uanet_tf.evaluation.ranking import SCORES, Ranked, rank
from uanet_tf.formats.annotated_text import AnnotatedText
from uanet_tf.formats.annotation_files import FORMATS as TOOLS
from uanet_tf.formats.annotation_files import write_annotations
from uanet_tf.formats.suggestions import name_and_meta, suggested
from uanet_tf.tagging.streams import tag_rows

FLAGS = flags.FlagValues()
run_settings.define_run_flags(FLAGS, "tag")
flags.adopt_module_key_flags(run_settings, FLAGS)
input_flags.define_input_flags(FLAGS)
flags.adopt_module_key_flags(input_flags, FLAGS)
flags.DEFINE_enum(
    "by",
    "mean",
    list(SCORES),
    "Score of a sentence: mean, sum (prefers long sentences) or highest uncertainty of its tokens; "
    "1 less the lowest confidence; the mean mutual information, which is what more training data "
    "can reduce.",
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "top", 100, "Most sentences to write.", lower_bound=1, upper_bound=10**6, flag_values=FLAGS
)
flags.DEFINE_boolean(
    "diverse", False, "Pass over near-duplicates of a better sentence.", flag_values=FLAGS
)
flags.DEFINE_string("output", STDOUT, "File to write; '-': standard output.", flag_values=FLAGS)
flags.DEFINE_enum(
    "to",
    "jsonl",
    ["jsonl", "text", *TOOLS],
    "Format of the output: JSON lines, one sentence per line, or a file for an annotation tool.",
    flag_values=FLAGS,
)


def main() -> int:
    """Runs the command with the flags in ``FLAGS``; returns the exit code."""
    config = run_settings.check_run_flags(FLAGS)
    check_other_file(FLAGS.output, [FLAGS.input], FLAGS.run_dir)
    column = config.data.token_column if FLAGS.token_column is None else FLAGS.token_column
    kind, _, rows = row_source.open_rows(FLAGS.input, FLAGS.format, column, "jsonl", False)
    model = run_settings.load_run_model(FLAGS, "tag")
    if FLAGS.to in TOOLS and model.label_scheme is None:
        raise InputError(
            f"--to={FLAGS.to} is for entities, and the run labels single tokens: use --to=jsonl."
        )
    if model.gate is not None:
        model.refine_all = False
    if FLAGS.by == "mutual_information":
        one = model.sampling == "exact" and model.num_samples <= 1
        if one or not model.drafter.samples_differ:
            raise InputError(
                "--by=mutual_information needs samples that differ: several (--num_samples), of a "
                "tagger that has dropout to sample."
            )
        model.return_mutual_information = True
    cut = row_source.cutter(
        FLAGS.input, kind, model.tokenizer, FLAGS.split_sentences, FLAGS.language
    )
    errors = count = 0
    sizes = {"batch_size": FLAGS.batch_size, "batch_tokens": FLAGS.batch_tokens}

    def sentences():
        nonlocal errors, count
        for row, answers in tag_rows(model, map(cut, rows), **sizes):
            errors += row_source.tell_error(FLAGS.input, row)
            count += sum(bool(answer.tokens) for answer in answers)
            for number, answer in enumerate(answers, 1):
                yield (row, number if len(answers) > 1 else None), answer

    ranked = rank(sentences(), FLAGS.by, FLAGS.top, diverse=FLAGS.diverse)
    if FLAGS.diverse and len(ranked) < min(count, FLAGS.top):
        print(
            f"--top={FLAGS.top:,}, and there are {len(ranked):,} sentences: the other candidates "
            f"of {count:,} that were read share most of their words with one of these.",
            file=sys.stderr,
        )
    with open_output(FLAGS.output) as stream:
        _writer(FLAGS.to)(stream, ranked)
    return runner.PARTLY if errors else 0


def _writer(kind: str) -> Callable[[TextIO, Sequence[Ranked]], Any]:
    if kind == "jsonl":
        return _write_json
    if kind == "text":
        return _write_text
    return lambda stream, ranked: write_annotations(map(_for_tool, ranked), stream, kind)


def _for_tool(ranked: Ranked) -> AnnotatedText:
    row, part = ranked.origin
    name, meta = name_and_meta(row.fields, row.line, part)
    return suggested(ranked.sentence, ranked.score, name, meta)


def _write_json(stream: TextIO, ranked: Sequence[Ranked]) -> None:
    """The fields of the input and of the answer; the answer's win where both have one."""
    for score, sentence, (row, _) in ranked:
        ours = {"score": round(score, 6), **sentence.to_dict()}
        record = ours | row.fields | ours  # in this order
        stream.write(json_text(record) + "\n")


def _write_text(stream: TextIO, ranked: Sequence[Ranked]) -> None:
    for item in ranked:
        stream.write(suggested(item.sentence).text.replace("\n", " ") + "\n")


def run() -> None:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, verbosity=logging.WARNING)
