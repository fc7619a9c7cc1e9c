"""A group of named commands; the first argument chooses one."""

import difflib
import importlib
import sys
from collections.abc import Mapping
from typing import NamedTuple, NoReturn

from uanet_tf.commands.runner import BAD_INPUT, code_of, say

_HELP = ("--help", "-h", "--helpfull", "help")


class Command(NamedTuple):
    """A command: the module of this folder whose ``run()`` it is, and what it does in one line."""

    module: str
    does: str


def run_group(program: str, what: str, commands: Mapping[str, Command], last: str = "") -> NoReturn:
    """Runs the command that the program's first argument names, and exits.

    Args:
      program: how the user calls the group, such as "uanet data".
      what: the first line of its help.
      commands: by name, in the order of its help.
      last: a further sentence of its help.
    """
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in _HELP:
        say(_help_text(program, what, commands, last))
    name = arguments[0]
    if name not in commands:
        near = difflib.get_close_matches(name, commands, 1)
        hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(commands)}."
        print(f"{program}: there is no command {name!r}. {hint}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    sys.argv = [f"{program} {name}", *arguments[1:]]
    module = f"uanet_tf.commands.{commands[name].module}"
    sys.exit(code_of(lambda: importlib.import_module(module).run()))


def _help_text(program: str, what: str, commands: Mapping[str, Command], last: str) -> str:
    width = max(map(len, commands))
    lines = [f"  {name:{width}}  {command.does}" for name, command in commands.items()]
    hint = f"{program} COMMAND --help explains a command. {last}".rstrip()
    return "\n".join([what, "", *lines, "", hint])
