"""``uanet report``: an HTML report of a trained run on a labelled file."""

import os
import sys

from uanet_lite.atomic_file import open_output
from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.labelled_file import LabelledFile
from uanet_tf.commands.run_flags import ScoredRunFlags
from uanet_tf.errors import InputError
from uanet_tf.evaluation.scored_data import report_of


def report(
    run: ScoredRunFlags,
    file: LabelledFile,
    *,
    output: str = flag("report.html", "HTML file to write; '-': standard output."),
) -> None:
    """Writes an HTML report of a trained run on a labelled file.

        uanet report --run_dir=R --input=FILE --output=report.html

    One HTML file that needs no network: scores by type, confusion matrix, reliability diagrams,
    risk-coverage curves, scores by length and by known words, the effect of Gamma, and the answers
    worth looking at, in their context. The numbers are those of uanet evaluate; uanet compare
    --sweep=num_samples=0,1,8 varies M. Labels unknown to the model are scored as errors, and named
    in the report.
    """
    run.check_output(output, file.input)
    sentences = file.read(run.config(), run.token_column)
    with open_output(output) as stream:  # before the work: it may not be possible
        model = run.load()
        file.check_labels(sentences, model)
        title = os.path.basename(os.path.normpath(run.run_dir))
        data = os.path.basename(file.name)
        try:
            page = report_of(model, sentences, title=title, data=data, **run.sizes)
        except InputError as error:
            raise InputError(f"{file.name}: {error}") from None
        stream.write(page)
    if output != "-":
        sys.stderr.write(f"{output} is written.\n")
