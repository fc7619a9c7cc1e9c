"""Scores a trained run on a labelled file.

    uanet evaluate --run_dir=R --input=FILE

Prints precision, recall and F1 of entities (strict, as conlleval and seqeval count) or
accuracy, for the draft, the refiner and the gate; how well confidence and uncertainty find wrong
tokens and wrong entities, compared with one pass of the same model without dropout and refinement
(docs/lab/uncertainty.md); for a run whose head was trained, how near --sampling=distilled comes to
exact sampling, for which the file is tagged both ways; and what the gate did. --output=FILE writes
all numbers as JSON. Labels that the model does not know are counted on stderr and scored as errors.
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from absl import flags, logging

from uanet_lite.atomic_file import open_output
from uanet_lite.sentence import Sentence
from uanet_lite.text_lines import display_name
from uanet_tf.commands import labelled_file, run_settings, runner
from uanet_tf.commands.labelled_file import (
    check_labelled_file,
    check_labels_fit,
    define_labelled_file_flags,
    read_labelled_file,
    warn_of_unknown,
)
from uanet_tf.commands.output_file import check_other_file
from uanet_tf.errors import InputError
from uanet_tf.evaluation.evaluation import (
    Evaluation,
    distilled_scores,
    evaluate_tagged,
    evaluation_table,
    has_trained_head,
)
from uanet_tf.evaluation.one_pass import one_pass, other_sampling
from uanet_tf.tagging.streams import tag_in_context

FLAGS = flags.FlagValues()
run_settings.define_run_flags(FLAGS, "evaluate")
flags.adopt_module_key_flags(run_settings, FLAGS)
define_labelled_file_flags(FLAGS)
flags.adopt_module_key_flags(labelled_file, FLAGS)
flags.DEFINE_boolean("json", False, "Print JSON instead of a table.", flag_values=FLAGS)
flags.DEFINE_string("output", None, "File for the numbers as JSON.", flag_values=FLAGS)

_WARM_UP_SENTENCES = 8


def main() -> None:
    """Runs the command with the flags in ``FLAGS``."""
    config = run_settings.check_run_flags(FLAGS)
    check_labelled_file(FLAGS, "to score")
    if FLAGS.output:
        check_other_file(FLAGS.output, [FLAGS.input], FLAGS.run_dir)
    sentences = read_labelled_file(FLAGS, config)
    model = run_settings.load_run_model(FLAGS, "evaluate")
    check_labels_fit(sentences, model, FLAGS.input)
    evaluation = _evaluate(model, sentences)
    warn_of_unknown(evaluation.unknown_labels, FLAGS.input, "scored as errors")
    text = json.dumps(evaluation.to_dict(), ensure_ascii=False, indent=2) + "\n"
    if FLAGS.output:
        with open_output(FLAGS.output) as stream:
            stream.write(text)
    if FLAGS.json:
        sys.stdout.write(text)
    else:
        name = os.path.basename(display_name(FLAGS.input))
        sys.stdout.write(evaluation_table(evaluation, name) + "\n")


def _evaluate(model: Any, sentences: Sequence[Sentence]) -> Evaluation:
    sizes = {"batch_size": FLAGS.batch_size, "batch_tokens": FLAGS.batch_tokens}
    # The first call builds the model's graph, which is not what is timed.
    list(tag_in_context(model, sentences[:_WARM_UP_SENTENCES], **sizes))
    start = time.perf_counter()
    tagged = [answer for _, answer in tag_in_context(model, sentences, **sizes)]
    seconds = time.perf_counter() - start
    with one_pass(model):
        plain = [answer for _, answer in tag_in_context(model, sentences, **sizes)]
    task = "pos" if model.label_scheme is None else "ner"
    try:
        distilled = None
        if has_trained_head(model):
            answers = {model.sampling: tagged, "one_pass": plain}
            with other_sampling(model) as other:
                answers[other] = [answer for _, answer in tag_in_context(model, sentences, **sizes)]
            distilled = distilled_scores(model, sentences, answers, task=task)
        return evaluate_tagged(
            [sentence.labels for sentence in sentences],
            tagged,
            task=task,
            threshold=model.threshold,
            seconds=seconds,
            known_labels=model.label_names,
            one_pass=plain,
            distilled=distilled,
        )
    except InputError as error:
        raise InputError(f"{display_name(FLAGS.input)}: {error}") from None


def run() -> None:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, verbosity=logging.WARNING)
