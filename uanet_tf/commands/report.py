"""Writes a page of pictures on a trained run and a labelled file.

    uanet report --run_dir=R --input=FILE --output=report.html

One HTML file that needs no network: scores by type, confusion, reliability diagrams, risk over
coverage, scores by length and by known words, Gamma and M, and the answers worth looking at, in
their context. The numbers are those of uanet evaluate. M is varied on the first sentences only
(--sample_counts, --sample_sentences): M costs M passes. Labels that the model does not know are
scored as errors, and named on the page.
"""

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from absl import flags, logging

from uanet_lite.atomic_file import open_output
from uanet_lite.sentence import Sentence
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_lite.text_lines import display_name
from uanet_tf.commands import labelled_file, run_settings, runner
from uanet_tf.commands.labelled_file import (
    check_labelled_file,
    check_labels_fit,
    define_labelled_file_flags,
    read_labelled_file,
)
from uanet_tf.commands.output_file import check_other_file
from uanet_tf.errors import InputError
from uanet_tf.evaluation.evaluation import evaluate_tagged
from uanet_tf.evaluation.one_pass import one_pass
from uanet_tf.evaluation.report_page import ReportInput, report_page
from uanet_tf.metrics import scoring
from uanet_tf.tagging.monitor import known_words
from uanet_tf.tagging.streams import tag_in_context

FLAGS = flags.FlagValues()
run_settings.define_run_flags(FLAGS, "evaluate")
flags.adopt_module_key_flags(run_settings, FLAGS)
define_labelled_file_flags(FLAGS)
flags.adopt_module_key_flags(labelled_file, FLAGS)
flags.DEFINE_string("output", "report.html", "File for the page; '-': stdout.", flag_values=FLAGS)
flags.DEFINE_list(
    "sample_counts",
    "1,4,16",
    "Values of M to try, besides the run's; empty: none.",
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "sample_sentences",
    500,
    "Sentences on which M is varied, the first of the file.",
    lower_bound=1,
    flag_values=FLAGS,
)
_WARM_UP_SENTENCES = 8
_MOST_SAMPLES = 1000


def main() -> None:
    """Runs the command with the flags in ``FLAGS``."""
    config = run_settings.check_run_flags(FLAGS)
    check_labelled_file(FLAGS, "to report on")
    check_other_file(FLAGS.output, [FLAGS.input], FLAGS.run_dir)
    counts = _sample_counts()
    sentences = read_labelled_file(FLAGS, config)
    with open_output(FLAGS.output) as stream:  # before the work: it may not be possible
        model = run_settings.load_run_model(FLAGS, "evaluate")
        check_labels_fit(sentences, model, FLAGS.input)
        try:
            stream.write(report_page(_collect(model, sentences, counts)))
        except InputError as error:
            raise InputError(f"{display_name(FLAGS.input)}: {error}") from None
    if FLAGS.output != "-":
        sys.stderr.write(f"{FLAGS.output} is written.\n")


def _sample_counts() -> list[int]:
    try:
        counts = sorted({int(each) for each in FLAGS.sample_counts if each})
    except ValueError:
        counts = [0]
    if any(not 1 <= each <= _MOST_SAMPLES for each in counts):
        raise InputError(
            f"--sample_counts must be whole numbers from 1 to {_MOST_SAMPLES}, with commas between "
            f"them. Received: {','.join(FLAGS.sample_counts)}"
        )
    return counts


def _collect(model: Any, sentences: Sequence[Sentence], counts: Sequence[int]) -> ReportInput:
    gold = [sentence.labels for sentence in sentences]
    task = "pos" if model.label_scheme is None else "ner"
    tagged, seconds = _tag(model, sentences)
    with one_pass(model):
        plain, _ = _tag(model, sentences)
    evaluation = evaluate_tagged(
        gold,
        tagged,
        task=task,
        threshold=model.threshold,
        seconds=seconds,
        known_labels=model.label_names,
        one_pass=plain,
    )
    few = sentences[: FLAGS.sample_sentences]
    return ReportInput(
        title=os.path.basename(os.path.normpath(FLAGS.run_dir)),
        data=os.path.basename(display_name(FLAGS.input)),
        evaluation=evaluation,
        gold=gold,
        tagged=tagged,
        plain=plain,
        threshold=model.threshold,
        known=_known(model, sentences),
        samples=_vary_samples(model, few, task, counts),
        sample_sentences=len(few),
    )


def _vary_samples(
    model: Any, sentences: Sequence[Sentence], task: str, counts: Sequence[int]
) -> list[tuple[int, float, float]]:
    """Rows of (M, score, sentences per second); [] for a model that draws no samples."""
    own = model.num_samples
    if not counts or not own or model.sampling != "exact":
        return []
    gold = [sentence.labels for sentence in sentences]
    rows = []
    try:
        for count in sorted({*counts, own}):
            model.num_samples = count
            tagged, seconds = _tag(model, sentences)
            labels = [sentence.labels for sentence in tagged]
            scores = scoring.score_systems(gold, task=task, final=labels)["final"]
            score = scores["f1" if task == "ner" else "accuracy"]
            rows.append((count, score, len(tagged) / max(seconds, 1e-9)))
    finally:
        model.num_samples = own
    return rows


def _known(model: Any, sentences: Sequence[Sentence]) -> list[list[bool]] | None:
    """For each token whether its word has a vector of its own; None: not a model of words."""
    known = known_words(model)
    return known and [[known(token) for token in sentence.tokens] for sentence in sentences]


def _tag(model: Any, sentences: Sequence[Sentence]) -> tuple[list[TaggedSentence], float]:
    """Answers, and the seconds they took."""
    sizes = {"batch_size": FLAGS.batch_size, "batch_tokens": FLAGS.batch_tokens}
    # The first call builds the model's graph, which is not what is timed.
    list(tag_in_context(model, sentences[:_WARM_UP_SENTENCES], **sizes))
    start = time.perf_counter()
    tagged = [answer for _, answer in tag_in_context(model, sentences, **sizes)]
    return tagged, time.perf_counter() - start


def run() -> None:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, verbosity=logging.WARNING)
