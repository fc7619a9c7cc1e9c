"""Fetches a public corpus, or word vectors, from its home.

    uanet data get           # lists them, with licences
    uanet data get wnut17    # writes train, dev and test.conll into data/wnut17
    uanet data get glove_100d

A fetch that was cut off continues; what is there is not fetched again. SOURCES.json in the folder
has the addresses of the files, their licence and checksums.
"""

import difflib
import pathlib
import sys
from typing import NoReturn

from absl import flags

from uanet_tf.commands import runner
from uanet_tf.errors import InputError
from uanet_tf.resources.public_corpora import ASK_FOR, PUBLIC_DATA, fetch

FLAGS = flags.FlagValues()
flags.DEFINE_string("folder", "data", "Where to: FOLDER/NAME/.", flag_values=FLAGS)
flags.DEFINE_boolean(
    "progress",
    None,
    "Show a progress bar on stderr. Default: if stderr is a terminal.",
    flag_values=FLAGS,
)


def main(names: list[str]) -> None:
    """Fetches what is named; without a name, lists what there is."""
    if not names:
        _list()
        return
    for name in names:
        if name in ASK_FOR:
            raise InputError(ASK_FOR[name])
        if name not in PUBLIC_DATA:
            near = difflib.get_close_matches(name, [*PUBLIC_DATA, *ASK_FOR], 1)
            hint = f"did you mean {near[0]}?" if near else "uanet data get lists them."
            raise InputError(f"There is no data named {name!r}: {hint}")
    for name in names:
        data = PUBLIC_DATA[name]
        print(f"{name}: {data.title}. Licence: {data.licence}. {data.home}", flush=True)
        for path in fetch(data, pathlib.Path(FLAGS.folder, name), _progress()):
            print(path)


def _list() -> None:
    width = max(map(len, [*PUBLIC_DATA, *ASK_FOR]))
    for name, data in PUBLIC_DATA.items():
        print(f"  {name:{width}}  {data.title}; {data.licence}")
    for name in ASK_FOR:
        print(f"  {name:{width}}  says how to get it")


def _progress():
    """The function that shows how far a file is."""
    shown = sys.stderr.isatty() if FLAGS.progress is None else FLAGS.progress
    if not shown:
        return lambda done, total: None
    import tqdm

    bar = tqdm.tqdm(unit="B", unit_scale=True, file=sys.stderr)

    def advance(done: int, total: int | None) -> None:
        bar.total = total
        if done < bar.n:
            bar.reset(total)
        bar.update(done - bar.n)

    return advance


def run() -> NoReturn:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, arguments=True)
