"""The one exception for bad input."""


class InputError(ValueError):
    """Bad input, explained in one sentence that names file and line, or argument and value."""
