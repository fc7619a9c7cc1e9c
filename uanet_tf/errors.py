"""The one exception for bad input."""


class InputError(ValueError):
    """Bad input, said in one sentence.

    The message names the file and line (``news.conll:17: ...``), or the argument
    and what was received (``--threshold must be at least 0. Received: -1``).
    Scripts print the message alone on stderr and exit with code 2.
    """


def one_line(error: BaseException, most: int = 300) -> str:
    """The first line of an error's text, for a message: without control characters, not long."""
    first = (str(error).strip() or "unreadable").splitlines()[0]
    text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in first[: most + 1])
    return text if len(text) <= most else f"{text[:most]}..."
