"""The labelled file that a trained run is scored on, reported on or calibrated on."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from absl import flags

from uanet_lite.columns_file import read_corpus
from uanet_lite.printable import printable
from uanet_lite.sentence import Sentence
from uanet_lite.text_lines import display_name
from uanet_tf.config import Config
from uanet_tf.data.label_doubts import check_chunk_labels, said_of_uneven, uneven_sentences
from uanet_tf.errors import InputError, SentencesError


def define_labelled_file_flags(flag_values: flags.FlagValues) -> None:
    """Defines the file and the column of its labels."""
    flags.DEFINE_string("input", None, "Labelled CoNLL file (required).", flag_values=flag_values)
    flags.DEFINE_integer(
        "label_column",
        None,
        "Column of the label; negative counts from the end. Default: the run's.",
        flag_values=flag_values,
    )


def check_labelled_file(flag_values: flags.FlagValues, purpose: str) -> None:
    """Raises InputError where no file is named; ``purpose``: what it is for, "to score"."""
    if not flag_values.input:
        raise InputError(f"--input is required: the labelled file {purpose}.")


def read_labelled_file(flag_values: flags.FlagValues, config: Config) -> list[Sentence]:
    """The sentences of the file; columns that no flag names are those of the run.

    Raises:
      InputError: the file cannot be read.
    """
    columns = {}
    for name in ("token_column", "label_column"):
        given = flag_values[name].value
        columns[name] = getattr(config.data, name) if given is None else given
    sentences = read_corpus(flag_values.input, **columns)
    if uneven := uneven_sentences(sentences):
        said = said_of_uneven(len(uneven), uneven[0].uneven_line)
        print(f"{display_name(flag_values.input)}: {said}", file=sys.stderr)
    return sentences


def check_labels_fit(sentences: Sequence[Sentence], model: Any, path: str) -> None:
    """Raises InputError, with file and line, if a model of entities is given other labels."""
    if model.label_scheme is not None:
        try:
            check_chunk_labels(sentences)
        except SentencesError as error:
            raise error.of_file(display_name(path)) from None


def warn_of_unknown(labels: Mapping[str, int], path: str, what: str) -> None:
    """Says on stderr which labels of the file the model does not know, and ``what`` they are."""
    if labels:
        counts = ", ".join(f"{printable(name)} ({count:,})" for name, count in labels.items())
        print(
            f"{display_name(path)}: labels unknown to the model, {what}: {counts}", file=sys.stderr
        )
