"""Exports a run for TF Serving.

    uanet export --run_dir=R --export_dir=E [--name=uanet]

Writes E/NAME/N, a SavedModel that takes tokens, and E/NAME_text/N, one that takes raw text; with
--tflite, instead of these, E/NAME.tflite for TensorFlow Lite. See docs/serving.md. Output appears
complete or not at all, and only after its answers have been compared with the run's model.
Exit code 2: bad input, explained in one sentence on stderr.
"""

import pathlib
from typing import NoReturn

from absl import flags, logging

from uanet_tf.commands import runner
from uanet_tf.commands.config_flags import define_option_flags, options_from_flags
from uanet_tf.errors import InputError

FLAGS = flags.FlagValues()

flags.DEFINE_string(
    "run_dir",
    None,
    "Directory of a trained run, or the name of a model that comes with the package (required).",
    flag_values=FLAGS,
)
flags.DEFINE_string(
    "export_dir", None, "Directory of the models' folders (required).", flag_values=FLAGS
)
flags.DEFINE_string(
    "name", "uanet", "Name of the model; that of raw text is NAME_text.", flag_values=FLAGS
)
flags.DEFINE_integer(
    "version",
    None,
    "Number of the version, from 1 on. Default: the next free one.",
    flag_values=FLAGS,
)
define_option_flags(FLAGS, "export")
flags.DEFINE_boolean("text", True, "Also export the model that takes raw text.", flag_values=FLAGS)
flags.DEFINE_boolean(
    "tflite",
    False,
    "Write EXPORT_DIR/NAME.tflite, for TensorFlow Lite, instead of SavedModels.",
    flag_values=FLAGS,
)
flags.DEFINE_boolean(
    "quantize",
    False,
    "With --tflite: also write NAME_float16.tflite, half as large, and NAME_dynamic.tflite, with "
    "8-bit weights. The share of labels that equal the run's model's is printed.",
    flag_values=FLAGS,
)


def main() -> None:
    """Exports with the flags' settings."""
    for name in ("run_dir", "export_dir"):
        if not FLAGS[name].value:
            raise InputError(f"--{name} is required: {_DIRECTORIES[name]}.")
    if FLAGS.tflite:
        _export_tflite()
        return
    if FLAGS.quantize:
        raise InputError("--quantize goes with --tflite.")
    from uanet_tf.exporting.saved_model import export_run  # TensorFlow, only for good arguments

    exported = export_run(
        FLAGS.run_dir,
        FLAGS.export_dir,
        name=FLAGS.name,
        version=FLAGS.version,
        text=FLAGS.text,
        **options_from_flags(FLAGS, "export"),
    )
    for path in (exported.path, exported.text_path):
        if path is not None:
            print(f"{path}: {_megabytes(path):.1f} MB")


def _export_tflite() -> None:
    if FLAGS.version is not None:
        raise InputError("--version goes with SavedModels: a .tflite file has none.")
    from uanet_tf.exporting.tflite.files import export_tflite

    written = export_tflite(
        FLAGS.run_dir,
        FLAGS.export_dir,
        name=FLAGS.name,
        quantize=FLAGS.quantize,
        **options_from_flags(FLAGS, "export"),
    )
    for file in written:
        size = file.path.stat().st_size / 1e6
        print(f"{file.path}: {size:.1f} MB, {file.precision}, {file.agreement}")


_DIRECTORIES = {"run_dir": "the directory of a trained run", "export_dir": "where to export to"}


def _megabytes(path: pathlib.Path) -> float:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6


def run() -> NoReturn:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, verbosity=logging.WARNING)
