r"""Finds labels of a file that are probably wrong.

    uanet find_label_errors --recipe=fast --train_path=A --run_dir=R \
        --html=doubts.html
    uanet find_label_errors --recipe=fast --epochs=5 --train_path=A --folds=4 \
        --run_dir=R --output=F

Parts the file into folds, trains a tagger without each, and compares the fold's labels with what
that tagger says: the places where it is surest of another label come first. Takes the flags of
train. The runs are R/foldN: those that are complete are not trained again, one that was stopped
continues.
"""

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

from absl import flags, logging

from uanet_lite.atomic_file import open_output
from uanet_lite.columns_file import read_corpus
from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import detect_scheme
from uanet_lite.text_lines import display_name
from uanet_tf.commands import runner
from uanet_tf.commands.config_flags import config_from_flags, define_config_flags, given_settings
from uanet_tf.commands.doubts_table import doubts_table
from uanet_tf.commands.train import with_recipes
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.evaluation.doubts_html import doubts_page
from uanet_tf.evaluation.label_errors import KINDS, LabelDoubt, find_doubts, surest_first

FLAGS = flags.FlagValues()
flags.DEFINE_string("run_dir", None, "Directory of the folds' runs (required).", flag_values=FLAGS)
flags.DEFINE_string(
    "recipe",
    None,
    "Settings that come with the package, by name, see uanet recipes; several are separated by "
    "commas, and a later one wins.",
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "folds", 4, "Taggers to train.", lower_bound=2, upper_bound=100, flag_values=FLAGS
)
flags.DEFINE_integer(
    "top", 20, "Most places to show in the terminal.", lower_bound=0, flag_values=FLAGS
)
flags.DEFINE_list(
    "kinds",
    list(KINDS),
    f"Kinds of errors to show and write, of {', '.join(KINDS)}. Missed and spurious entities stand "
    "behind others of the same odds, since most are the tagger's own errors: name one to have it "
    "by itself.",
    flag_values=FLAGS,
)
flags.register_validator(
    "kinds",
    lambda kinds: bool(kinds) and set(kinds) <= set(KINDS),
    f"must be of {', '.join(KINDS)}",
    flag_values=FLAGS,
)
flags.DEFINE_string("output", None, "JSON lines to write, one for each place.", flag_values=FLAGS)
flags.DEFINE_string("html", None, "Page to write, to be looked at.", flag_values=FLAGS)
define_config_flags(FLAGS)

_OURS = ("train_path", "dev_path", "token_column", "label_column")  # not passed on


def main() -> None:
    """Runs the command with the flags in ``FLAGS``."""
    config = config_from_flags(FLAGS)
    for name in ("run_dir", "train_path"):
        if not FLAGS[name].value:
            raise InputError(f"--{name} is required.")
    if FLAGS.test_path:
        raise InputError(f"--test_path is not read. Received: {FLAGS.test_path}")
    if FLAGS.output and FLAGS.html and _are_one_file(FLAGS.output, FLAGS.html):
        raise InputError(f"--output and --html must be different files. Received: {FLAGS.html}")
    sentences = _read(FLAGS.train_path)
    dev = _read(FLAGS.dev_path) if FLAGS.dev_path else []
    name = display_name(FLAGS.train_path)
    with contextlib.ExitStack() as stack:
        # Before the work: it may not be possible.
        lines, page = (
            stack.enter_context(open_output(path)) if path else None
            for path in (FLAGS.output, FLAGS.html)
        )
        doubts = _doubts(config, sentences, dev)
        found = surest_first(doubt for doubt in doubts if doubt.kind in FLAGS.kinds)
        if lines is not None:
            for rank, doubt in enumerate(found, 1):
                record = {"rank": rank, **doubt.to_dict()}
                lines.write(json.dumps(record, ensure_ascii=False) + "\n")
        if page is not None:
            page.write(doubts_page(found, name))
    sys.stdout.write(doubts_table(found, name, FLAGS.top))


def _are_one_file(path: str, other: str) -> bool:
    """Whether what is written to one replaces the other; devices take both."""
    target = os.path.realpath(path)
    device = os.path.exists(target) and not os.path.isfile(target)
    return target == os.path.realpath(other) and not device


def _read(path: str) -> list[Sentence]:
    return read_corpus(path, token_column=FLAGS.token_column, label_column=FLAGS.label_column)


def _doubts(
    config: Config, sentences: Sequence[Sentence], dev: Sequence[Sentence]
) -> Iterator[LabelDoubt]:
    """The places of all folds, each judged by the tagger that has not seen it."""
    import uanet_tf  # TensorFlow, not for --help
    from uanet_tf.commands.fold_runs import train_folds

    typed = given_settings(sys.argv) - set(_OURS)
    given = [f"--{name}={FLAGS[name].value}" for name in sorted(typed)]
    scheme = None if config.data.task == "pos" else detect_scheme(s.labels for s in sentences)
    runs = train_folds(FLAGS.run_dir, config, sentences, folds=FLAGS.folds, dev=dev, given=given)
    for fold, (run_dir, unseen) in enumerate(runs, 1):
        model = uanet_tf.load_model(str(run_dir), return_probabilities=True)
        yield from find_doubts(model, [sentences[k] for k in unseen], scheme, fold)


def run() -> NoReturn:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, verbosity=logging.WARNING, prepare=with_recipes)
