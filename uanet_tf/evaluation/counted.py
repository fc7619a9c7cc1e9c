"""A number with its noun: "1 sentence", "2,000 sentences"."""

_MANY = {"entity": "entities"}


def counted(count: int, one: str) -> str:
    """``count`` with the noun ``one`` in singular or plural."""
    return f"{count:,} {one if count == 1 else plural(one)}"


def plural(one: str) -> str:
    """The plural of a noun."""
    return _MANY.get(one, f"{one}s")
