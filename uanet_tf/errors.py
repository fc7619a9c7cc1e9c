"""Exceptions for bad input and for a signal to stop."""

import re

from uanet_lite.input_error import InputError


class SentencesError(InputError):
    """Bad input in sentences, at a ``line`` of a file or at none; who read them names the file."""

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message)
        self.line = line

    def of_file(self, name: str) -> InputError:
        """The same, of a file."""
        return InputError(f"{name}{'' if self.line is None else f':{self.line}'}: {self}")


class StoppedBySignal(KeyboardInterrupt):
    """The program was asked to stop by a signal: what Ctrl-C raises, for other signals too."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = int(number)


def one_line(error: BaseException, most: int = 300) -> str:
    """The first line of an error's text, for a message: without control characters, not long."""
    first = (str(error).strip() or "unreadable").splitlines()[0]
    text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in first[: most + 1])
    return text if len(text) <= most else f"{text[:most]}..."


def written_reason(error: Exception) -> str:
    """Why TensorFlow could not write, without its operation and the names of temporary files.

    ``{{function_node ...}} /run/a.tempstate123; No space left on device [Op:SaveV2]`` becomes
    ``No space left on device``.
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = one_line(error, 1_000)
    text = re.sub(r"^\{\{.*?\}\} ?", "", text)
    text = re.sub(r" ?\[Op:\w+\].*$", "", text)
    return text.rpartition("; ")[2]
