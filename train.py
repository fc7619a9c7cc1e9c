"""Trains a tagger: python train.py --flagfile=configs/NAME.flags --train_path=A ... --run_dir=R.

Every setting of uanet_tf.config is a flag. The same command goes on with a run that was
stopped. Exit code 2: bad input, said in one sentence on stderr.
"""

from typing import Any

from absl import flags

from uanet_tf.commands import runner
from uanet_tf.commands.config_flags import config_from_flags, define_config_flags
from uanet_tf.errors import InputError

FLAGS = flags.FLAGS

flags.DEFINE_string("run_dir", None, "Directory of the run: model, metrics, checkpoints, logs.")
define_config_flags(FLAGS)


def main() -> None:
    """Trains with the flags' settings."""
    settings = config_from_flags(FLAGS)
    if not FLAGS.run_dir:
        raise InputError("--run_dir is required: the directory that the run writes to.")
    from uanet_tf.training.fit import fit  # TensorFlow is loaded only for good arguments

    report(fit(settings, FLAGS.run_dir))


def report(metrics: dict[str, Any]) -> None:
    """Prints the final scores."""
    measure = "f1" if metrics["task"] == "ner" else "accuracy"
    for name in ("dev", "test"):
        if name in metrics:
            scores = metrics[name]
            print(
                f"{name}: {measure} {scores[measure]:.2f}, draft {scores[f'draft_{measure}']:.2f}, "
                f"all refined {scores[f'refined_{measure}']:.2f} "
                f"(best epoch {metrics['best_epoch']}, {FLAGS.run_dir})"
            )


if __name__ == "__main__":
    runner.run(main)
