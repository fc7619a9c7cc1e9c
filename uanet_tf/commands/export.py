"""Exports a run for TF Serving.

    uanet export --run_dir=R --export_dir=E [--name=uanet]

Writes E/NAME/N, a SavedModel that takes tokens, and E/NAME_text/N, one that takes raw text; with
--tflite, in their place, E/NAME.tflite for TensorFlow Lite. See docs/serving.md. What is written
appears whole or not at all, and only after its answers have been compared with the run's model.
Exit code 2: bad input, said in one sentence on stderr.
"""

import math
import pathlib
from typing import NoReturn

from absl import flags, logging

from uanet_tf.commands import runner
from uanet_tf.errors import InputError
from uanet_tf.settings import MAX_SEED, SAMPLING

FLAGS = flags.FlagValues()

flags.DEFINE_string("run_dir", None, "Directory of a trained run (required).", flag_values=FLAGS)
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
flags.DEFINE_integer(
    "num_samples",
    None,
    "Monte Carlo samples M; 0: one pass without dropout. Default: the run's.",
    lower_bound=0,
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "mc_seed",
    None,
    "Seed of the sampling masks, which are fixed. Default: the run's.",
    lower_bound=0,
    upper_bound=MAX_SEED,
    flag_values=FLAGS,
)
flags.DEFINE_float(
    "threshold",
    None,
    "Gamma, nats: tokens more uncertain than this take the refined label. Default: the run's.",
    flag_values=FLAGS,
)
flags.DEFINE_enum(
    "sampling",
    None,
    SAMPLING,
    "All M samples of each sentence, or as many as its labels need. Default: the run's.",
    flag_values=FLAGS,
)
flags.DEFINE_boolean(
    "refine_all",
    None,
    "Refine every token. --norefine_all is faster: tokens up to Gamma are not refined, and "
    "`refined_labels` follow the draft there; no other answer differs. Default: refine all, but "
    "not with --tflite.",
    flag_values=FLAGS,
)
flags.DEFINE_boolean("text", True, "Also export the model that takes raw text.", flag_values=FLAGS)
flags.DEFINE_boolean(
    "tflite",
    False,
    "Write EXPORT_DIR/NAME.tflite, for TensorFlow Lite, in place of SavedModels.",
    flag_values=FLAGS,
)
flags.DEFINE_boolean(
    "quantize",
    False,
    "With --tflite: also write NAME_float16.tflite, half as large, and NAME_dynamic.tflite, with "
    "8-bit weights. How often their labels are those of the run's model is printed.",
    flag_values=FLAGS,
)


def main() -> None:
    """Exports with the flags' settings."""
    for name in ("run_dir", "export_dir"):
        if not FLAGS[name].value:
            raise InputError(f"--{name} is required: {_DIRECTORIES[name]}.")
    threshold = FLAGS.threshold
    if threshold is not None and not (threshold >= 0 and math.isfinite(threshold)):
        raise InputError(
            f"--threshold must be a finite number of at least 0. Received: {threshold}"
        )
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
        num_samples=FLAGS.num_samples,
        mc_seed=FLAGS.mc_seed,
        threshold=threshold,
        sampling=FLAGS.sampling,
        refine_all=FLAGS.refine_all is not False,
        text=FLAGS.text,
    )
    for path in (exported.path, exported.text_path):
        if path is not None:
            print(f"{path}: {_megabytes(path):.1f} MB")


def _export_tflite() -> None:
    if FLAGS.version is not None:
        raise InputError("--version goes with SavedModels: a .tflite file has none.")
    if FLAGS.sampling == "adaptive":
        raise InputError("--sampling=adaptive goes with SavedModels: --tflite takes all samples.")
    from uanet_tf.exporting.tflite.files import export_tflite

    written = export_tflite(
        FLAGS.run_dir,
        FLAGS.export_dir,
        name=FLAGS.name,
        quantize=FLAGS.quantize,
        num_samples=FLAGS.num_samples,
        mc_seed=FLAGS.mc_seed,
        threshold=FLAGS.threshold,
        refine_all=bool(FLAGS.refine_all),
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
