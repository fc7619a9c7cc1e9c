"""How a graph is made, where that is not for each layer to say."""

import contextlib
import contextvars
from collections.abc import Iterator


class TracingChoice:
    """A choice for all functions that are traced within a context; outside it does not hold.

    Args:
      name: of the choice, for debuggers.

    Example:

    >>> in_blocks = TracingChoice("in blocks")
    >>> with in_blocks():
    ...     in_blocks.holds()
    True
    """

    def __init__(self, name: str):
        self._holds = contextvars.ContextVar(name, default=False)

    @contextlib.contextmanager
    def __call__(self, wanted: bool = True) -> Iterator[None]:
        """Within this context the choice holds, or, where ``wanted`` is False, does not."""
        token = self._holds.set(wanted)
        try:
            yield
        finally:
            self._holds.reset(token)

    def holds(self) -> bool:
        """Whether this is within the context."""
        return self._holds.get()
