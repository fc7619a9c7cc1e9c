"""The labelled file that a run is scored on, reported on or calibrated on, and its answers."""

import dataclasses
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from uanet_lite.columns_file import read_corpus
from uanet_lite.printable import printable
from uanet_lite.sentence import Sentence
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_lite.text_lines import display_name
from uanet_tf.commands.command_flags import Flag
from uanet_tf.config import Config
from uanet_tf.data.label_doubts import check_chunk_labels, said_of_uneven, uneven_sentences
from uanet_tf.errors import SentencesError
from uanet_tf.tagging.streams import tag_in_context

_WARM_UP_SENTENCES = 8


@dataclasses.dataclass
class LabelledFile:
    """The file and the column of its labels; None: the run's."""

    input: Annotated[str, Flag("Labelled CoNLL file (required).", required="the labelled file")]
    label_column: Annotated[
        int | None,
        Flag("Column of the label; negative counts from the end. Default: the run's."),
    ]

    @property
    def name(self) -> str:
        """The file's name for messages."""
        return display_name(self.input)

    def read(self, config: Config, token_column: int | None) -> list[Sentence]:
        """The sentences of the file; columns that no flag names are those of the run.

        Raises:
          InputError: the file cannot be read.
        """
        data = config.data
        sentences = read_corpus(
            self.input,
            token_column=data.token_column if token_column is None else token_column,
            label_column=data.label_column if self.label_column is None else self.label_column,
        )
        if uneven := uneven_sentences(sentences):
            said = said_of_uneven(len(uneven), uneven[0].uneven_line)
            print(f"{self.name}: {said}", file=sys.stderr)
        return sentences

    def check_labels(self, sentences: Sequence[Sentence], model: Any) -> None:
        """Raises InputError, with file and line, if a model of entities is given other labels."""
        if model.label_scheme is not None:
            try:
                check_chunk_labels(sentences)
            except SentencesError as error:
                raise error.of_file(self.name) from None

    def warn_of_unknown(self, labels: Mapping[str, int], what: str) -> None:
        """Says on stderr which labels the model does not know, and ``what`` is done with them."""
        if labels:
            counts = ", ".join(f"{printable(name)} ({count:,})" for name, count in labels.items())
            print(f"{self.name}: labels unknown to the model, {what}: {counts}", file=sys.stderr)


def tag_timed(
    model: Any, sentences: Sequence[Sentence], **sizes: Any
) -> tuple[list[TaggedSentence], float]:
    """The answers for a file's sentences, and the seconds that they took.

    Args:
      model: a loaded model.
      sentences: of the file, with their documents.
      **sizes: limits of a batch, see ``tag_stream``.
    """
    # The first call builds the model's graph, which is not what is timed.
    list(tag_in_context(model, sentences[:_WARM_UP_SENTENCES], **sizes))
    start = time.perf_counter()
    tagged = [answer for _, answer in tag_in_context(model, sentences, **sizes)]
    return tagged, time.perf_counter() - start
