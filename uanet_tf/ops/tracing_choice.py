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


# Recurrences run with ``scan_blocks``.
loops_in_blocks = TracingChoice("loops in blocks")
wants_blocks = loops_in_blocks.holds
# A sentence is read by itself, without padding, each of its tokens for itself: what padding or
# equal tokens would need is left out of the graph.
unpadded = TracingChoice("no padding")
# An LSTM of one sentence is run by ``fused_lstm``.
fused_lstms = TracingChoice("fused LSTMs")
wants_fused = fused_lstms.holds
# Within ``position_tables(longest)`` the keys of sentences of up to so many tokens are read
# from a table. In longer ones the largest distances count as the largest of the table.
position_tables = TracingChoice("position tables")
