"""Returns unused memory to the system."""

import ctypes
import gc


def give_memory_back(*, collect: bool = True) -> None:
    """Collects unreachable objects, and has glibc return freed memory, which it would keep.

    Elsewhere than on Linux with glibc the second part does nothing.

    Args:
      collect: do the first part, which stops all threads for some tenths of a second.
    """
    if collect:
        gc.collect()
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return
    trim(0)
