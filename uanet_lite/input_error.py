"""The one exception for bad input, and how commands say it."""

import re
from collections.abc import Mapping

_ARGUMENT = re.compile(r"`([a-z]\w*)(?:=([^`]*))?`")


class InputError(ValueError):
    """Bad input, explained in one sentence.

    The message names the file and line (``news.conll:17: ...``), or the argument and what was
    received ("`threshold` must be at least 0. Received: -1"). Commands print only the message,
    with flags for arguments, on stderr and exit with code 2.
    """


def as_flags(message: str, names: Mapping[str, str] | None = None) -> str:
    """A message on arguments, `epochs=3` or `text=False`, on flags: --epochs=3, --notext.

    ``names``: {argument: its flag}; other words stay. None: all are called as arguments.
    """

    def flag(found: re.Match[str]) -> str:
        name = found[1] if names is None else names.get(found[1])
        if name is None:
            return found[0]
        if found[2] in (None, "True"):
            return f"--{name}"
        return f"--no{name}" if found[2] == "False" else f"--{name}={found[2]}"

    return _ARGUMENT.sub(flag, message)
