"""What all commands share: one sentence for bad input, exit codes, the log.

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
import contextlib
import gc
import logging as python_logging
import os
import pathlib
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from absl import flags, logging

from uanet_lite.printable import printable
from uanet_tf.commands.command_flags import parse
from uanet_tf.config import in_flags
from uanet_tf.errors import InputError, StoppedBySignal

PARTLY, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
INPUT = "input"  # the thread that reads what is to be tagged


def run(
    command: Callable[..., Any],
    *,
    argv: Sequence[str] | None = None,
    verbosity: int = logging.WARNING,
) -> NoReturn:
    """Calls a command with the flags of ``argv``, and exits with a code that this module lists.

    ``command`` is a function as ``command_flags`` describes it; it may return an exit code.
    ``verbosity`` is that of the most detailed absl log messages that are shown.
    """
    _collect_seldom()
    code = exit_code(command, sys.argv if argv is None else argv, verbosity)
    if code == INTERRUPTED and any(thread.name == INPUT for thread in threading.enumerate()):
        # It holds the lock of standard input, for which Python would wait at its end.
        with contextlib.suppress(OSError, InputError):
            _flush_output()
        os._exit(code)
    sys.exit(code)


def _collect_seldom() -> None:
    """Python's garbage collector looks at new objects less often, and at none before the end.

    Imports and graphs make a million objects that stay: looking through them again and again, and
    once more at the end, takes nearly a fifth of the time of a command that tags one sentence.
    """
    gc.set_threshold(50_000, 20, 20)
    atexit.register(gc.freeze)


def exit_code(
    command: Callable[..., Any], argv: Sequence[str], verbosity: int = logging.WARNING
) -> int:
    """As ``run``, but returns the exit code."""

    def work() -> int | None:
        call = parse(command, argv)
        if call is None:
            return 0
        _start_logging(verbosity)
        return call()

    return code_of(work)


def say(text: str) -> NoReturn:
    """Writes a text and a line end to standard output, and exits; with 0 if it was written."""
    sys.exit(code_of(lambda: print(text)))


def code_of(work: Callable[[], int | None]) -> int:
    """Calls ``work``; its exit code, or that of what went wrong, which is said."""
    if sys.stderr is None:  # closed: print would take standard output in its place
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 as long as the process
    try:
        code = work()
        _flush_output()
    except InputError as error:
        return _bad_input(in_flags(str(error)))
    except StoppedBySignal as error:
        return 128 + error.number
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_output()
        return BROKEN_PIPE
    except OSError as error:
        return _bad_input(_system_message(error))
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "uanet_tf"):
            raise
        return _bad_input(f"This needs the package {package}, which is not installed.")
    return code or 0


def _bad_input(message: str) -> int:
    print(printable(" ".join(message.split())), file=sys.stderr)
    return BAD_INPUT


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


def _start_logging(verbosity: int) -> None:
    if not flags.FLAGS.is_parsed():
        flags.FLAGS.mark_as_parsed()  # absl's own flags keep their defaults
    if not flags.FLAGS["verbosity"].present:  # not on the command line
        logging.set_verbosity(verbosity)
    logging.use_absl_handler()
    logging.get_absl_handler().setFormatter(_PlainFormatter())
    logging.get_absl_handler().addFilter(_is_for_users)


def _is_for_users(record: python_logging.LogRecord) -> bool:
    """Of this package, or a warning: newer TensorFlow notes how long each checkpoint took."""
    own = pathlib.Path(__file__).parent.parent in pathlib.Path(record.pathname).parents
    return own or record.levelno >= python_logging.WARNING


class _PlainFormatter(python_logging.Formatter):
    """Messages without date, process and line, on flags; a warning begins with its level."""

    def format(self, record: python_logging.LogRecord) -> str:
        text = printable(in_flags(super().format(record)), keep="\n\t")
        is_warning = record.levelno >= python_logging.WARNING
        return f"{record.levelname.lower()}: {text}" if is_warning else text
