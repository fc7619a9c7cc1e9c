"""Tags sentences with a TensorFlow Lite file, one after another.

    python -m uanet_tf.exporting.run_tflite --model=NAME.tflite --data=FILE

The file is one that ``export.py --tflite`` wrote: it brings its labels and vocabulary. Input and
output formats are those of ``python -m uanet_tf.tag``.
"""

import itertools

from absl import flags, logging

from uanet_tf.commands import runner, sentence_input, sentence_output
from uanet_tf.commands.output_file import STDOUT, open_output
from uanet_tf.data.text_lines import STDIN
from uanet_tf.errors import InputError

FLAGS = flags.FlagValues()
flags.DEFINE_string("model", None, "The .tflite file (required).", flag_values=FLAGS)
flags.DEFINE_string("data", STDIN, "File to tag; '-': standard input.", flag_values=FLAGS)
flags.DEFINE_enum(
    "format",
    None,
    sentence_input.FORMATS,
    "Format of the data. Default: by its extension (.jsonl, .txt), else conll.",
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


def main() -> None:
    """Runs the command with the flags in ``FLAGS``."""
    if not FLAGS.model:
        raise InputError("--model is required: a file that export.py --tflite wrote.")
    path, kind = FLAGS.data, FLAGS.format or sentence_input.guess_format(FLAGS.data)
    output_kind = FLAGS.output_format or ("jsonl" if kind == "jsonl" else "conll")
    if FLAGS.uncertainty_columns and output_kind != "conll":
        raise InputError(
            f"--uncertainty_columns goes with --output_format=conll. Received: {output_kind}"
        )
    # TensorFlow, only for good arguments.
    from uanet_tf.exporting.tflite.tflite_tagger import TFLiteTagger
    from uanet_tf.tagging import sentence_stream

    tagger = TFLiteTagger(FLAGS.model, num_threads=FLAGS.num_threads)
    column = FLAGS.token_column
    column = tagger.settings["token_column"] if column is None else column
    sentences = sentence_input.read_input(path, kind, column)
    first = next(sentences)  # a bad file leaves no output
    with open_output(FLAGS.output) as stream:
        write = sentence_output.make_writer(
            output_kind,
            stream,
            threshold=tagger.threshold,
            uncertainty_columns=FLAGS.uncertainty_columns,
        )
        for sentence in itertools.chain([first], sentences):
            (tagged,) = sentence_stream.tag(tagger, [sentence.tokens])
            write(sentence, tagged)


def run() -> None:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, verbosity=logging.WARNING)
