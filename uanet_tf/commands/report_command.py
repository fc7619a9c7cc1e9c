"""``uanet report``: an HTML report of a trained run on a labelled file."""

import dataclasses
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

from uanet_lite.atomic_file import open_output
from uanet_lite.sentence import Sentence
from uanet_tf.commands.command_flags import Flag
from uanet_tf.commands.labelled_file import LabelledFile, tag_timed
from uanet_tf.commands.run_flags import ScoredRunFlags
from uanet_tf.errors import InputError
from uanet_tf.evaluation.evaluation import evaluate_tagged, one_pass
from uanet_tf.evaluation.report_page import ReportInput, report_page
from uanet_tf.metrics import scoring
from uanet_tf.tagging.monitor import known_words

_MOST_SAMPLES = 1000


def report(
    run: ScoredRunFlags,
    file: LabelledFile,
    *,
    output: Annotated[str, Flag("HTML file to write; '-': standard output.")] = "report.html",
    sample_counts: Annotated[
        Sequence[str], Flag("Numbers of samples M to compare with the run's; empty: none.")
    ] = ("1", "4", "16"),
    sample_sentences: Annotated[
        int, Flag("The first sentences of the file, on which M is varied.", at_least=1)
    ] = 500,
) -> None:
    """Writes an HTML report of a trained run on a labelled file.

        uanet report --run_dir=R --input=FILE --output=report.html

    One HTML file that needs no network: scores by type, confusion matrix, reliability diagrams,
    risk-coverage curves, scores by length and by known words, the effect of Gamma and of M, and the
    answers worth looking at, in their context. The numbers are those of uanet evaluate. M is varied
    on the first sentences only (--sample_counts, --sample_sentences), since each sample is a pass.
    Labels unknown to the model are scored as errors, and named in the report.
    """
    run.check_output(output, file.input)
    counts = _sample_counts(sample_counts)
    sentences = file.read(run.config(), run.token_column)
    with open_output(output) as stream:  # before the work: it may not be possible
        model = run.load()
        file.check_labels(sentences, model)
        try:
            found = _tag_and_score(run, file, model, sentences)
            few = sentences[:sample_sentences]
            samples = _vary_samples(model, few, counts, run.sizes)
            found = dataclasses.replace(found, samples=samples, sample_sentences=len(few))
            stream.write(report_page(found))
        except InputError as error:
            raise InputError(f"{file.name}: {error}") from None
    if output != "-":
        sys.stderr.write(f"{output} is written.\n")


def _sample_counts(given: Sequence[str]) -> list[int]:
    try:
        counts = sorted({int(each) for each in given if each})
    except ValueError:
        counts = [0]
    if any(not 1 <= each <= _MOST_SAMPLES for each in counts):
        raise InputError(
            f"--sample_counts must be whole numbers from 1 to {_MOST_SAMPLES}, with commas between "
            f"them. Received: {','.join(given)}"
        )
    return counts


def _tag_and_score(
    run: ScoredRunFlags, file: LabelledFile, model: Any, sentences: Sequence[Sentence]
) -> ReportInput:
    gold = [sentence.labels for sentence in sentences]
    tagged, seconds = tag_timed(model, sentences, **run.sizes)
    with one_pass(model):
        plain, _ = tag_timed(model, sentences, **run.sizes)
    evaluation = evaluate_tagged(
        gold,
        tagged,
        task=_task(model),
        threshold=model.threshold,
        seconds=seconds,
        known_labels=model.label_names,
        one_pass=plain,
    )
    known = known_words(model)  # None: not a model of words
    return ReportInput(
        title=os.path.basename(os.path.normpath(run.run_dir)),
        data=os.path.basename(file.name),
        evaluation=evaluation,
        gold=gold,
        tagged=tagged,
        plain=plain,
        threshold=model.threshold,
        known=known and [[known(token) for token in each.tokens] for each in sentences],
    )


def _vary_samples(
    model: Any, sentences: Sequence[Sentence], counts: Sequence[int], sizes: dict[str, int]
) -> list[tuple[int, float, float]]:
    """Rows of (M, score, sentences per second); [] for a model that draws no samples."""
    own = model.num_samples
    if not counts or not own or model.sampling != "exact":
        return []
    gold, task = [sentence.labels for sentence in sentences], _task(model)
    rows = []
    try:
        for count in sorted({*counts, own}):
            model.num_samples = count
            tagged, seconds = tag_timed(model, sentences, **sizes)
            labels = [sentence.labels for sentence in tagged]
            scores = scoring.score_systems(gold, task=task, final=labels)["final"]
            score = scores["f1" if task == "ner" else "accuracy"]
            rows.append((count, score, len(tagged) / max(seconds, 1e-9)))
    finally:
        model.num_samples = own
    return rows


def _task(model: Any) -> str:
    return "pos" if model.label_scheme is None else "ner"
