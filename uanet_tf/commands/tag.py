"""Tags sentences with a trained run, or with a TensorFlow Lite file.

    uanet tag --run_dir=R --input=FILE --output=FILE
    uanet tag --model=NAME.tflite --input=FILE --output=FILE

Reads CoNLL, JSON lines ({"text": "..."} or {"tokens": [...]}), plain text (one sentence or
paragraph per line; tokens: words between blanks) and writes one answer for each row, in the
order of the input, in constant memory; at once when the input pauses, unless sentences of
columns are read with their document, which may go on. A line of JSON that cannot be tagged
gets an "error" as its answer, and the exit code is 1 at the end.

Output formats:
  conll   the input's columns and the label as last column (for conlleval)
  jsonl   the input's keys and text, tokens, starts, ends (characters), labels,
          draft_labels, refined, uncertainty (nats), confidence, entities (text,
          type, start, end in characters, token_start, token_end, confidence,
          uncertainty); unless the row is one sentence, sentences: the tokens of
          each, [[first, after the last], ...]; of a run with a target precision
          also accepted, and what --return_... flags ask for, of tokens and, where
          they have it, of entities
  pretty  for the terminal: draft label, uncertainty, final label of each token
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from absl import flags, logging

from uanet_lite.answers import IN_TEXT, answers
from uanet_lite.atomic_file import STDOUT, open_output
from uanet_lite.rows import Row
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_lite.text_lines import GZIP_MAGIC
from uanet_tf.commands import (
    input_flags,
    row_source,
    run_settings,
    runner,
    sentence_output,
    shift_watch,
    tflite_model,
)
from uanet_tf.commands.bursts import bursts
from uanet_tf.commands.output_file import check_other_file
from uanet_tf.errors import InputError
from uanet_tf.row_multiple import ROW_MULTIPLE
from uanet_tf.tagging import streams
from uanet_tf.tagging.streams import tag_rows

FLAGS = flags.FlagValues()
run_settings.define_run_flags(FLAGS, "tag")
tflite_model.define_model_flags(FLAGS)
flags.adopt_module_key_flags(run_settings, FLAGS)
flags.adopt_module_key_flags(tflite_model, FLAGS)
input_flags.define_input_flags(FLAGS)
flags.adopt_module_key_flags(input_flags, FLAGS)
shift_watch.define_monitor_flag(FLAGS)
flags.adopt_module_key_flags(shift_watch, FLAGS)
flags.DEFINE_string("output", STDOUT, "File to write; '-': standard output.", flag_values=FLAGS)
flags.DEFINE_enum(
    "output_format",
    None,
    sentence_output.FORMATS,
    "Format of the output. Default: jsonl for jsonl input, else conll.",
    flag_values=FLAGS,
)
flags.DEFINE_boolean(
    "uncertainty_columns",
    False,
    "CoNLL output: also write draft label and uncertainty (nats), before the label; of a run with "
    "a target precision also 1 where the label is accepted, else 0.",
    flag_values=FLAGS,
)
flags.DEFINE_boolean(
    "progress",
    None,
    "Show a progress bar on stderr. Default: if stderr is a terminal and the output is not.",
    flag_values=FLAGS,
)


def main() -> int:
    """Runs the command with the flags in ``FLAGS``; returns the exit code."""
    tflite_model.choose_shipped(FLAGS)
    check_other_file(FLAGS.output, [FLAGS.model] if FLAGS.model else [], FLAGS.run_dir)
    if FLAGS.model is not None:
        model = tflite_model.load_tflite_model(FLAGS, "tag")
        kind, output_kind, rows = _open_rows(model.settings["token_column"])
    else:
        if FLAGS.num_threads is not None:
            raise InputError(
                "--num_threads goes with --model=NAME.tflite, a TensorFlow Lite file. "
                f"Received: {FLAGS.num_threads}"
            )
        config = run_settings.check_run_flags(FLAGS)
        kind, output_kind, rows = _open_rows(config.data.token_column)
        model = run_settings.load_run_model(FLAGS, "tag")
        from uanet_tf.ops.devices import gpu_text  # TensorFlow is loaded by now

        if said := gpu_text():
            print(f"tagging on {said}", file=sys.stderr)
        # No output format shows refined labels of certain tokens, so they are not computed.
        if model.gate is not None:
            model.refine_all = False
    cut = row_source.cutter(
        FLAGS.input, kind, model.tokenizer, FLAGS.split_sentences, FLAGS.language
    )
    watch = shift_watch.ShiftWatch(_run_dir(), model) if FLAGS.monitor else None
    errors = 0
    with open_output(FLAGS.output) as stream, _progress(FLAGS.input) as advance:
        write = sentence_output.make_writer(
            output_kind,
            stream,
            threshold=model.threshold,
            uncertainty_columns=FLAGS.uncertainty_columns,
            optional_answers=model.optional_answers,
        )
        for part in _parts(map(cut, rows), model, kind):
            for row, tagged in _tag(model, part):
                write(row, tagged)
                if watch:
                    watch.add(tagged)
                errors += row_source.tell_error(FLAGS.input, row)
                advance(row.line)
            stream.flush()
    if watch:
        watch.tell_end()
    return runner.PARTLY if errors else 0


def _run_dir() -> str | None:
    """The run, unless the model is a TensorFlow Lite file."""
    return None if FLAGS.model is not None else FLAGS.run_dir


def _open_rows(column: int) -> tuple[str, str, Iterator[Row]]:
    """Formats of input and output, and the rows; ``column`` is the token's, unless a flag says."""
    if FLAGS.token_column is not None:
        column = FLAGS.token_column
    kind, output_kind, rows = row_source.open_rows(
        FLAGS.input, FLAGS.format, column, FLAGS.output_format, FLAGS.uncertainty_columns
    )
    for answer in answers(IN_TEXT, optional=True):
        if answer.needs in FLAGS and FLAGS[answer.needs].value and output_kind != "jsonl":
            raise InputError(
                f"--{answer.needs} goes with --output_format=jsonl. Received: {output_kind}"
            )
    return kind, output_kind, rows


