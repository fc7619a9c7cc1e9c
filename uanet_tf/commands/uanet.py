"""uanet: sequence labelling that knows when it is unsure."""

import difflib
import importlib
import platform
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from absl.logging import ERROR, INFO, WARNING

from uanet_tf.commands import runner
from uanet_tf.registry import import_parts

_HELP = ("--help", "-h", "--helpfull", "help")


class Command(NamedTuple):
    """The function of its name in MODULE_command.py, and what it does in one line.

    ``verbosity`` is that of the most detailed log messages that are shown.
    """

    module: str
    does: str
    verbosity: int = WARNING


class Group(NamedTuple):
    """Commands behind a name of their own: the first line of its help, and what they do."""

    title: str
    does: str
    commands: Mapping[str, "Command | Group"]


DATA = Group(
    "uanet data: fetch, convert or make corpora.",
    "fetch, convert or make corpora",
    {
        "get": Command("data", "fetch a public corpus, or word vectors"),
        "convert": Command("convert", "convert between columns and the formats of others"),
        "sample": Command("data", "write the sample corpus, synthetic newswire with names"),
    },
)
COMMANDS: dict[str, Command | Group] = {
    "demo": Command("demo", "train on a sample corpus, score and tag, in some minutes", INFO),
    "data": DATA,
    "check": Command("check", "check labelled files before training on them"),
    "recipes": Command("train", "list the settings to train with, and when to use which"),
    "train": Command("train", "train a tagger", INFO),
    "evaluate": Command("evaluate", "score a trained tagger on a labelled file"),
    "report": Command("report", "write an HTML report of a tagger on a labelled file"),
    "calibrate": Command(
        "calibrate", "recalibrate a tagger's confidence on a labelled file", ERROR
    ),
    "tag": Command("tag", "tag sentences with a trained tagger"),
    "rank": Command("rank", "find the sentences that are most worth annotating"),
    "spark_tag": Command("spark_tag", "tag large files with Apache Spark"),
    "find_label_errors": Command(
        "find_label_errors", "find labels of a file that are probably wrong"
    ),
    "compare": Command("compare", "train and score several systems, with several seeds", INFO),
    "export": Command("export", "write a tagger for TensorFlow Serving or TensorFlow Lite"),
    "serve": Command("serve", "serve exported taggers on this machine, for development", INFO),
    "client": Command("client", "tag sentences on a server"),
}


def run(command: str | None = None) -> NoReturn:
    """Runs a command with the program's arguments, and exits; None: the first argument names it."""
    arguments = sys.argv[1:]
    if command is not None:
        _run(sys.argv[0], command, COMMANDS[command], arguments)
    if arguments == ["--version"]:
        runner.say(version())
    every = Group(__doc__ or "", "", COMMANDS)
    _choose("uanet", every, arguments, "uanet --version shows the version.")


def _choose(program: str, group: Group, arguments: Sequence[str], last: str = "") -> NoReturn:
    """Runs the command that the first argument names, of the group that the user calls ``program``.

    ``last`` is a further sentence of the group's help.
    """
    if not arguments or arguments[0] in _HELP:
        runner.say(_help_text(program, group, last))
    name, *rest = arguments
    if name not in group.commands:
        near = difflib.get_close_matches(name, group.commands, 1)
        hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(group.commands)}."
        print(f"{program}: there is no command {name!r}. {hint}", file=sys.stderr)
        sys.exit(runner.BAD_INPUT)
    _run(f"{program} {name}", name, group.commands[name], rest)


def _run(program: str, name: str, command: Command | Group, arguments: Sequence[str]) -> NoReturn:
    if isinstance(command, Group):
        _choose(program, command, arguments)

    def work() -> int | None:
        kept = _with_parts(arguments)
        module = importlib.import_module(f"uanet_tf.commands.{command.module}_command")
        runner.run(getattr(module, name), argv=[program, *kept], verbosity=command.verbosity)

    sys.exit(runner.code_of(work))


def _with_parts(arguments: Sequence[str]) -> list[str]:
    """The arguments without --import=MODULE; imports it before anything asks which parts exist."""
    kept: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        name, equals, module = argument.partition("=")
        if name not in ("--import", "-import"):
            kept.append(argument)
            if argument == "--":  # what follows is another command's
                kept += rest
        else:
            import_parts(module if equals else next(rest, ""))
    return kept


def _help_text(program: str, group: Group, last: str) -> str:
    width = max(map(len, group.commands))
    lines = [f"  {name:{width}}  {command.does}" for name, command in group.commands.items()]
    own = f"{program} COMMAND --import=MODULE loads parts of your own (docs/extending.md)."
    hint = f"{program} COMMAND --help explains a command. {last}\n{own}"
    return "\n".join([group.title, "", *lines, "", hint])


def version() -> str:
    """One line: the package's version and those of what its answers depend on."""
    import uanet_tf
    from uanet_tf.tensorflow_stack import installed

    versions = {name: installed(name.lower()) for name in ("TensorFlow", "NumPy")}
    packages = ", ".join(
        f"{name} {version}" if version else f"no {name}" for name, version in versions.items()
    )
    return f"uanet_tf {uanet_tf.__version__} ({packages}, Python {platform.python_version()})"


if __name__ == "__main__":  # for spark-submit, and processes that a command starts
    run()
