"""Writes one sentence after the other, of invented names and the templates of the sample corpus.

Clubs, companies and half of the people are named after places, so that a word like "Harwick" may be
LOC, ORG or PER: the word by itself does not decide.
"""

import functools
import itertools
import json
import pathlib
import random
import re
from collections.abc import Iterator, Sequence

from uanet_lite.tag_schemes import Span

# The first entry of the templates explains their notation.
_NAME_PARTS, _TEMPLATES = (
    json.loads(pathlib.Path(__file__).with_name(name).read_text("utf-8"))
    for name in ("sample_names.json", "sample_templates.json")
)
_WORDS: dict[str, list[str]] = {kind: words.split() for kind, words in _NAME_PARTS.items()}
ENTITY_TYPES = ("LOC", "MISC", "ORG", "PER")

_SLOT = re.compile(r"\{([a-z]+)(?:\.([0-9]+))?\}")
_END = ""  # stands after the last symbol of a template
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
# How the sentences are mixed, and types of an ambiguous word, in percent.
_MIXTURE = (("plain", 53), ("echo", 16), ("late", 9), ("list", 12), ("bare", 10))
_BARE_TYPES = (("PER", 40), ("ORG", 35), ("LOC", 25))
# Names of one kind: what they are composed of, how many train uses, and how many are kept back.
_CONSONANTS = list("BCDFGHKLMNPRSTVW")
_POOLS = {
    "places": ([_WORDS["place_stems"], _WORDS["place_endings"]], "", 260, 400),
    "surnames": ([_WORDS["surname_stems"], _WORDS["surname_endings"]], "", 160, 300),
    "countries": ([_WORDS["country_stems"], _WORDS["country_endings"]], "", 50, 60),
    "titles": ([_WORDS["title_adjectives"], _WORDS["title_nouns"]], " ", 50, 100),
    "acronyms": ([_CONSONANTS] * 3, "", 50, 200),
    "first_names": ([_WORDS["first_names"]], "", 75, 25),
}
# Slots of a name: which name it is, the part of it that is written, its type.
_ALL, _FIRST, _LAST = slice(None), slice(1), slice(1, None)
_NAMES = {
    "per": ("person", _ALL, "PER"),
    "sur": ("person", _LAST, "PER"),
    "fullclub": ("club", _ALL, "ORG"),
    "club": ("club", _FIRST, "ORG"),
    "firm": ("firm", _ALL, "ORG"),
    "short": ("firm", _FIRST, "ORG"),
    "body": ("body", _ALL, "ORG"),
    "city": ("city", _ALL, "LOC"),
    "country": ("country", _ALL, "LOC"),
    "nat": ("nationality", _ALL, "MISC"),
    "event": ("event", _ALL, "MISC"),
    "work": ("work", _ALL, "MISC"),
}


