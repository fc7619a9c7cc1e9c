"""Tagged sentences as HTML for notebooks: uncertainty as colour and number, entities marked.

Colours are shades of one orange, darker with each step (on a dark page: stronger), so that people
who see no red or green can tell them apart; text on them has a contrast of at least 4.5 on light
and dark pages (faint steps keep the page's own text colour, strong ones set their own). Important
facts are also shown without colour: refined tokens have a frame and their uncertainty as a number.

Lines run as their text does, also from right to left; numbers and entities keep their own order.
"""

import html
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from uanet_lite.printable import LETTER_MARKS, printable

# (least uncertainty in nats, style of a token).
STEPS = (
    (0.1, "background:rgba(236,112,20,0.15)"),
    (0.3, "background:rgba(236,112,20,0.32)"),
    (0.6, "background:rgba(236,112,20,0.52)"),
    (1.0, "background:#f08a3c;color:#1a1a1a"),
    (1.5, "background:#e0650f;color:#1a1a1a"),
)
_PAGE = "font-family:system-ui,sans-serif;line-height:2.2;margin:0.2em 0;text-align:left"
_LEGEND = "font-family:system-ui,sans-serif;font-size:0.85em;line-height:2;margin:0.3em 0"
_TOKEN = "border-radius:0.25em;padding:0.1em 0.22em;box-decoration-break:clone"
_REFINED = "box-shadow:inset 0 0 0 1.5px currentColor"
_SMALL = "font-size:0.7em;margin:0 0.2em;white-space:nowrap"
_CHIP = (
    "font-size:0.7em;font-weight:600;letter-spacing:0.04em;border:1px solid currentColor;"
    "border-radius:0.4em;padding:0 0.35em;margin:0 0.3em;vertical-align:0.1em;white-space:nowrap"
)
_MARKED = "padding-bottom:0.22em;unicode-bidi:isolate"
_ENTITY = f"border-bottom:2px solid currentColor;{_MARKED}"
_REFUSED = f"border-bottom:2px dotted currentColor;{_MARKED}"


def sentence_html(sentence: Any) -> str:
    """One sentence, without a legend; ``sentence`` is a TaggedSentence."""
    tokens = [_token(sentence, index) for index in range(len(sentence))]
    if sentence.scheme is not None:
        entities = sentence.entities
        refused = {each.token_start for each in entities if each.accepted is False}
        told = {each.token_start: f"{100 * each.confidence:.0f} %" for each in entities}
        return marked_html(tokens, sentence.spans, refused, told)
    marks = ["?" if sentence.is_refused(at, at + 1) else "" for at in range(len(sentence))]
    rows = zip(tokens, sentence.labels, marks, strict=True)
    return _line([token + _chip(label, mark) for token, label, mark in rows])


def text_html(text: str) -> str:
    """Text of a file as HTML; what would turn the rest of the line is shown and not obeyed."""
    return html.escape(printable(text, keep=LETTER_MARKS))


def marked_html(
    tokens: Sequence[str],
    spans: Iterable[Any],
    refused: Collection[int] = (),
    told: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """A line of tokens, which are HTML already, with entities marked.

    Args:
      spans: with ``type``, ``start`` and ``end``, in order.
      refused: first tokens of those that are not accepted.
      told: what stands behind the type, by the first token.
    """
    pieces: list[str] = []
    position = 0
    for span in spans:
        pieces += tokens[position : span.start]
        inside = " ".join(tokens[span.start : span.end])
        style, mark = (_REFUSED, "?") if span.start in refused else (_ENTITY, "")
        chip = _chip(span.type, f"{mark} {told.get(span.start, '')}".rstrip())
        pieces.append(f'<span style="{style}">{inside}{chip}</span>')
        position = span.end
    return _line([*pieces, *tokens[position:]])


def _line(pieces: Sequence[str]) -> str:
    return f'<div dir="auto" style="{_PAGE}">{" ".join(pieces)}</div>'


def sentences_html(sentences: Sequence[Any], most: int = 50) -> str:
    """A legend, then the sentences; of a long list the first ``most``."""
    accepts = any(sentence.accepted is not None for sentence in sentences)
    parts = [legend_html(accepts=accepts), *map(sentence_html, sentences[:most])]
    if len(sentences) > most:
        parts.append(f'<div style="{_LEGEND}">... and {len(sentences) - most:,} more</div>')
    return "\n".join(parts)


def texts_html(texts: Sequence[Sequence[Any]], most: int = 50) -> str:
    """A legend, then each text's sentences below its number; of all the first ``most``."""
    accepts = any(each.accepted is not None for sentences in texts for each in sentences)
    parts, left = [legend_html(accepts=accepts)], most
    for number, sentences in enumerate(texts):
        if not left:
            parts.append(f'<div style="{_LEGEND}">... and {len(texts) - number:,} more texts</div>')
            break
        parts.append(f'<div style="{_LEGEND}">text {number}</div>')
        parts += map(sentence_html, sentences[:left])
        left = max(0, left - len(sentences))
    return "\n".join(parts)


def legend_html(*, accepts: bool = False) -> str:
    """The legend of colours and marks; ``accepts``: of a run with a target precision."""
    pieces = [
        "uncertainty, nats:",
        *(f'<span style="{_TOKEN};{style}">&ge; {least:g}</span>' for least, style in STEPS),
        f'<span style="{_TOKEN};{_REFINED};margin-left:1em">token{_small("0.72")}</span> refined',
        f'<span style="{_ENTITY};margin-left:1em">entity{_chip("TYPE", " 90 %")}</span>',
    ]
    if accepts:
        refused = f'<span style="{_REFUSED}">entity{_chip("TYPE", "? 60 %")}</span>'
        pieces.append(f"{refused} not accepted")
    return f'<div style="{_LEGEND}">{" ".join(pieces)}</div>'


def _token(sentence: Any, index: int) -> str:
    nats, confidence = sentence.uncertainty[index], sentence.confidence[index]
    draft, label = sentence.draft_labels[index], sentence.labels[index]
    about = f"{label} | draft {draft} | {nats:.2f} nats | confidence {confidence:.2f}"
    styles = [_TOKEN, *[style for least, style in STEPS if nats >= least][-1:]]
    text = text_html(sentence.tokens[index])
    if sentence.refined[index]:
        styles.append(_REFINED)
        text += _small(f"{nats:.2f}", "" if draft == label else draft)
    return f'<span style="{";".join(styles)}" title="{html.escape(about)}">{text}</span>'


def _small(nats: str, draft: str = "") -> str:
    said = f", draft {_name(draft)}" if draft else ""
    return f'<span dir="ltr" style="{_SMALL}">{nats}{said}</span>'


def _chip(name: str, said: str) -> str:
    return f'<span dir="ltr" style="{_CHIP}">{_name(name)}{said}</span>'


def _name(text: str) -> str:
    """A type or label, which may be of any script."""
    return f"<bdi>{text_html(text)}</bdi>"
