"""The one exception for bad input."""


class InputError(ValueError):
    """Bad input, said in one sentence that names the file and line, or the argument and value."""
