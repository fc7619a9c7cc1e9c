"""Tags sentences with a TensorFlow Lite file, one after another.

    python -m uanet_tf.exporting.run_tflite --model=NAME.tflite --input=FILE

The file is one that ``export.py --tflite`` wrote: it contains labels and vocabulary. Input and
output formats are those of ``python -m uanet_tf.tag``.
"""

from absl import flags, logging

from uanet_tf.commands import row_source, runner, sentence_output
from uanet_tf.commands.input_format import FORMATS
from uanet_tf.commands.output_file import STDOUT, open_output
from uanet_tf.data.text_lines import STDIN
from uanet_tf.errors import InputError
from uanet_tf.text.raw_text import LANGUAGE
from uanet_tf.text.tokenizer import Tokenizer

FLAGS = flags.FlagValues()
flags.DEFINE_string("model", None, "The .tflite file (required).", flag_values=FLAGS)
flags.DEFINE_string("input", STDIN, "File to tag; '-': standard input.", flag_values=FLAGS)
flags.DEFINE_alias("data", "input", flag_values=FLAGS)
flags.DEFINE_enum(
    "format",
    None,
    FORMATS,
    "Format of the input. Default: by its extension (.conll, .jsonl, .txt), else by its first "
    "line, which is then reported on stderr.",
    flag_values=FLAGS,
)
flags.DEFINE_boolean(
    "split_sentences",
    True,
    "Text: a line may hold several sentences. --nosplit_sentences: each line is one.",
    flag_values=FLAGS,
)
flags.DEFINE_string(
    "language",
    LANGUAGE,
    "Text: code of its language, for splitting sentences (de, pt, ...).",
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "token_column",
    None,
    "Column of the token in CoNLL data; negative counts from the end. Default: the run's.",
    flag_values=FLAGS,
)
flags.DEFINE_string("output", STDOUT, "File to write; '-': standard output.", flag_values=FLAGS)
flags.DEFINE_enum(
    "output_format",
    None,
    sentence_output.FORMATS,
    "Format of the output. Default: jsonl for jsonl data, else conll.",
    flag_values=FLAGS,
)
flags.DEFINE_boolean(
    "uncertainty_columns",
    False,
    "CoNLL output: also write draft label and uncertainty (nats), before the label.",
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "num_threads", 1, "Threads of the interpreter.", lower_bound=1, flag_values=FLAGS
)


def main() -> int:
    """Runs the command with the flags in ``FLAGS``; returns the exit code."""
    if not FLAGS.model:
        raise InputError("--model is required: a file that export.py --tflite wrote.")
    # TensorFlow, only for good arguments.
    from uanet_tf.exporting.tflite.tflite_tagger import TFLiteTagger
    from uanet_tf.tagging.row_tagging import tag_rows

    tagger = TFLiteTagger(FLAGS.model, num_threads=FLAGS.num_threads)
    column = FLAGS.token_column
    column = tagger.settings["token_column"] if column is None else column
    kind, output_kind, rows = row_source.open_rows(
        FLAGS.input, FLAGS.format, column, FLAGS.output_format, FLAGS.uncertainty_columns
    )
    cut = row_source.cutter(FLAGS.input, kind, Tokenizer(), FLAGS.split_sentences, FLAGS.language)
    errors = 0
    with open_output(FLAGS.output) as stream:
        write = sentence_output.make_writer(
            output_kind,
            stream,
            threshold=tagger.threshold,
            uncertainty_columns=FLAGS.uncertainty_columns,
        )
        # One after another, as on a device: nothing is read ahead.
        for row, answers in tag_rows(tagger, map(cut, rows), alone=True, window=1):
            write(row, answers)
            errors += row_source.tell_error(FLAGS.input, row)
    return runner.PARTLY if errors else 0


def run() -> None:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, verbosity=logging.WARNING)
