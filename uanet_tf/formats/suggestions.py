"""Tagged sentences as texts with suggested marks, for annotation tools."""

from collections.abc import Mapping
from typing import Any

from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.formats import argilla, doccano
from uanet_tf.formats.annotated_text import AnnotatedText, Mark

_CONTENT = ("text", "tokens")  # what the sentence itself has
_RESERVED = argilla.RESERVED | doccano.RESERVED


def suggested(
    sentence: TaggedSentence,
    score: float | None = None,
    name: int | str | None = None,
    meta: Mapping[str, Any] | None = None,
) -> AnnotatedText:
    """The sentence with its entities and candidates as suggestions, each with its probability.

    Candidates may overlap entities and one another: the tool has to allow it. Of a longer text only
    the sentence's own part is taken.
    """
    begin = sentence.starts[0] if sentence.starts else 0
    end = sentence.ends[-1] if sentence.ends else 0
    places = zip(sentence.starts, sentence.ends, strict=True)
    scored: list[tuple[Any, float]] = [(one, one.probability) for one in sentence.candidates or ()]
    scored += [(one, one.confidence) for one in sentence.entities]
    marks = {(one.start - begin, one.end - begin, one.type): p for one, p in scored}
    return AnnotatedText(
        text=(sentence.source_text or "")[begin:end],
        marks=tuple(Mark(*place, round(p, 6)) for place, p in sorted(marks.items())),
        tokens=tuple((first - begin, last - begin) for first, last in places),
        score=None if score is None else round(score, 6),
        id=name,
        meta=dict(meta or {}),
    )


def name_and_meta(
    fields: Mapping[str, Any], line: int, part: int | None = None
) -> tuple[int | str | None, dict[str, Any]]:
    """What a sentence of a row of input is called, and what belongs to it, for every tool.

    A key that has a meaning in a tool's own records ("label") gets a "_" behind it. Tools take
    records of the same id for one, so the number of the sentence in the row (``part``; None: it is
    the only one) is put behind the row's, which is then in ``input_id``.
    """
    given = fields.get("id")
    name = given if type(given) in (int, str) else None
    meta: dict[str, Any] = {"input_line": line}
    if name is not None and part is not None:
        meta["input_id"] = name
        name = f"{name}-{part}"
    for key, value in fields.items():
        if key in _CONTENT or (key == "id" and name is not None):
            continue
        while key in _RESERVED or key in meta:
            key += "_"
        meta[key] = value
    return name, meta
