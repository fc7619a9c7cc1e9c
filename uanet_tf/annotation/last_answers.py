"""Of the records that several persons, or one several times, gave for a text: the last."""

import dataclasses
from collections.abc import Hashable, Iterable, Iterator

from uanet_tf.annotation.annotated_text import ACCEPTED, REJECTED, AnnotatedText

Keyed = tuple[Hashable | None, str, AnnotatedText]  # key of the text, place in the file, record


def last_answers(records: Iterable[Keyed]) -> Iterator[tuple[str, AnnotatedText]]:
    """One record of each key, with its place: the last that was decided; in order of the first.

    Args:
      records: those with the key None are taken as they are.
    """
    groups: dict[Hashable, list[tuple[str, AnnotatedText]]] = {}
    for key, place, item in records:
        groups.setdefault(object() if key is None else key, []).append((place, item))
    for group in groups.values():
        decided = [pair for pair in group if pair[1].status in (ACCEPTED, REJECTED)]
        place, item = (decided or group)[-1]
        answers = {(one.status, frozenset(mark[:3] for mark in one.marks)) for _, one in decided}
        yield place, dataclasses.replace(item, disputed=True) if len(answers) > 1 else item
