"""Writes one sentence after the other from the templates of the sample corpus."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable

from uanet_tf.data import sample_templates as templates
from uanet_tf.data.sample_names import NameStock, pick
from uanet_tf.data.tag_schemes import Span

ENTITY_TYPES = ("LOC", "MISC", "ORG", "PER")

_SLOT = re.compile(r"\{([a-z]+)(?:\.([0-9]+))?\}")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
# How the sentences are mixed: the name of a method and its share in percent.
_MIXTURE = (("plain", 56), ("echo", 17), ("late", 9), ("list", 12), ("bare", 6))
# Which type a word that may be all of them is, in percent.
_BARE_TYPES = (("PER", 40), ("ORG", 35), ("LOC", 25))

_Piece = tuple[tuple[str, ...], str | None]  # the tokens of a slot and their entity type


@functools.lru_cache(maxsize=None)
def _parse(template: str) -> tuple:
    """Parses a template into words and ("one of", alternatives) nodes."""
    symbols = re.findall(r"\{[^}]*\}|[\[\]|]|\((?=[^ ])|\)(?=[ ]|$|\))|[^\s\[\]|()]+|\(|\)", template)
    nodes, rest = _parse_sequence(symbols, 0, template)
    if rest != len(symbols):
        raise ValueError(f"unbalanced brackets in template: {template!r}")
    return nodes


def _parse_sequence(symbols: list[str], start: int, template: str) -> tuple[tuple, int]:
    raise NotImplementedError
