"""The one exception for bad input."""


class InputError(ValueError):
    """Bad input, explained in one sentence.

    The message names the file and line (``news.conll:17: ...``), or the argument
    and what was received (``--threshold must be at least 0. Received: -1``).
    Scripts print only the message on stderr and exit with code 2.
    """
