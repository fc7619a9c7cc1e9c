"""Labels that are no labels of entities, or were probably meant to be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import OUTSIDE, split_label
from uanet_tf.errors import InputError, SentencesError

_LETTER, _TYPE, _BETWEEN = r"([BIMELSUWbimelsuw])", r"[^\W\d_].*", "[-_:./|+=~]"
# B_PER, B:PER, b-PER, i_per: a letter of a scheme and a type, but not as "B-PER" has them; and the
# type in front: PER-B, PER_I.
_ALIKE = re.compile(rf"{_LETTER}{_BETWEEN}{_TYPE}|{_TYPE}{_BETWEEN}{_LETTER}", re.DOTALL)
_OUTSIDES = frozenset({OUTSIDE, "o", "0"})
# CoNLL-2012, CoNLL-2005: (PER*, *) and (PER) beside *; coreferences: (12), (12 and 12) beside -.
_BRACKETED = re.compile(r"\(.+|.*\)", re.DOTALL)
_NOT_BRACKETED = ("*", "-")


def entity_like_labels(counts: Mapping[str, int]) -> list[str]:
    """The labels that look like those of entities, if a file without a scheme has enough of them.

    That is: they are half of the kinds of labels or more, and there is also a label for tokens
    outside (O), or there are two letters (B_PER, I_PER). Or they are brackets as in CoNLL-2012:
    (PER*, *), (PER). Or O is the label of more than a third of the tokens, as no part of speech is:
    then all other labels are returned. ``counts`` is {label: tokens}.
    """
    inside = [label for label in counts if label not in _OUTSIDES]
    found = {label: match for label in inside if (match := _ALIKE.fullmatch(label))}
    letters = {match[1] or match[2] for match in found.values()}
    if 2 * len(found) >= len(inside) and (len(inside) < len(counts) or len(letters) > 1):
        return list(found)
    bracketed = [label for label in counts if _BRACKETED.fullmatch(label)]
    if len(bracketed) + 1 == len(counts) and any(label in counts for label in _NOT_BRACKETED):
        return bracketed
    return inside if 3 * counts.get(OUTSIDE, 0) > sum(counts.values()) else []


def stray_labels(counts: Mapping[str, int]) -> dict[str, int]:
    """What of {label: tokens} is no chunk label, where less than half of the tokens have such."""
    strays = {}
    for label, count in counts.items():
        try:
            letter, span_type = split_label(label)
        except InputError:
            strays[label] = count
        else:
            if letter != OUTSIDE and not span_type:
                strays[label] = count
    typed = any(label != OUTSIDE and label not in strays for label in counts)
    return strays if typed and 2 * sum(strays.values()) < sum(counts.values()) else {}


def without_entities(sentences: Iterable[Sentence]) -> bool:
    """Whether all labels are O."""
    return all(label == OUTSIDE for sentence in sentences for label in sentence.labels)


def uneven_sentences(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Those whose rows have different numbers of columns, of which the last is read."""
    return [sentence for sentence in sentences if sentence.uneven_line]


def said_of_uneven(count: int, line: int) -> str:
    """What the user is told about ``count`` uneven sentences; ``line`` is the first uneven row."""
    have = "1 sentence has" if count == 1 else f"{count:,} sentences have"
    return (
        f"{have} lines with different numbers of columns, the first is line {line}: is there a "
        "blank in a token or a label, or more than one token a line?"
    )


def check_chunk_labels(sentences: Iterable[Sentence]) -> None:
    """Raises SentencesError, with the sentence's line, if a label is no chunk label."""
    for number, sentence in enumerate(sentences, 1):
        for label in sentence.labels:
            try:
                split_label(label)
            except InputError as error:
                where = "the sentence that begins here" if sentence.line else f"sentence {number}"
                raise SentencesError(f"in {where}: {error}", sentence.line or None) from None
