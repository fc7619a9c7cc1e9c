"""Lists the recipes: settings to train with, and when to use which.

    uanet recipes
    uanet recipes fast      # shows one, with the reasons for its values

A recipe is a flagfile of the package: uanet train --recipe=NAME. In a clone they are in configs/.
"""

import shutil
import textwrap
from collections.abc import Sequence
from typing import NoReturn

from absl import flags

from uanet_tf.commands import runner
from uanet_tf.config import recipe_names, recipe_path, recipe_title
from uanet_tf.errors import InputError

FLAGS = flags.FlagValues()

_LEAST_COLUMNS = 60
_NO_TERMINAL = (10_000, 24)

# (recipe, when to use it); the figures are of docs/lab/results.md, on two cores without a GPU.
ADVICE = (
    ("quickstart", "A first look, or easy texts: a minute or two."),
    (
        "fast",
        "The usual choice, any language, no vectors needed: ten epochs, small files read again.",
    ),
    (
        "vectors",
        "With --word_vectors=FILE (uanet data get glove_100d): three points better on tweets.",
    ),
    ("states", "As fast, with a refiner that sees more: for parts of speech."),
    (
        "bert_uanet",
        "Best scores, also with 1,000 sentences: needs --bert_preset=FOLDER, a BERT of your "
        "language; many times slower.",
    ),
    (
        "uanet",
        "The paper's settings: large corpora, with --word_vectors=FILE (GloVe or fastText), a "
        "hundred epochs.",
    ),
    (
        "bilstm_crf",
        "A baseline without samples, quickest to tag with; --recipe=bilstm_crf,ten_epochs trains "
        "it in ten epochs.",
    ),
)


def main(arguments: list[str]) -> None:
    """Prints the list, or the recipe that ``arguments`` name."""
    if len(arguments) > 1:
        raise InputError(f"Name one recipe, or none. Received: {' '.join(arguments)}")
    if arguments:
        print(recipe_path(arguments[0]).read_text(encoding="utf-8"), end="")
        return
    print("Which to use (uanet train --recipe=NAME ...):\n")
    _print_rows(ADVICE)
    print("\nAll, by name; uanet_fast may be called fast, and so on:\n")
    _print_rows([(name, recipe_title(name)) for name in recipe_names()])
    print("\nuanet recipes NAME shows one. docs/lab/results.md compares them.")


def _print_rows(rows: Sequence[tuple[str, str]]) -> None:
    """Two columns, the second wrapped to the terminal's width; elsewhere one line each."""
    width = max(len(name) for name, _ in rows)
    columns = max(_LEAST_COLUMNS, shutil.get_terminal_size(fallback=_NO_TERMINAL).columns)
    for name, text in rows:
        indent = " " * (width + 4)
        lines = textwrap.fill(
            text, columns, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
        )
        print(f"  {name:{width}}  {lines[len(indent) :]}")


def run() -> NoReturn:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, arguments=True)