def _parts(rows: Iterator[Row], model: Any, kind: str) -> Iterator[Iterable[Row]]:
    """The rows in one list; of input that may pause, what has arrived without a pause."""
    # The sentences of a document are read together, however long they take to come. A line of JSON
    # or text is a document.
    is_alone = kind != "conll" or model.context == model.refiner_context == "sentence"
    if row_source.may_pause(FLAGS.input) and is_alone:
        yield from bursts(rows, streams.WINDOW_SENTENCES)
    else:
        yield rows


def _tag(model: Any, rows: Iterable[Row]) -> Iterator[tuple[Row, list[TaggedSentence]]]:
    """Pairs each row with its answers; holds those in between only."""
    # Somebody waits for the answers to a few lines that have come by themselves.
    is_awaited = isinstance(rows, list) and len(rows) < ROW_MULTIPLE
    return tag_rows(
        model,
        rows,
        batch_size=FLAGS.batch_size,
        batch_tokens=FLAGS.batch_tokens,
        # The same bytes, however the input is cut into parts. TensorFlow Lite reads single rows.
        fill_rows=FLAGS.model is None and not is_awaited,
    )


@contextlib.contextmanager
def _progress(path: str) -> Iterator[Callable[[int], object]]:
    """A progress bar over the lines of the input; gives the function that takes a line number."""
    shown = FLAGS.progress
    if shown is None:
        shown = sys.stderr.isatty() and not (FLAGS.output == STDOUT and sys.stdout.isatty())
    if not shown:
        yield lambda line: None
        return
    import tqdm

    with tqdm.tqdm(total=_count_lines(path), unit=" lines", file=sys.stderr) as bar:
        yield lambda line: bar.update(line - bar.n)
        if bar.total is not None:
            bar.update(bar.total - bar.n)


def _count_lines(path: str) -> int | None:
    """Lines of a plain file; None where counting them would consume or unpack it."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as stream:
        if stream.peek(2)[:2] == GZIP_MAGIC:
            return None
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))


def run() -> None:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, verbosity=logging.WARNING)
