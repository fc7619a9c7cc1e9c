"""Invented names for the sample corpus, composed from stems and endings.

Clubs, companies and half of the people are named after places, so that a word like "Harwick" may be
LOC, ORG or PER: the word by itself does not decide.
"""

from __future__ import annotations

import json
import pathlib
import random
from collections.abc import Sequence

_WORDS: dict[str, list[str]] = {
    kind: words.split()
    for kind, words in json.loads(
        pathlib.Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    ).items()
}
_CONSONANTS = "BCDFGHKLMNPRSTVW"


def pick(rng: random.Random, items: Sequence[str]) -> str:
    """One of `items`; built only on `random()`, which never changes between Python versions."""
    return items[int(rng.random() * len(items))]


def _shuffled(rng: random.Random, items: Sequence[str]) -> list[str]:
    keyed = [(rng.random(), item) for item in dict.fromkeys(items)]
    return [item for _, item in sorted(keyed)]


class _Pool:
    """Names of one kind: those that train uses, and those kept back from it."""

    def __init__(self, rng: random.Random, names: Sequence[str], used: int, kept_back: int) -> None:
        shuffled = _shuffled(rng, names)
        self._used = shuffled[:used]
        self._kept_back = shuffled[used : used + kept_back]

    def draw(self, rng: random.Random, unseen: float) -> str:
        if rng.random() < unseen:
            return pick(rng, self._kept_back)
        # Squared: a few names are frequent and many are rare, as in real text.
        return self._used[int(rng.random() ** 2 * len(self._used))]


class NameStock:
    """Draws names; each is a tuple of tokens.

    Args:
        seed: decides which names exist, and which of them train may use.
    """

    def __init__(self, seed: int) -> None:
        rng = random.Random(f"{seed}/names")
        places = [
            stem + ending for stem in _WORDS["place_stems"] for ending in _WORDS["place_endings"]
        ]
        surnames = [
            stem + ending
            for stem in _WORDS["surname_stems"]
            for ending in _WORDS["surname_endings"]
        ]
        countries = [
            stem + ending
            for stem in _WORDS["country_stems"]
            for ending in _WORDS["country_endings"]
        ]
        titles = [
            f"{first} {last}"
            for first in _WORDS["title_adjectives"]
            for last in _WORDS["title_nouns"]
        ]
        acronyms = [a + b + c for a in _CONSONANTS for b in _CONSONANTS for c in _CONSONANTS]
        self._places = _Pool(rng, places, 260, 400)
        self._surnames = _Pool(rng, surnames, 160, 300)
        self._countries = _Pool(rng, countries, 50, 60)
        self._titles = _Pool(rng, titles, 50, 100)
        self._acronyms = _Pool(rng, acronyms, 50, 200)
        self._first_names = _Pool(rng, _WORDS["first_names"], 75, 25)

    def place(self, rng: random.Random, unseen: float) -> str:
        """The word that cities, clubs, companies and people share."""
        return self._places.draw(rng, unseen)

    def city(self, rng: random.Random, unseen: float) -> tuple[str, ...]:
        """A city: a place, now and then with a word before it ("New Harwick")."""
        place = self._places.draw(rng, unseen)
        return (pick(rng, _WORDS["city_heads"]), place) if rng.random() < 0.12 else (place,)

    def surname(self, rng: random.Random, unseen: float) -> str:
        """A surname; half of them are places too."""
        pool = self._places if rng.random() < 0.5 else self._surnames
        return pool.draw(rng, unseen)

    def first_name(self, rng: random.Random, unseen: float) -> str:
        """A first name, or an initial now and then."""
        name = self._first_names.draw(rng, unseen)
        return f"{name[0]}." if rng.random() < 0.15 else name

    def country(self, rng: random.Random, unseen: float) -> str:
        """A country."""
        return self._countries.draw(rng, unseen)

    def nationality(self, rng: random.Random, unseen: float) -> str:
        """The adjective of a country."""
        country = self.country(rng, unseen)
        return country + ("i" if country.endswith("stan") else "n")

    def firm(self, rng: random.Random, place: str) -> tuple[str, ...]:
        """A company named after `place`."""
        return (place, pick(rng, _WORDS["firm_words"]))

    def club(self, rng: random.Random, place: str) -> tuple[str, ...]:
        """The full name of a club of `place`."""
        return (place, pick(rng, _WORDS["club_words"]))

    def body(self, rng: random.Random, unseen: float) -> tuple[str, ...]:
        """An institution: an acronym, or "University of" and a place."""
        if rng.random() < 0.6:
            return (self._acronyms.draw(rng, unseen),)
        return (pick(rng, _WORDS["body_heads"]), "of", self._places.draw(rng, unseen))

    def event(self, rng: random.Random, unseen: float) -> tuple[str, ...]:
        """A competition, fair or prize named after a place."""
        return (self._places.draw(rng, unseen), pick(rng, _WORDS["event_words"]))

    def title(self, rng: random.Random, unseen: float) -> tuple[str, ...]:
        """The title of a book or film."""
        title = tuple(self._titles.draw(rng, unseen).split(" "))
        return ("The", *title) if rng.random() < 0.6 else title
