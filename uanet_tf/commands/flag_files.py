"""Finds the file of ``--flagfile`` that is not text, has a byte order mark, or a wrong flag."""

import pathlib
from collections.abc import Iterator, Sequence

from uanet_tf.errors import InputError

_DIRECTIVES = ("--flagfile", "-flagfile")
_MARK = "\ufeff"


def not_utf8(arguments: Sequence[str]) -> InputError:
    """The message on flagfiles if one is not UTF-8: absl does not tell which.

    Args:
      arguments: of the program, without its name.
    """
    for path in _named(arguments, set()):
        lines = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                byte = line[error.start]
                return InputError(
                    f"--flagfile={path}:{number}: not UTF-8 "
                    f"(byte 0x{byte:02x} at position {error.start + 1})."
                )
    return InputError("A --flagfile is not UTF-8.")  # a pipe, which cannot be read again


def check_marks(arguments: Sequence[str], rest: Sequence[str]) -> None:
    """Raises InputError if the first flag of a flagfile was taken for no flag, for its first mark.

    Args:
      arguments: of the program, without its name.
      rest: those that are no flags.
    """
    if any(argument.startswith(_MARK) for argument in rest):
        for path in _named(arguments, set()):
            if path.read_bytes().startswith(_MARK.encode()):
                raise InputError(
                    f"--flagfile={path}:1: begins with a byte order mark: save it as UTF-8 without."
                )


def place_of(arguments: Sequence[str], message: str) -> str:
    """The flagfile and line, as ``--flagfile=PATH:LINE: ``, of what absl's message is about.

    Args:
      arguments: of the program, without its name.
      message: on an unknown flag, a wrong value or a flagfile that is not there; or on an argument
        that is no flag, at its end.

    Returns:
      "" if it stands on the command line too, or in no file.
    """
    if any(_is_about(argument, message) for argument in arguments):
        return ""
    for path in _named(arguments, set()):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        for number, line in enumerate(lines, 1):
            if _is_about(line.strip(), message):
                return f"--flagfile={path}:{number}: "
    return ""


def _is_about(argument: str, message: str) -> bool:
    if not argument.startswith("-"):
        return bool(argument) and message.endswith(f" {argument}")
    flag = argument.lstrip("-")
    name, _, value = flag.partition("=")
    if f"--{name}" in _DIRECTIVES:
        return f"'{value.strip()}'" in message or f"flag '{name}'" in message
    return f"flag '{name}'" in message or f"--{flag}:" in message or f"--{flag} does" in message


def _named(arguments: Sequence[str], seen: set[pathlib.Path]) -> Iterator[pathlib.Path]:
    """The regular files that are named, and those that they name."""
    for position, argument in enumerate(arguments):
        directive, equals, name = argument.partition("=")
        if directive not in _DIRECTIVES:
            continue
        name = name if equals else next(iter(arguments[position + 1 :]), "")
        path = pathlib.Path(name.strip()).expanduser()
        if path.is_file() and path not in seen:
            seen.add(path)
            yield path
            text = path.read_text(encoding="utf-8", errors="replace")
            yield from _named([line.strip() for line in text.splitlines()], seen)
