"""The entry that all scripts share: flags, help, one sentence for bad input, exit codes.

    0    done, or help was asked for
    1    done, except for some rows of the input, which are named on stderr
    2    bad input, a full disk, a missing package: one sentence on stderr says what and where
    129  stopped by SIGHUP, its state saved (training)
    130  interrupted (Ctrl-C)
    141  the reader of standard output went away (``| head``)
    143  stopped by SIGTERM, its state saved (training)

Anything else that is raised is a fault of the program and shows its traceback.
"""

import atexit
import gc
import logging as python_logging
import os
import pathlib
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from absl import flags, logging

from uanet_lite.printable import printable
from uanet_tf.commands.flag_files import check_marks, not_utf8, place_of
from uanet_tf.commands.help_text import fill_paragraphs
from uanet_tf.errors import InputError, StoppedBySignal
from uanet_tf.option import near_names

# The messages of int() and float() for text that is no number, and words that people understand.
_NOT_A_NUMBER = {
    r"=.*: invalid literal for int\(\) with base 10: '(.*)'": " a whole number",
    r"=.*: could not convert string to float: '(.*)'": " a number",
    r"=.*: \('Non-boolean argument to boolean flag', '(.*)'\)": " true or false",
}
# A very long word of a flag's value: its first characters are enough.
_LONG_VALUE = re.compile(r"(\S{200})\S{200,}")
PARTLY, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141


def run(
    main: Callable[..., Any],
    *,
    flag_values: flags.FlagValues = flags.FLAGS,
    argv: Sequence[str] | None = None,
    verbosity: int = logging.INFO,
    prepare: Callable[[list[str]], list[str]] | None = None,
    arguments: bool = False,
) -> NoReturn:
    """Parses the flags, calls ``main()`` and exits.

    Args:
      main: the command; reads its flags from ``flag_values`` and may return an exit code.
        ``--help`` shows the docstring and the flags of its module.
      flag_values: where the command's flags are defined.
      argv: the program's name and its arguments; default: ``sys.argv``.
      verbosity: the most detailed absl log messages that are shown.
      prepare: changes the arguments before they are parsed; may raise InputError.
      arguments: ``main`` takes the list of the arguments that are no flags.

    Raises:
      SystemExit: always, with the exit codes listed at the top of this module.
    """
    _collect_seldom()
    given = sys.argv if argv is None else argv
    sys.exit(exit_code(main, flag_values, given, verbosity, prepare, arguments))


def _collect_seldom() -> None:
    """Python's garbage collector looks at new objects less often, and at none before the end.

    Imports and graphs make a million objects that stay: looking through them again and again, and
    once more at the end, takes nearly a fifth of the time of a command that tags one sentence.
    """
    gc.set_threshold(50_000, 20, 20)
    atexit.register(gc.freeze)


def exit_code(
    main: Callable[..., Any],
    flag_values: flags.FlagValues,
    argv: Sequence[str],
    verbosity: int = logging.INFO,
    prepare: Callable[[list[str]], list[str]] | None = None,
    arguments: bool = False,
) -> int:
    """As ``run``, but returns the exit code."""

    def work() -> int | None:
        given = [argv[0], *prepare(list(argv[1:]))] if prepare is not None else argv
        rest = _parse(main, flag_values, given)
        if rest is None:
            return 0
        check_marks(given[1:], rest)
        if rest and not arguments:
            said = "Arguments must be flags (--name=value). Received: "
            place = place_of(given[1:], f"{said}{rest[0]}")
            raise InputError(f"{place}{said}{' '.join(rest)[:80]}")
        _start_logging(verbosity)
        return main(rest) if arguments else main()

    return code_of(work)


def say(text: str) -> NoReturn:
    """Writes a text and a line end to standard output, and exits.

    Raises:
      SystemExit: always; with code 0, if the text could be written.
    """
    sys.exit(code_of(lambda: print(text)))


def code_of(work: Callable[[], int | None]) -> int:
    """Calls ``work``; its exit code, or that of what went wrong, which is said."""
    if sys.stderr is None:  # closed: print would take standard output in its place
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 as long as the process
    try:
        code = work()
        _flush_output()
    except InputError as error:
        print(printable(_one_line(str(error))), file=sys.stderr)
        return BAD_INPUT
    except StoppedBySignal as error:
        return 128 + error.number
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_output()
        return BROKEN_PIPE
    except OSError as error:
        print(printable(_one_line(_system_message(error))), file=sys.stderr)
        return BAD_INPUT
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "uanet_tf"):
            raise
        print(f"This needs the package {package}, which is not installed.", file=sys.stderr)
        return BAD_INPUT
    return code or 0


def _flush_output() -> None:
    if sys.stdout is None:  # started with its standard output closed
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _forget_output()
        raise InputError(f"<stdout>: cannot be written ({error.strerror}).") from None


