"""Tags sentences with a trained run.

    uanet tag --run_dir=R --input=FILE --output=FILE

Reads CoNLL, JSON lines ({"tokens": [...]} a line) or plain text (a sentence a line) and
writes one answer for each sentence, in the order of the input, in constant memory.

Output formats:
  conll   the input's columns and the label as last column (for conlleval)
  jsonl   the input's keys and labels, draft_labels, refined, uncertainty (nats),
          confidence, entities (token positions, end excluded)
  pretty  for the terminal: draft label, uncertainty and final label of each token
"""

import contextlib
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from absl import flags, logging

from uanet_tf.commands import run_settings, runner, sentence_input, sentence_output
from uanet_tf.commands.output_file import STDOUT, open_output
from uanet_tf.commands.sentence_input import InputSentence
from uanet_tf.data.text_lines import GZIP_MAGIC, STDIN
from uanet_tf.errors import InputError
from uanet_tf.tagging import sentence_stream
from uanet_tf.tagging.document_context import tag_in_context
from uanet_tf.tagging.tagged_sentence import TaggedSentence

FLAGS = flags.FlagValues()
run_settings.define_run_flags(FLAGS, "tag")
flags.adopt_module_key_flags(run_settings, FLAGS)
flags.DEFINE_string("input", STDIN, "File to tag; '-': standard input.", flag_values=FLAGS)
flags.DEFINE_enum(
    "format",
    None,
    sentence_input.FORMATS,
    "Format of the input. Default: by its extension (.jsonl, .txt), else conll.",
    flag_values=FLAGS,
)
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
    "CoNLL output: also write draft label and uncertainty (nats), before the label.",
    flag_values=FLAGS,
)
flags.DEFINE_boolean(
    "progress",
    None,
    "Show a progress bar on stderr. Default: if stderr is a terminal and the output is not.",
    flag_values=FLAGS,
)


def main() -> None:
    """Runs the command with the flags in ``FLAGS``."""
    config = run_settings.check_run_flags(FLAGS)
    path, kind = FLAGS.input, FLAGS.format or sentence_input.guess_format(FLAGS.input)
    output_kind = FLAGS.output_format or ("jsonl" if kind == "jsonl" else "conll")
    if FLAGS.uncertainty_columns and output_kind != "conll":
        raise InputError(
            f"--uncertainty_columns goes with --output_format=conll. Received: {output_kind}"
        )
    column = config.data.token_column if FLAGS.token_column is None else FLAGS.token_column
    sentences = _start(sentence_input.read_input(path, kind, column))
    model = run_settings.load_run_model(FLAGS, "tag")
    # No output format shows what the refiner would say of certain tokens: not asked, not computed.
    if model.gate is not None:
        model.refine_all = False
    with open_output(FLAGS.output) as stream, _progress(path) as advance:
        write = sentence_output.make_writer(
            output_kind,
            stream,
            threshold=model.threshold,
            uncertainty_columns=FLAGS.uncertainty_columns,
        )
        live = path == STDIN and sys.stdin.isatty()
        for source, tagged in _tag(model, sentences, live):
            write(source, tagged)
            if live:
                stream.flush()
            advance(source.line)


def _start(sentences: Iterator[InputSentence]) -> Iterator[InputSentence]:
    """Reads the first sentence now, so that a bad file is told before the model is loaded."""
    return itertools.chain([next(sentences)], sentences)


def _tag(
    model: Any, sentences: Iterable[InputSentence], live: bool
) -> Iterator[tuple[InputSentence, TaggedSentence]]:
    """Pairs each sentence with its answer; holds those in between only.

    Args:
      model: the loaded model.
      sentences: what to tag.
      live: answer each sentence before the next is read, for a person at the keyboard.
    """
    return tag_in_context(
        model,
        sentences,
        alone=live,
        batch_size=FLAGS.batch_size,
        batch_tokens=FLAGS.batch_tokens,
        window=1 if live else sentence_stream.WINDOW_SENTENCES,
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
