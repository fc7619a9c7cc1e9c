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
        self._value = contextvars.ContextVar[int](name, default=False)

    @contextlib.contextmanager
    def __call__(self, wanted: int = True) -> Iterator[None]:
        """Within this context the choice holds, or, where ``wanted`` is False or 0, does not."""
        token = self._value.set(wanted)
        try:
            yield
        finally:
            self._value.reset(token)

    def holds(self) -> bool:
        """Whether this is within the context."""
        return bool(self._value.get())

    def value(self) -> int:
        """The number that the context was given; 0 outside."""
        return self._value.get()
