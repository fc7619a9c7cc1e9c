"""Invented names for the sample corpus, composed from stems and endings.

Clubs, companies and half of the people are named after places, so that a word like "Harwick" may be
LOC, ORG or PER: the word by itself does not decide.
"""

from __future__ import annotations

import random
from collections.abc import Sequence


def _words(text: str) -> list[str]:
    return text.split()


_PLACE_STEMS = _words(
    """
    River Mar Ash Black Stone Wind Oak Hart Whit Green Fair Glen Hal Kings Lin Mill North Pen Red
    Rose Salt Sher Silver Thorn Wal West Wood Yar Bar Bex Bright Cal Cold Cran Dun East Ever Fen
    Gold Har High Holm Lang Long Lyn Nor Pem Rad Sand Shel Stan Sut Tam Tor Up Wes Wil Win Ald Brom
    Carl Dray Elm Frin Gar Hed Ink Kel
    """
)
_PLACE_ENDINGS = _words(
    """
    ton low ford bridge mere field worth wick ham dale by stead haven mouth gate ley combe burn port
    well
    """
)
_COUNTRY_STEMS = _words(
    """
    Vel Kar Tand Mor Bel Zan Tur Os Lav Quer Bor Nem Sar Ful Gal Hesp Il Jor Kel Lum Mag Ner Or Pal
    Rav Sel Tar Ur Val Yel
    """
)
_COUNTRY_ENDINGS = ("ia", "onia", "avia", "istan", "uria", "aria")
_SURNAME_STEMS = _words(
    """
    Bren Kor Vash Tol Hend Ander Mich Pet Rob Jack Wat Nik Iv Pav Had Lor Mont Ferr Gonz Rom Bau
    Schu Kell Lind Berg Dah Holt Quin Mac Fitz O'Dor De Tak Yam Nak Ong Tran Rao Sing Cho
    """
)
_SURNAME_ENDINGS = _words(
    """
    son sen ov ez ard ler mann ini ski wright ova etti berg strom ura moto ari eau ell man
    """
)
_FIRST_NAMES = _words(
    """
    Anna Peter Maria John Elena Paul Laura Simon Nadia Victor Helen Marco Sofia Daniel Irene Oscar
    Julia Felix Clara Hugo Marta Leo Alice Bruno Emma Karl Nina Oliver Rosa Stefan Teresa Walter
    Yara Adam Beatrice Carlos Diana Edgar Fiona George Hanna Ivan Judith Kevin Lydia Martin Norma
    Otto Paula Quentin Ruth Samuel Tessa Ulrich Vera William Xenia Yusuf Zoe Amir Bella Cyril Dora
    Erik Farah Gavin Hilda Igor Jasmin Kenji Lena Mona Nils Olga Pablo Rita Sven Tanya Umar Viola
    Wanda Agnes Boris Celia David Esther Frank Gloria Henry Ingrid Jacob Kate Louis Mina Noel Petra
    Ralf
    """
)
_FIRM_WORDS = _words(
    """
    Motors Bank Airlines Energy Foods Steel Group Media Systems Holdings Shipping Insurance
    Chemicals Telecom Brewery Pharma Textiles Mining Rail Software
    """
)
_CLUB_WORDS = _words("Rovers United Athletic Wanderers Albion City Rangers Town Harriers Dynamos")
_EVENT_WORDS = _words("Cup Open Trophy Marathon Classic Regatta Festival Games Accord Prize")
_TITLE_ADJECTIVES = _words(
    """
    Quiet Last Silver Broken Second Hidden Endless Pale Burning Distant Borrowed Empty
    """
)
_TITLE_NOUNS = _words(
    """
    River Winter Garden Letter Crown Harbour Mirror Orchard Signal Voyage Summer Witness Lantern
    Station Bridge Island
    """
)
_CITY_HEADS = ("New", "Port", "Upper", "Lake", "Mount")
_BODY_HEADS = _words("University Bank Chamber Port Parliament Institute")
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
        places = [stem + ending for stem in _PLACE_STEMS for ending in _PLACE_ENDINGS]
        surnames = [stem + ending for stem in _SURNAME_STEMS for ending in _SURNAME_ENDINGS]
        countries = [stem + ending for stem in _COUNTRY_STEMS for ending in _COUNTRY_ENDINGS]
        titles = [f"{first} {last}" for first in _TITLE_ADJECTIVES for last in _TITLE_NOUNS]
        acronyms = [a + b + c for a in _CONSONANTS for b in _CONSONANTS for c in _CONSONANTS]
        self._places = _Pool(rng, places, 260, 400)
        self._surnames = _Pool(rng, surnames, 160, 300)
        self._countries = _Pool(rng, countries, 50, 60)
        self._titles = _Pool(rng, titles, 50, 100)
        self._acronyms = _Pool(rng, acronyms, 50, 200)
        self._first_names = _Pool(rng, _FIRST_NAMES, 75, 25)

    def place(self, rng: random.Random, unseen: float) -> str:
        """The word that cities, clubs, companies and people share."""
        return self._places.draw(rng, unseen)

    def city(self, rng: random.Random, unseen: float) -> tuple[str, ...]:
        """A city: a place, now and then with a word before it ("New Harwick")."""
        place = self._places.draw(rng, unseen)
        return (pick(rng, _CITY_HEADS), place) if rng.random() < 0.12 else (place,)

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
        return (place, pick(rng, _FIRM_WORDS))

    def club(self, rng: random.Random, place: str) -> tuple[str, ...]:
        """The full name of a club of `place`."""
        return (place, pick(rng, _CLUB_WORDS))

    def body(self, rng: random.Random, unseen: float) -> tuple[str, ...]:
        """An institution: an acronym, or "University of" and a place."""
        if rng.random() < 0.6:
            return (self._acronyms.draw(rng, unseen),)
        return (pick(rng, _BODY_HEADS), "of", self._places.draw(rng, unseen))

    def event(self, rng: random.Random, unseen: float) -> tuple[str, ...]:
        """A competition, fair or prize named after a place."""
        return (self._places.draw(rng, unseen), pick(rng, _EVENT_WORDS))

    def title(self, rng: random.Random, unseen: float) -> tuple[str, ...]:
        """The title of a book or film."""
        title = tuple(self._titles.draw(rng, unseen).split(" "))
        return ("The", *title) if rng.random() < 0.6 else title
