"""Writes one sentence after the other from the templates of the sample corpus."""

from __future__ import annotations

import functools
import json
import pathlib
import random
import re
from collections.abc import Callable, Iterator, Sequence

from uanet_lite.tag_schemes import Span
from uanet_tf.resources.sample_names import NameStock, pick

# Its first entry explains the notation.
_TEMPLATES = json.loads(
    pathlib.Path(__file__).with_name("sample_templates.json").read_text(encoding="utf-8")
)
ENTITY_TYPES = ("LOC", "MISC", "ORG", "PER")

_SLOT = re.compile(r"\{([a-z]+)(?:\.([0-9]+))?\}")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
# How the sentences are mixed: the name of a method and its share in percent.
_MIXTURE = (("plain", 53), ("echo", 16), ("late", 9), ("list", 12), ("bare", 10))
# Types of an ambiguous word, in percent.
_BARE_TYPES = (("PER", 40), ("ORG", 35), ("LOC", 25))

_EMPTY: tuple = ()


class SentenceWriter:
    """Writes sentences with the names of one stock.

    Args:
        seed: of the names.
        rng: makes all other choices.
        unseen_names: probability that a name is one kept back from train.
    """

    def __init__(self, seed: int, rng: random.Random, unseen_names: float) -> None:
        self._names = NameStock(seed)
        self._rng = rng
        self._unseen = unseen_names
        self._writers: dict[str, Callable[[], tuple[str, str]]] = {
            "plain": self._plain,
            "echo": self._echo,
            "late": self._late,
            "list": self._list,
            "bare": self._bare,
        }

    def write(self) -> tuple[tuple[str, ...], list[Span]]:
        """Tokens and entity spans of a new sentence."""
        template, x_type = self._writers[self._weighted(_MIXTURE)]()
        slots = _Slots(self._names, self._rng, self._unseen, x_type)
        tokens: list[str] = []
        spans: list[Span] = []
        for symbol in _expand(_parse(template), self._rng):
            slot = _SLOT.fullmatch(symbol)
            if slot is None:
                tokens.append(symbol)
                continue
            words, entity_type = slots.fill(slot[1], slot[2] or "1")
            if entity_type is not None:
                spans.append(Span(entity_type, len(tokens), len(tokens) + len(words)))
            tokens.extend(words)
        return tuple(tokens), spans

    def _weighted(self, weights: Sequence[tuple[str, int]]) -> str:
        return self._pick([name for name, weight in weights for _ in range(weight)])

    def _pick(self, items: Sequence[str]) -> str:
        return pick(self._rng, items)

    def _plain(self) -> tuple[str, str]:
        return self._pick(_TEMPLATES["plain"]), ""

    def _bare(self) -> tuple[str, str]:
        return self._pick(_TEMPLATES["bare"]), self._weighted(_BARE_TYPES)

    def _echo(self) -> tuple[str, str]:
        """What {x} is, a statement, something else, and {x} once more."""
        x_type = self._weighted(_BARE_TYPES)
        parts = (
            self._pick(_TEMPLATES["introductions"][x_type]),
            self._pick(_TEMPLATES["statements"]),
            self._pick(_TEMPLATES["middles"]),
            self._pick(_TEMPLATES["echoes"]),
        )
        return " ".join(parts), x_type

    def _late(self) -> tuple[str, str]:
        """{x}, something else, and after it what {x} is."""
        x_type = self._weighted(_BARE_TYPES)
        parts = (
            self._pick(_TEMPLATES["openings"]),
            self._pick(_TEMPLATES["bridges"]),
            self._pick(_TEMPLATES["closings"][x_type]),
        )
        return " ".join(parts), x_type

    def _list(self) -> tuple[str, str]:
        """Three to nine names with numbers; the head or the tail tells what they are."""
        x_type = self._pick(("PER", "ORG", "LOC"))
        count = 3 + int(self._rng.random() * 7)
        items = " , ".join(f"{{x.{number}}} {{n}}" for number in range(1, count + 1))
        if self._rng.random() < 0.5:
            return f"{self._pick(_TEMPLATES['list_heads'][x_type])} {items} .", x_type
        head = self._pick(_TEMPLATES["list_plain_heads"])
        return f"{head} {items} {self._pick(_TEMPLATES['list_tails'][x_type])} .", x_type


