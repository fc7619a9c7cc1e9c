r"""Tags files with a trained run on Apache Spark.

    uanet spark_tag --run_dir=R --input=PATH --output=FOLDER [--master=local[4]]
    spark-submit --master=yarn .../uanet_tf/commands/uanet.py \
        spark_tag --run_dir=R --input=PATH --output=FOLDER

PATH is a file, a folder or a pattern of files, on any file system that Spark reads. The output is
a folder with a file for each partition; within a file the input is in its order. Text, JSON lines
and CoNLL give the lines that `uanet tag --output_format=jsonl` writes; Parquet gives Parquet, its
columns and two more (see uanet_tf.spark.tag). What cannot be tagged has "error" instead of an
answer. The model is sent to each executor once. More in docs/scale.md.
"""

from absl import flags, logging

from uanet_tf.commands import input_flags, run_settings, runner
from uanet_tf.commands.config_flags import options_from_flags
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.registry import REFINED_DECODERS

PARQUET = "parquet"
FORMATS = ("text", "jsonl", "conll", PARQUET)
_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "text", ".text": "text"}

FLAGS = flags.FlagValues()
run_settings.define_run_flags(FLAGS, "tag")
flags.adopt_module_key_flags(run_settings, FLAGS)
flags.DEFINE_string("input", None, "What to tag (required).", flag_values=FLAGS)
flags.DEFINE_string("output", None, "Folder to write, a new one (required).", flag_values=FLAGS)
flags.DEFINE_enum(
    "format",
    None,
    FORMATS,
    "Format of the input. Default: by its extension (.txt, .jsonl, .conll, .parquet).",
    flag_values=FLAGS,
)
flags.DEFINE_string(
    "text_column",
    "text",
    "Parquet: the column of texts, each one sentence, or of lists of words.",
    flag_values=FLAGS,
)
flags.DEFINE_string(
    "id_column",
    None,
    "Parquet: the only column of the input that the output repeats. Default: all.",
    flag_values=FLAGS,
)
input_flags.define_text_flags(FLAGS)
flags.adopt_module_key_flags(input_flags, FLAGS)
flags.DEFINE_string(
    "master",
    None,
    "URL of the cluster: local[4], spark://host:7077, yarn, ... Default: spark-submit's, "
    "else all cores of this machine.",
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "partitions",
    None,
    "Least number of partitions of the input. Default: as many as there are cores.",
    lower_bound=1,
    flag_values=FLAGS,
)
flags.DEFINE_boolean(
    "shared",
    False,
    "Every executor can read --run_dir: do not send the model.",
    flag_values=FLAGS,
)


def main() -> None:
    """Runs the command with the flags in ``FLAGS``."""
    config = run_settings.check_run_flags(FLAGS)
    for name in ("input", "output"):
        if not FLAGS[name].value:
            raise InputError(f"--{name} is required.")
    kind = FLAGS.format or _guess_format(FLAGS.input)
    if kind == "conll" and _reads_documents(config):
        raise InputError(
            "This run reads documents (--context, --refiner_context), which Spark would cut: tag "
            "CoNLL files with uanet tag, or name --format=jsonl, whose lines are documents."
        )
    # Spark, only for good arguments.
    from uanet_tf.commands.spark_lines import TagLines
    from uanet_tf.spark import files, session, tag

    column = config.data.token_column if FLAGS.token_column is None else FLAGS.token_column
    spark = session.make_session(FLAGS.master, **files.settings(FLAGS.partitions))
    sizes = {"batch_size": FLAGS.batch_size, "batch_tokens": FLAGS.batch_tokens}
    options = {"mixed_bfloat16": FLAGS.mixed_bfloat16, **options_from_flags(FLAGS, "tag")}
    with files.input_errors():
        if kind == PARQUET:
            table = spark.read.parquet(FLAGS.input)
            kept = [FLAGS.id_column] if FLAGS.id_column else table.columns
            tagged = tag(
                table,
                FLAGS.run_dir,
                column=FLAGS.text_column,
                shared=FLAGS.shared,
                **sizes,
                **options,
            )
            tagged.select(*kept, "tagged", "error").write.parquet(FLAGS.output)
        else:
            lines = files.read_lines(spark, FLAGS.input, kind)
            work = TagLines(kind, column, FLAGS.split_sentences, FLAGS.language, **sizes)
            tagged = files.map_lines(lines, work, FLAGS.run_dir, options, shared=FLAGS.shared)
            tagged.write.text(FLAGS.output)


def _reads_documents(config: Config) -> bool:
    """Whether a run reads the sentences of a document together; its refiner, if it has one."""
    refined = config.decoder.decoder in REFINED_DECODERS
    return config.data.context == "document" or (
        refined and config.decoder.refiner_context == "document"
    )


def _guess_format(path: str) -> str:
    name = path.rstrip("/").lower().removesuffix(".gz")
    for ending, kind in {**_ENDINGS, ".parquet": PARQUET, ".conll": "conll"}.items():
        if name.endswith(ending):
            return kind
    raise InputError(f"--format is required: the name {path} does not tell it.")


def run() -> None:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, verbosity=logging.WARNING)
