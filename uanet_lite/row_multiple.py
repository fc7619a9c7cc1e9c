"""How many rows a batch is filled up to, so that no score depends on the other rows.

The last elements of an array, and the last rows of a product, are computed by other instructions
than the rest: with 3 or with 5 rows the last bit of a row's score may differ. It does not where
rows come in multiples of the floats that the widest registers (512 bits) hold, on processors with
AVX-512 VNNI. On others rows of a product come in sixes and, in attention, in twenty-fours: a last
bit may differ there.
"""

ROW_MULTIPLE = 16
# Wider rows are long enough to need fewer of them; what they cost is bounded by this.
_MOST_TOKENS = 128 * ROW_MULTIPLE


def row_multiple(width: int) -> int:
    """Rows of ``width`` tokens come in multiples of this, a power of 2 up to ROW_MULTIPLE."""
    multiple = ROW_MULTIPLE
    while multiple > 1 and multiple * width > _MOST_TOKENS:
        multiple //= 2
    return multiple


def round_up(number: int, multiple: int) -> int:
    """The least multiple that is not below ``number``."""
    return -(-number // multiple) * multiple