def _forget_output() -> None:
    """Drops what is still buffered, so that the interpreter does not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _system_message(error: OSError) -> str:
    """An operation that the system refused: a full disk, a missing permission, a broken disk."""
    reason = error.strerror or str(error)[:300]
    try:
        sys.stdout.flush()
    except OSError:
        _forget_output()
    # Errors in writing to an open file come without its name.
    return f"{error.filename}: {reason}." if error.filename else f"Writing failed: {reason}."


def _parse(
    main: Callable[..., Any], flag_values: flags.FlagValues, argv: Sequence[str]
) -> list[str] | None:
    """Parses ``argv``: the arguments that are no flags; None if help was asked for, and shown.

    Raises:
      InputError: flags that do not exist, or have wrong values.
    """
    _define_help(flag_values)
    flag_values.set_gnu_getopt(True)  # flags may follow other arguments
    try:
        rest = flag_values(list(argv), known_only=False)
    except _HelpRequested as request:
        print(_help_text(main, flag_values, full=request.full), end="")
        return None
    except UnicodeDecodeError as error:
        raise not_utf8(argv[1:]) from error
    except RecursionError:  # in absl's search for names that are spelt nearly so
        raise InputError(
            "Unknown command line flag, on the command line or in a flagfile: its name has "
            "hundreds of characters."
        ) from None
    except (flags.Error, ValueError) as error:
        place = place_of(argv[1:], str(error))
        raise InputError(place + _flag_message(error, flag_values)) from error
    return rest[1:]


def _start_logging(verbosity: int) -> None:
    if not flags.FLAGS.is_parsed():
        flags.FLAGS.mark_as_parsed()  # absl's own flags keep their defaults
    if not flags.FLAGS["verbosity"].present:  # not on the command line
        logging.set_verbosity(verbosity)
    logging.use_absl_handler()
    logging.get_absl_handler().setFormatter(_PlainFormatter())
    logging.get_absl_handler().addFilter(_is_for_users)


def _is_for_users(record: python_logging.LogRecord) -> bool:
    """Whether a message is one of this package, or a warning.

    Newer TensorFlow notes how long each checkpoint took.
    """
    own = pathlib.Path(__file__).parent.parent in pathlib.Path(record.pathname).parents
    return own or record.levelno >= python_logging.WARNING


class _PlainFormatter(python_logging.Formatter):
    """Messages without date, process and line; a warning begins with its level."""

    def format(self, record: python_logging.LogRecord) -> str:
        text = printable(super().format(record), keep="\n\t")
        if record.levelno < python_logging.WARNING:
            return text
        return f"{record.levelname.lower()}: {text}"


class _HelpRequested(Exception):
    """Raised while parsing, as soon as a help flag is met."""

    def __init__(self, full: bool) -> None:
        super().__init__()
        self.full = full


class _HelpFlag(flags.BooleanFlag):
    """``--help`` and similar flags; absl's own exit with code 1."""

    def __init__(self, name: str, help: str, *, full: bool, short_name: str | None = None) -> None:
        super().__init__(name, False, help, short_name=short_name, allow_overwrite=True)
        self._full = full

    def parse(self, argument: Any) -> None:
        if argument not in (False, "false"):
            raise _HelpRequested(self._full)


def _define_help(flag_values: flags.FlagValues) -> None:
    """Defines the help flags, unless done before."""
    if "helpfull" in flag_values:
        return
    short_name = None if "h" in flag_values else "h"
    for flag in (
        _HelpFlag("help", "Show the flags of this command.", full=False, short_name=short_name),
        _HelpFlag("helpfull", "Show all flags.", full=True),
    ):
        flags.DEFINE_flag(flag, flag_values, module_name=__name__)


def _help_text(main: Callable[..., Any], flag_values: flags.FlagValues, *, full: bool) -> str:
    module = sys.modules[main.__module__]
    parts = [fill_paragraphs((module.__doc__ or "").strip())]
    if full:
        parts.append(flag_values.get_help().strip())
    else:
        parts += _flag_sections(main, flag_values)
        parts.append("--flagfile=FILE reads flags from a file; --helpfull shows all flags.")
    return "\n\n".join(parts) + "\n"


def _flag_sections(main: Callable[..., Any], flag_values: flags.FlagValues) -> list[str]:
    """The command's own flags, then those of other modules; not those of absl and of help."""
    own = sys.argv[0] if main.__module__ == "__main__" else main.__module__
    sections: list[str] = []
    shown: set[str] = set()
    for name in [own, *flag_values.flags_by_module_dict()]:
        names = {flag.name for flag in flag_values.get_key_flags_for_module(name)}
        if name.startswith("absl.") or name == __name__ or names <= shown:
            continue
        sections.append(flag_values.module_help(name).strip())
        shown |= names
    return sections


def _flag_message(error: Exception, flag_values: flags.FlagValues) -> str:
    """The message of absl on wrong flags, as one sentence."""
    message = _LONG_VALUE.sub(r"\1...", _one_line(str(error)))
    if isinstance(error, flags.UnrecognizedFlagError) and "Did you mean" not in message:
        near = _near_flags(error.flagname, flag_values)
        message += f". Did you mean: {', '.join(near)} ?" if near else " (see --help)"
    missing = re.search(r"Flag --(\w+) must have a value other than None", message)
    if missing:
        return f"--{missing[1]} is required."
    for pattern, kind in _NOT_A_NUMBER.items():
        message = re.sub(pattern, rf" must be{kind}. Received: \1", message)
    message = re.sub(r"^(flag (?=--)|ERROR:: ?)", "", message)
    if isinstance(error, flags.CantOpenFlagFileError):
        message += " (a relative name is looked up in the working directory)"
    # A validator's own message names flag and value already.
    return re.sub(r"^--(\w+)=\S*: (?=--\1 )", "", message)


def _near_flags(name: str, flag_values: flags.FlagValues) -> list[str]:
    """Flags that contain all words of an unknown name, else those spelt similarly; at most 3.

    absl itself suggests those that differ in a letter or two.
    """
    names = [
        each
        for module, found in flag_values.flags_by_module_dict().items()
        if not module.startswith("absl")
        for each in (flag.name for flag in found)
    ]
    return near_names(name, names)


def _one_line(message: str) -> str:
    return " ".join(message.split())
