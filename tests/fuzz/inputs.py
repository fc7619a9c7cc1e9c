"""What the fuzz tests share: how much is tried, and damage of all kinds."""

import copy
import json
import os
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from uanet_lite.printable import printable

INPUTS = int(os.environ.get("FUZZ_INPUTS", "400"))

# Values that are of another type, of an impossible size, or not quite text.
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    "",
    "x",
    "O",
    "\ud800",
    "\x00\x1b[31m",
    "\u2028",
    "ä" * 3000,
    0,
    -1,
    3,
    2**31,
    2**63,
    10**400,
    -0.0,
    0.5,
    1e308,
    [],
    [[]],
    [1],
    ["a", None],
    {},
    {"a": 1},
)
# Bytes that mean something to some reader.
ODD_BYTES = (
    b"",
    b"\n",
    b"\r",
    b"\t",
    b" ",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\x1f\x8b",
    b"PK\x03\x04",
    b"-DOCSTART- O\n\n",
    b"# newdoc\n",
    b"\xed\xa0\x80",
    "é\u2028\U0001f600".encode(),
    b"nan",
    b"1e999",
    b"9" * 5000,
    b"[" * 2000,
    b'{"a":',
    b"\x1b]0;title\x07",
)


def share(part: float) -> Any:
    """Settings of a test that tries this part of all inputs."""
    return settings(
        max_examples=max(5, round(INPUTS * part)),
        deadline=None,
        # Damage of a few places is plain enough; making it plainer takes minutes.
        phases=(Phase.explicit, Phase.generate),
        database=None,
        # The same inputs in each run of the tests; others in each large one.
        derandomize="FUZZ_INPUTS" not in os.environ,
        suppress_health_check=list(HealthCheck),
    )


def check_said(error: Exception) -> None:
    """What a command prints of an error: something, in one line, of bounded length."""
    said = printable(" ".join(str(error).split())).encode("utf-8")
    assert 0 < len(said) < 2_000, said[:200]


def json_values() -> st.SearchStrategy:
    """Any JSON, with odd values in it."""
    leaves = st.sampled_from(ODD_VALUES) | st.text(max_size=8) | st.integers() | st.floats()
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
        ),
        max_leaves=12,
    )


@st.composite
def damaged_json(draw: Any, value: Any) -> Any:
    """The value with one to three places that are other, gone or too many."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(value))
        if not places:
            return draw(json_values())
        parent, key = draw(st.sampled_from(places))
        odd = copy.deepcopy(draw(st.sampled_from(ODD_VALUES) | json_values()))
        match draw(st.sampled_from(("set", "set", "delete", "add", "copy"))):
            case "set":
                parent[key] = odd
            case "delete":
                del parent[key]
            case "add" if isinstance(parent, dict):
                parent[draw(st.text(max_size=6))] = odd
            case "add":
                parent.insert(key, odd)
            case _:
                parent[key] = copy.deepcopy(draw(st.sampled_from(places))[0])
    return value


@st.composite
def damaged_bytes(draw: Any, data: bytes) -> bytes:
    """The bytes with one to four stretches that are other, gone, doubled or moved in."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from((0, 1, 2, 8, 100, 10_000))))
        match draw(st.sampled_from(("odd", "flip", "cut", "double", "end"))):
            case "odd":
                data = data[:start] + draw(st.sampled_from(ODD_BYTES)) + data[end:]
            case "flip" if end > start:
                data = (
                    data[:start]
                    + bytes([data[start] ^ draw(st.integers(1, 255))])
                    + data[start + 1 :]
                )
            case "cut":
                data = data[:start] + data[end:]
            case "double":
                data = data[:end] + data[start:]
            case _:
                data = data[:start] if draw(st.booleans()) else data
    return data


def to_bytes(value: Any) -> bytes:
    """JSON text of the value, with numbers and halves of characters as some writers write them."""
    return json.dumps(value).encode("utf-8", "surrogatepass")


def _places(value: Any) -> Any:
    items: Any = ()
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, inner in items:
        yield value, key
        yield from _places(inner)
