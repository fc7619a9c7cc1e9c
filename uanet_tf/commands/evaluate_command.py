"""``uanet evaluate``: the scores of a trained run on a labelled file."""

import json
import os
import sys

from uanet_lite.atomic_file import open_output
from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.labelled_file import LabelledFile
from uanet_tf.commands.run_flags import ScoredRunFlags
from uanet_tf.errors import InputError
from uanet_tf.evaluation.evaluation import evaluation_table
from uanet_tf.evaluation.scored_data import evaluate_sentences


def evaluate(
    run: ScoredRunFlags,
    file: LabelledFile,
    *,
    json_: bool = flag(False, "Print JSON instead of a table."),
    output: str | None = flag(None, "File for the numbers as JSON."),
) -> None:
    """Scores a trained run on a labelled file.

        uanet evaluate --run_dir=R --input=FILE

    Prints precision, recall and F1 of entities (strict, as conlleval and seqeval count) or
    accuracy, for the draft, the refiner and the gate; how well confidence and uncertainty find
    wrong tokens and wrong entities, compared with one pass of the same model without dropout and
    refinement (docs/lab/uncertainty.md); for a run whose head was trained, how near
    --sampling=distilled comes to exact sampling, for which the file is tagged both ways; and what
    the gate did. --output=FILE writes all numbers as JSON. Labels that the model does not know are
    counted on stderr and scored as errors.
    """
    if output:
        run.check_output(output, file.input)
    sentences = file.read(run.config(), run.token_column)
    model = run.load()
    file.check_labels(sentences, model)
    try:
        evaluation = evaluate_sentences(model, sentences, **run.sizes)
    except InputError as error:
        raise InputError(f"{file.name}: {error}") from None
    file.warn_of_unknown(evaluation.unknown_labels, "scored as errors")
    text = json.dumps(evaluation.to_dict(), ensure_ascii=False, indent=2) + "\n"
    if output:
        with open_output(output) as stream:
            stream.write(text)
    if not json_:
        text = evaluation_table(evaluation, os.path.basename(file.name)) + "\n"
    sys.stdout.write(text)
