"""Generated sentences with any number of entity types and any mean length, for measuring speed."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence

from uanet_lite.columns_file import format_columns
from uanet_lite.input_error import InputError
from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import IOB2, Span, encode_spans

_NAMES_PER_TYPE = 60
_PLAIN_WORDS = 4_000
_ENTITY_SHARE = 0.12
_SYLLABLES = tuple(
    a + b for a, b in zip("bcdfghjklmnprstvwxyz", "aeiouaeiouaeioauaeio", strict=True)
)


def generate_uniform(
    num_types: int,
    mean_length: int,
    count: int,
    seed: int = 1,
    *,
    entity_types: Sequence[str] | None = None,
) -> list[Sentence]:
    """Generates sentences of made-up words with IOB2 labels.

    About every eighth place starts an entity of one to three tokens. The types take turns, so
    that all of them occur as soon as there are as many entities. Each type has names of its own and
    a trigger word before them, so that a tagger can learn the task.

    Args:
        num_types: entity types; in BIOES they make 4 * num_types + 1 classes.
        mean_length: tokens of a sentence on average; lengths go from 1 to 2 * mean_length - 1.
        count: sentences.
        seed: the same arguments give the same sentences everywhere.
        entity_types: names of the types; "T00", "T01", ... if not given.

    Raises:
        InputError: an argument below 1, or another number of names than `num_types`.
    """
    for name, value in (("num_types", num_types), ("mean_length", mean_length), ("count", count)):
        if value < 1:
            raise InputError(f"{name} must be at least 1. Received: {value}.")
    types = list(entity_types or (f"T{number:02d}" for number in range(num_types)))
    if len(set(types)) != num_types:
        raise InputError(
            f"entity_types must hold {num_types} different names. Received: {entity_types}."
        )
    rng = random.Random(f"{seed}/uniform")
    sentences: list[Sentence] = []
    line, entities = 1, 0
    for _ in range(count):
        length = 1 + int(rng.random() * mean_length) + int(rng.random() * mean_length)
        tokens, spans = _sentence(rng, length, types, entities)
        entities += len(spans)
        labels = tuple(encode_spans(spans, length, IOB2))
        sentences.append(Sentence(tuple(tokens), labels, line, new_document=line == 1))
        line += length + 1
    return sentences


def _sentence(
    rng: random.Random, length: int, types: Sequence[str], entities: int
) -> tuple[list[str], list[Span]]:
    tokens: list[str] = []
    spans: list[Span] = []
    while len(tokens) < length:
        if rng.random() >= _ENTITY_SHARE:
            # Squared twice: frequent and rare words, as in text.
            tokens.append(_word(int(rng.random() ** 4 * _PLAIN_WORDS)))
            continue
        number = (entities + len(spans)) % len(types)
        size = min(1 + int(rng.random() * 3), length - len(tokens))
        if rng.random() < 0.5 and length - len(tokens) > size:
            tokens.append(f"at{_word(number)}")
        spans.append(Span(types[number], len(tokens), len(tokens) + size))
        for _ in range(size):
            name = number * _NAMES_PER_TYPE + int(rng.random() * _NAMES_PER_TYPE)
            tokens.append(_word(name).capitalize())
    return tokens, spans


def _word(number: int) -> str:
    """The word of a number, different for each: its digits in base 20, as syllables."""
    syllables = ""
    while True:
        number, digit = divmod(number, len(_SYLLABLES))
        syllables += _SYLLABLES[digit]
        if not number:
            return syllables + "n"


def without_documents(sentences: Sequence[Sentence]) -> str:
    """Sentences as columns, without the marks of documents."""
    plain = [dataclasses.replace(sentence, new_document=False) for sentence in sentences]
    return format_columns(plain)