class SentenceWriter:
    """Writes sentences with the names of one stock.

    Choices are built only on ``random()``, which never changes between Python versions.

    Args:
      seed: decides which names exist, and which of them train may use.
      unseen_names: probability that a name is one kept back from train.
    """

    def __init__(self, seed: int, rng: random.Random, unseen_names: float) -> None:
        self._rng = rng
        self._unseen = unseen_names
        self._pools: dict[str, tuple[list[str], list[str]]] = {}
        stock = random.Random(f"{seed}/names")
        for kind, (parts, between, used, kept_back) in _POOLS.items():
            names = dict.fromkeys(map(between.join, itertools.product(*parts)))
            shuffled = [name for _, name in sorted((stock.random(), name) for name in names)]
            self._pools[kind] = shuffled[:used], shuffled[used : used + kept_back]
        # Of the sentence that is being written.
        self._x_type = ""
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}

    def write(self) -> tuple[tuple[str, ...], list[Span]]:
        """Tokens and entity spans of a new sentence."""
        self._x_type, self._known = "", {}
        template = self._template(self._weighted(_MIXTURE))
        tokens: list[str] = []
        spans: list[Span] = []
        for symbol in _expand(_parse(template), self._rng):
            slot = _SLOT.fullmatch(symbol)
            if slot is None:
                tokens.append(symbol)
                continue
            words, entity_type = self._fill(slot[1], slot[2] or "1")
            if entity_type is not None:
                spans.append(Span(entity_type, len(tokens), len(tokens) + len(words)))
            tokens.extend(words)
        return tuple(tokens), spans

    def _pick(self, items: Sequence[str]) -> str:
        return items[int(self._rng.random() * len(items))]

    def _weighted(self, weights: Sequence[tuple[str, int]]) -> str:
        return self._pick([name for name, weight in weights for _ in range(weight)])

    def _template(self, kind: str) -> str:
        """A template of a kind; in all but "plain" ones {x} is one word in the whole sentence."""
        if kind in ("plain", "bare"):
            template = self._pick(_TEMPLATES[kind])
            self._x_type = self._weighted(_BARE_TYPES) if kind == "bare" else ""
            return template
        if kind == "list":
            return self._list()
        x_type = self._x_type = self._weighted(_BARE_TYPES)
        # What {x} is, a statement, something else, and {x} once more; or {x}, something else, and
        # after it what {x} is.
        parts = {
            "echo": (_TEMPLATES["introductions"][x_type], "statements", "middles", "echoes"),
            "late": ("openings", "bridges", _TEMPLATES["closings"][x_type]),
        }
        return " ".join(
            self._pick(_TEMPLATES[part] if isinstance(part, str) else part) for part in parts[kind]
        )

    def _list(self) -> str:
        """Three to nine names with numbers; the head or the tail tells what they are."""
        x_type = self._x_type = self._pick(("PER", "ORG", "LOC"))
        count = 3 + int(self._rng.random() * 7)
        items = " , ".join(f"{{x.{number}}} {{n}}" for number in range(1, count + 1))
        if self._rng.random() < 0.5:
            return f"{self._pick(_TEMPLATES['list_heads'][x_type])} {items} ."
        head = self._pick(_TEMPLATES["list_plain_heads"])
        return f"{head} {items} {self._pick(_TEMPLATES['list_tails'][x_type])} ."

    def _fill(self, kind: str, number: str) -> tuple[tuple[str, ...], str | None]:
        """The tokens of a slot, in a sentence always the same, and their type (None: no entity)."""
        if kind != "x" and kind not in _NAMES:
            return (self._number_or_date(kind),), None
        name, part, entity_type = ("x", _ALL, self._x_type) if kind == "x" else _NAMES[kind]
        if (name, number) not in self._known:
            self._known[name, number] = self._name(name)
        return self._known[name, number][part], entity_type

    def _name(self, kind: str) -> tuple[str, ...]:
        """A new name, as tokens."""
        if kind == "x":
            # Mostly an ambiguous word; now and then one that can only be a person.
            person = self._x_type == "PER" and self._rng.random() < 0.3
            return (self._surname() if person else self._draw("places"),)
        if kind == "person":
            first = self._draw("first_names")
            return f"{first[0]}." if self._rng.random() < 0.15 else first, self._surname()
        if kind in ("club", "firm", "event"):
            return self._draw("places"), self._pick(_WORDS[f"{kind}_words"])
        if kind == "body":
            if self._rng.random() < 0.6:
                return (self._draw("acronyms"),)
            return self._pick(_WORDS["body_heads"]), "of", self._draw("places")
        if kind == "city":
            place = self._draw("places")
            head = (self._pick(_WORDS["city_heads"]),) if self._rng.random() < 0.12 else ()
            return *head, place
        if kind == "work":
            title = self._draw("titles").split(" ")
            return *(("The",) if self._rng.random() < 0.6 else ()), *title
        country = self._draw("countries")
        if kind == "nationality":
            country += "i" if country.endswith("stan") else "n"
        return (country,)

    def _surname(self) -> str:
        """Half of them are places too."""
        return self._draw("places" if self._rng.random() < 0.5 else "surnames")

    def _draw(self, kind: str) -> str:
        used, kept_back = self._pools[kind]
        if self._rng.random() < self._unseen:
            return self._pick(kept_back)
        # Squared: a few names are frequent and many are rare, as in real text.
        return used[int(self._rng.random() ** 2 * len(used))]

    def _number_or_date(self, kind: str) -> str:
        random = self._rng.random
        if kind in ("day", "month"):
            return self._pick(_DAYS if kind == "day" else _MONTHS)
        if kind == "year":
            return str(1950 + int(random() * 70))
        if kind == "nth":
            return f"{4 + int(random() * 16)}th"
        if kind == "score":
            return f"{int(random() * 5)}-{int(random() * 4)}"
        return str(2 + int(random() ** 3 * 400))


@functools.cache
def _parse(template: str) -> tuple:
    """A template as a sequence of words and of nodes: each a tuple of alternative sequences."""
    symbols = re.findall(r"[\[\]()|]|[^\s\[\]()|]+", template)
    return _parse_alternatives(iter([*symbols, _END]), _END, template)[0]


def _parse_alternatives(symbols: Iterator[str], closing: str, template: str) -> tuple:
    alternatives: list[list] = [[]]
    for symbol in symbols:
        if symbol == "(":
            alternatives[-1].append(_parse_alternatives(symbols, ")", template))
        elif symbol == "[":
            alternatives[-1].append((*_parse_alternatives(symbols, "]", template), ()))
        elif symbol == "|" and closing == ")":
            alternatives.append([])
        elif symbol == closing:
            break
        elif symbol in ("]", ")", "|", _END):
            raise ValueError(f"brackets do not match in template: {template!r}")
        else:
            alternatives[-1].append(symbol)
    return tuple(map(tuple, alternatives))


def _expand(nodes: tuple, rng: random.Random) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, str):
            yield node
        else:
            yield from _expand(node[int(rng.random() * len(node))], rng)
