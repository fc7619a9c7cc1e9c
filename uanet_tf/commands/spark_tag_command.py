"""``uanet spark_tag``: tags large files with Apache Spark."""

import dataclasses
import io
import json
from collections.abc import Iterator
from typing import Any

from uanet_lite.row_output import make_writer
from uanet_lite.rows import Row, read_rows
from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.row_source import TextFlags
from uanet_tf.commands.run_flags import RunFlags
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.tagging.streams import tag_rows

PARQUET = "parquet"
FORMATS = ("text", "jsonl", "conll", PARQUET)
_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "text", ".text": "text"}
_PLACE = "the partition"


def spark_tag(
    *,
    run: RunFlags,
    input: str = flag(None, "What to tag (required).", required=""),
    output: str = flag(None, "Folder to write, a new one (required).", required=""),
    text: TextFlags,
    format: str | None = flag(
        None,
        "Format of the input. Default: by its extension (.txt, .jsonl, .conll, .parquet).",
        FORMATS,
    ),
    text_column: str = flag(
        "text", "Parquet: the column of texts, each one sentence, or of lists of words."
    ),
    id_column: str | None = flag(
        None, "Parquet: the only column of the input that the output repeats. Default: all."
    ),
    master: str | None = flag(
        None,
        "URL of the cluster: local[4], spark://host:7077, yarn, ... Default: spark-submit's, "
        "else all cores of this machine.",
    ),
    partitions: int | None = flag(
        None,
        "Least number of partitions of the input. Default: as many as there are cores.",
        at_least=1,
    ),
    shared: bool = flag(False, "Every executor can read --run_dir: do not send the model."),
) -> None:
    r"""Tags files with a trained run on Apache Spark.

        uanet spark_tag --run_dir=R --input=PATH --output=FOLDER [--master=local[4]]
        spark-submit --master=yarn .../uanet_tf/commands/uanet.py \
            spark_tag --run_dir=R --input=PATH --output=FOLDER

    PATH is a file, a folder or a pattern of files, on any file system that Spark reads. The output
    is a folder with a file for each partition; within a file the input is in its order. Text, JSON
    lines and CoNLL give the lines that `uanet tag --output_format=jsonl` writes; Parquet gives
    Parquet, its columns and two more (see uanet_tf.spark.tag). What cannot be tagged has "error"
    instead of an answer. The model is sent to each executor once. More in docs/scale.md.
    """
    config = run.config()
    kind = format or _guess_format(input)
    if kind == "conll" and _reads_documents(config):
        raise InputError(
            "This run reads documents (--context, --refiner_context), which Spark would cut: tag "
            "CoNLL files with uanet tag, or name --format=jsonl, whose lines are documents."
        )
    # Spark, only for good arguments.
    from uanet_tf.spark import session, shipped_model, tag

    spark = session.make_session(master, **shipped_model.settings(partitions))
    with shipped_model.input_errors():
        if kind == PARQUET:
            table = spark.read.parquet(input)
            kept = [id_column] if id_column else table.columns
            options = run.sizes | run.options
            tagged = tag(table, run.run_dir, column=text_column, shared=shared, **options)
            tagged.select(*kept, "tagged", "error").write.parquet(output)
        else:
            lines = shipped_model.read_lines(spark, input, kind)
            work = TagLines(kind, run.column(), text, run.sizes)
            tagged = shipped_model.map_lines(lines, work, run.run_dir, run.options, shared=shared)
            tagged.write.text(output)


def _reads_documents(config: Config) -> bool:
    """Whether a run reads the sentences of a document together; its refiner, if it has one."""
    decoder = config.decoder
    refiner_context = decoder.refiner_context if decoder.is_refined else "sentence"
    return "document" in (config.data.context, refiner_context)


def _guess_format(path: str) -> str:
    name = path.rstrip("/").lower().removesuffix(".gz")
    for ending, kind in {**_ENDINGS, ".parquet": PARQUET, ".conll": "conll"}.items():
        if name.endswith(ending):
            return kind
    raise InputError(f"--format is required: the name {path} does not tell it.")


@dataclasses.dataclass(frozen=True)
class TagLines:
    """What a Spark worker does with lines of a file: as ``uanet tag --output_format=jsonl``.

    ``kind`` is "text", "jsonl", or "conll", whose "lines" are the blocks between empty lines.
    ``sizes`` are the limits of a batch, see ``tag_stream``.
    """

    kind: str
    token_column: str
    text: TextFlags
    sizes: dict[str, Any]

    def __call__(self, model: Any, lines: list[str]) -> list[str]:
        """The answers, in order; a line that cannot be tagged has "error" instead of one."""
        rows = [row for line in lines for row in self._read(line, model)]
        stream = io.StringIO()
        write = make_writer("jsonl", stream, optional_answers=model.optional_answers)
        for row, answers in tag_rows(model, rows, fill_rows=True, **self.sizes):
            if row.error is None:
                write(row, answers)
            else:
                # Its line number within the file is not known here.
                stream.write(json.dumps(row.fields | {"error": row.error}) + "\n")
        return stream.getvalue().split("\n")[:-1]

    def _read(self, line: str, model: Any) -> Iterator[Row]:
        pieces = line.split("\n") if self.kind == "conll" else [line]
        if self.kind == "conll" and not any(_is_row(piece) for piece in pieces):
            return
        cut = self.text.cutter(_PLACE, self.kind, model.tokenizer)
        try:
            rows = read_rows(_PLACE, self.kind, iter(enumerate(pieces, 1)), self.token_column)
            yield from map(cut, list(rows))
        except InputError as error:
            yield Row(1, error=str(error))


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("-DOCSTART-")
