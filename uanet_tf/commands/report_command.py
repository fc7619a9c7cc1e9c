"""``uanet report``: an HTML report of a trained run on a labelled file."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

from uanet_lite.atomic_file import open_output
from uanet_tf.commands.command_flags import Flag
from uanet_tf.commands.labelled_file import LabelledFile
from uanet_tf.commands.run_flags import ScoredRunFlags
from uanet_tf.errors import InputError
from uanet_tf.evaluation.scored_data import SAMPLE_COUNTS, SAMPLE_SENTENCES, report_of

_MOST_SAMPLES = 1000


def report(
    run: ScoredRunFlags,
    file: LabelledFile,
    *,
    output: Annotated[str, Flag("HTML file to write; '-': standard output.")] = "report.html",
    sample_counts: Annotated[
        Sequence[str], Flag("Numbers of samples M to compare with the run's; empty: none.")
    ] = tuple(map(str, SAMPLE_COUNTS)),
    sample_sentences: Annotated[
        int, Flag("The first sentences of the file, on which M is varied.", at_least=1)
    ] = SAMPLE_SENTENCES,
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
            page = report_of(
                model,
                sentences,
                title=os.path.basename(os.path.normpath(run.run_dir)),
                data=os.path.basename(file.name),
                sample_counts=counts,
                sample_sentences=sample_sentences,
                **run.sizes,
            )
        except InputError as error:
            raise InputError(f"{file.name}: {error}") from None
        stream.write(page)
    if output != "-":
        sys.stderr.write(f"{output} is written.\n")


def _sample_counts(given: Sequence[str]) -> list[int]:
    try:
        counts = sorted({int(each) for each in given if each})
    except ValueError:
        counts = [-1]
    if any(not 0 <= each <= _MOST_SAMPLES for each in counts):
        raise InputError(
            f"--sample_counts must be whole numbers from 0 to {_MOST_SAMPLES}, with commas between "
            f"them. Received: {','.join(given)}"
        )
    return counts
