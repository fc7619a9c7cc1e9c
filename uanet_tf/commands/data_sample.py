"""Writes the sample corpus: invented newswire with names, as train.conll, dev.conll and test.conll.

    uanet data sample DIRECTORY

The same arguments give the same files everywhere. A file that holds something else is not touched.
"""

from typing import NoReturn

from absl import flags

from uanet_tf.commands import runner
from uanet_tf.errors import InputError
from uanet_tf.resources.sample_corpus import write_sample_corpus

FLAGS = flags.FlagValues()
flags.DEFINE_integer("seed", 1, "Another seed, other names and sentences.", flag_values=FLAGS)
for _part, _count in (("train", 1_500), ("dev", 300), ("test", 300)):
    flags.DEFINE_integer(
        f"{_part}_sentences", _count, f"Sentences of {_part}.conll.", flag_values=FLAGS
    )
flags.DEFINE_boolean("overwrite", False, "Replace other files of these names.", flag_values=FLAGS)


def main(arguments: list[str]) -> None:
    """Runs the command with a directory and the flags in ``FLAGS``."""
    if len(arguments) != 1:
        raise InputError(
            f"Name one directory: uanet data sample DIRECTORY. Received: {' '.join(arguments)!r}"
        )
    paths = write_sample_corpus(
        arguments[0],
        seed=FLAGS.seed,
        train_sentences=FLAGS.train_sentences,
        dev_sentences=FLAGS.dev_sentences,
        test_sentences=FLAGS.test_sentences,
        overwrite=FLAGS.overwrite,
    )
    for path in paths.values():
        print(path)


def run() -> NoReturn:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, arguments=True)
