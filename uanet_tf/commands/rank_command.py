"""``uanet rank``: the sentences that are most worth annotating."""

import sys
from collections.abc import Iterator
from typing import Any

from uanet_lite.answers import to_json
from uanet_lite.atomic_file import STDOUT, open_output
from uanet_lite.rows import Row
from uanet_lite.strict_json import json_text
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.labelled_file import read_and_tell
from uanet_tf.commands.row_source import InputFile
from uanet_tf.commands.run_flags import RunFlags
from uanet_tf.commands.runner import PARTLY
from uanet_tf.errors import InputError
from uanet_tf.evaluation.ranking import SCORES, Ranked
from uanet_tf.evaluation.ranking import rank as rank_sentences
from uanet_tf.formats.annotated_text import AnnotatedText
from uanet_tf.formats.suggestions import name_and_meta, suggested
from uanet_tf.formats.table import TOOLS, Reading, holds_only_labelled, write_annotations
from uanet_tf.tagging.streams import tag_rows


def rank(
    run: RunFlags,
    file: InputFile,
    *,
    by: str = flag(
        "mean",
        "Score of a sentence: mean, sum (prefers long sentences) or highest uncertainty of its "
        "tokens; 1 minus the lowest confidence; the mean mutual information, the part of the "
        "uncertainty that more training data can reduce.",
        tuple(SCORES),
    ),
    top: int = flag(100, "Number of sentences to write.", at_least=1, at_most=10**6),
    diverse: bool = flag(False, "Skip near-duplicates of a sentence that ranks higher."),
    output: str = flag(STDOUT, "File to write; '-': standard output."),
    to: str = flag(
        "jsonl",
        "Format of the output: JSON lines, one sentence per line, or a file for an annotation "
        "tool.",
        ("jsonl", "text", *TOOLS),
    ),
) -> int:
    r"""Finds the sentences that are most worth annotating.

        uanet rank --run_dir=R --input=raw.txt --by=mean --top=200 --diverse \
            --output=todo.jsonl
        uanet rank --run_dir=R --input=raw.txt --to=label_studio --output=todo.json

    Tags the input and writes the sentences that the tagger is least sure of, the best first: as
    JSON lines with tokens, labels and scores, as plain text, or as a file that an annotation tool
    imports, with the entities as suggestions. `uanet data convert` reads what the tool exports.
    Files of labelled text (brat, CSV, exports of annotation tools) are ranked without the labels.
    Further keys of JSON lines go along, and for annotation tools the line of the input, as
    `input_line`.
    """
    run.check_output(output, file.input)
    labelled = file.format is None and holds_only_labelled(file.input)
    kind, rows = ("conll", iter(())) if labelled else file.open(run.column())
    model = run.load()
    if labelled:
        reading = Reading(label_column=None, tokenizer=model.tokenizer, accept_suggested=True)
        rows = (Row(each.line, (each,)) for each in read_and_tell(file.input, reading))
    if to in TOOLS and model.label_scheme is None:
        raise InputError(
            f"--to={to} is for entities, and the run labels single tokens: use --to=jsonl."
        )
    if by == "mutual_information":
        one = model.sampling == "exact" and model.num_samples <= 1
        if one or not model.drafter.samples_differ:
            raise InputError(
                "--by=mutual_information needs samples that differ: several (--num_samples), of a "
                "tagger that has dropout to sample."
            )
        model.return_mutual_information = True
    cut = file.text.cutter(file.input, kind, model.tokenizer)
    errors = count = 0

    def sentences() -> Iterator[tuple[Any, TaggedSentence]]:
        nonlocal errors, count
        for row, answers in tag_rows(model, map(cut, rows), **run.sizes):
            errors += file.tell_error(row)
            count += sum(bool(answer.tokens) for answer in answers)
            for number, answer in enumerate(answers, 1):
                yield (row, number if len(answers) > 1 else None), answer

    ranked = rank_sentences(sentences(), by, top, diverse=diverse)
    if diverse and len(ranked) < min(count, top):
        print(
            f"--top={top:,}, and there are {len(ranked):,} sentences: the other candidates "
            f"of {count:,} that were read share most of their words with one of these.",
            file=sys.stderr,
        )
    with open_output(output) as stream:
        if to in TOOLS:
            write_annotations(map(_for_tool, ranked), stream, to)
        for item in ranked if to == "jsonl" else ():
            stream.write(json_text(_record(item)) + "\n")
        for item in ranked if to == "text" else ():
            stream.write(suggested(item.sentence).text.replace("\n", " ") + "\n")
    return PARTLY if errors else 0


def _for_tool(ranked: Ranked) -> AnnotatedText:
    row, part = ranked.origin
    name, meta = name_and_meta(row.fields, row.line, part)
    return suggested(ranked.sentence, ranked.score, name, meta)


def _record(ranked: Ranked) -> dict[str, Any]:
    """The fields of the input and of the answer; the answer's win where both have one."""
    score, sentence, (row, _) = ranked
    ours = {"score": round(score, 6), **to_json(sentence)}
    return ours | row.fields | ours  # in this order