class _Slots:
    """Fills the slots of one sentence; the same kind and number always get the same name."""

    def __init__(self, names: NameStock, rng: random.Random, unseen: float, x_type: str) -> None:
        self._names = names
        self._rng = rng
        self._unseen = unseen
        self._x_type = x_type
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}

    def fill(self, kind: str, number: str) -> tuple[tuple[str, ...], str | None]:
        """The tokens of a slot and their entity type (None: no entity)."""
        if kind in ("n", "nth", "year", "day", "month", "score"):
            return (self._plain_word(kind),), None
        if kind == "x":
            return self._once("x", number, self._draw_x), self._x_type
        if kind in ("per", "sur"):
            person = self._once("per", number, self._draw_person)
            return (person if kind == "per" else person[1:]), "PER"
        if kind in ("club", "fullclub"):
            club = self._once("club", number, lambda: self._names.club(self._rng, self._place()))
            return (club if kind == "fullclub" else club[:1]), "ORG"
        if kind in ("firm", "short"):
            firm = self._once("firm", number, lambda: self._names.firm(self._rng, self._place()))
            return (firm if kind == "firm" else firm[:1]), "ORG"
        names, args = self._names, (self._rng, self._unseen)
        entity_type, draw = {
            "body": ("ORG", lambda: names.body(*args)),
            "city": ("LOC", lambda: names.city(*args)),
            "country": ("LOC", lambda: (names.country(*args),)),
            "nat": ("MISC", lambda: (names.nationality(*args),)),
            "event": ("MISC", lambda: names.event(*args)),
            "work": ("MISC", lambda: names.title(*args)),
        }[kind]
        return self._once(kind, number, draw), entity_type

    def _once(self, kind: str, number: str, draw: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        if (kind, number) not in self._known:
            self._known[kind, number] = draw()
        return self._known[kind, number]

    def _place(self) -> str:
        return self._names.place(self._rng, self._unseen)

    def _draw_person(self) -> tuple[str, ...]:
        first = self._names.first_name(self._rng, self._unseen)
        return first, self._names.surname(self._rng, self._unseen)

    def _draw_x(self) -> tuple[str, ...]:
        # Mostly an ambiguous word; now and then one that can only be a person.
        if self._x_type == "PER" and self._rng.random() < 0.3:
            return (self._names.surname(self._rng, self._unseen),)
        return (self._place(),)

    def _plain_word(self, kind: str) -> str:
        rng = self._rng
        if kind == "day":
            return pick(rng, _DAYS)
        if kind == "month":
            return pick(rng, _MONTHS)
        if kind == "year":
            return str(1950 + int(rng.random() * 70))
        if kind == "nth":
            return f"{4 + int(rng.random() * 16)}th"
        if kind == "score":
            return f"{int(rng.random() * 5)}-{int(rng.random() * 4)}"
        return str(2 + int(rng.random() ** 3 * 400))


@functools.cache
def _parse(template: str) -> tuple:
    """A template as a sequence of words and of nodes; a node is a tuple of alternative sequences.

    Raises:
        ValueError: brackets that do not match.
    """
    symbols = re.findall(r"[\[\]()|]|[^\s\[\]()|]+", template)
    alternatives = _parse_alternatives(iter(symbols), "", template)
    return alternatives[0]


def _parse_alternatives(symbols: Iterator[str], closing: str, template: str) -> tuple:
    alternatives: list[list] = [[]]
    for symbol in symbols:
        if symbol == "(":
            alternatives[-1].append(_parse_alternatives(symbols, ")", template))
        elif symbol == "[":
            alternatives[-1].append((*_parse_alternatives(symbols, "]", template), _EMPTY))
        elif symbol == "|" and closing == ")":
            alternatives.append([])
        elif symbol == closing:
            return tuple(tuple(alternative) for alternative in alternatives)
        elif symbol in "[]()|":
            raise ValueError(f"brackets do not match in template: {template!r}")
        else:
            alternatives[-1].append(symbol)
    if closing:
        raise ValueError(f"brackets do not match in template: {template!r}")
    return tuple(tuple(alternative) for alternative in alternatives)


def _expand(nodes: tuple, rng: random.Random) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, str):
            yield node
        else:
            yield from _expand(node[int(rng.random() * len(node))], rng)
