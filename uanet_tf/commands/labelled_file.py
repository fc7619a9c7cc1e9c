"""The labelled file that a run is scored on, reported on or calibrated on."""

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from uanet_lite.notes import Notes
from uanet_lite.printable import printable
from uanet_lite.sentence import Sentence
from uanet_lite.text_lines import display_name
from uanet_tf.commands.command_flags import flag
from uanet_tf.config import Config, DataConfig, in_flags
from uanet_tf.data.label_doubts import check_chunk_labels, said_of_uneven, uneven_sentences
from uanet_tf.errors import SentencesError
from uanet_tf.formats.table import FORMATS, Reading, read_labelled


def _setting(name: str) -> Any:
    """The flag of a setting of how labelled files are read; its default is the run's."""
    field = DataConfig.__dataclass_fields__[name]
    return flag(None, field.metadata["help"], field.metadata["choices"] or ())


@dataclasses.dataclass
class ReadingFlags:
    """How labelled files are read; None: as those of the run, or by default."""

    label_column: str | None = _setting("label_column")
    label_names: str | None = _setting("label_names")
    overlaps: str | None = _setting("overlaps")
    skip_blank_tokens: bool | None = _setting("skip_blank_tokens")
    accept_suggested: bool | None = _setting("accept_suggested")

    def reading(self, data: DataConfig, token_column: str | None) -> Reading:
        """As the flags say, else as the settings of a run."""
        given = {**vars(self), "token_column": token_column}
        changes = {name: value for name, value in given.items() if value is not None}
        return Reading.of_settings(dataclasses.replace(data, **changes))


@dataclasses.dataclass
class FormatFlags(ReadingFlags):
    """These, and the format."""

    data_format: str | None = flag(
        None, "Format of the file. Default: by name and content.", tuple(FORMATS)
    )


def read_and_tell(
    path: str, reading: Reading, *, notes: Notes | None = None, **more: Any
) -> list[Sentence]:
    """The sentences of a labelled file; what was left out or is odd is said on stderr."""
    notes = notes or Notes()
    sentences = read_labelled(path, reading, notes, **more)
    name = printable(display_name(path))
    for line in notes.lines():
        print(f"{name}: {printable(in_flags(line))}", file=sys.stderr)
    if uneven := uneven_sentences(sentences):
        print(f"{name}: {said_of_uneven(len(uneven), uneven[0].uneven_line)}", file=sys.stderr)
    return sentences


@dataclasses.dataclass(kw_only=True)
class LabelledFile:
    """The file and how it is read."""

    input: str = flag(None, "Labelled file (required).", required="the labelled file")
    flags: FormatFlags

    @property
    def name(self) -> str:
        """The file's name for messages."""
        return display_name(self.input)

    def read(self, config: Config, token_column: str | None) -> list[Sentence]:
        """The sentences; the file is read as those of the run where no flag says otherwise."""
        return read_and_tell(self.input, self.flags.reading(config.data, token_column))

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
