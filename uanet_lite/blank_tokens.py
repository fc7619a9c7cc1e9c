"""Tokens that are nothing but white space, as spaCy has them for a second blank or a line end.

Columns cannot hold them, and they carry no label of their own: a reader leaves them out.
"""

from collections.abc import Sequence

from uanet_lite.input_error import InputError
from uanet_lite.tag_schemes import OUTSIDE, split_label

_INSIDE, _END = "IM", "EL"
_SINGLE = {"E": "S", "L": "U"}  # of the schemes that have an end


def without_blank_tokens(
    tokens: Sequence[str], labels: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The other tokens and their labels: the same entities, whatever the scheme.

    An entity that begins (ends) with a token that is left out begins (ends) with its next one.
    """
    kept = [bool(token.strip()) for token in tokens]
    if all(kept):
        return tuple(tokens), tuple(labels)
    parts = [_split(label) for label in labels]
    _move_begins(parts, kept)
    _move_ends(parts, kept)
    joined = [
        label if part == _split(label) else "-".join(filter(None, part))
        for part, label in zip(parts, labels, strict=True)
    ]
    rest = [k for k, keep in enumerate(kept) if keep]
    return tuple(tokens[k] for k in rest), tuple(joined[k] for k in rest)


def _split(label: str) -> tuple[str, str]:
    try:
        return split_label(label)
    except InputError:  # no entity but a part of speech
        return OUTSIDE, ""


def _move_begins(parts: list[tuple[str, str]], kept: list[bool]) -> None:
    before = OUTSIDE, ""  # of the last token kept
    apart = False  # whether what was left out since is not of the same entity
    for k, keep in enumerate(kept):
        letter, kind = parts[k]
        if keep:
            # IOB1: two entities with something between them would become one.
            if apart and letter in _INSIDE and before[1] == kind and before[0] in "BIM":
                parts[k] = "B", kind
            before, apart = parts[k], False
            continue
        apart = apart or letter not in _INSIDE or kind != before[1]
        if letter != "B" or k + 1 == len(parts) or parts[k + 1][1] != kind:
            continue
        following = parts[k + 1][0]
        if following in _INSIDE:
            parts[k + 1] = "B", kind
        elif following in _END:
            parts[k + 1] = _SINGLE[following], kind


def _move_ends(parts: list[tuple[str, str]], kept: list[bool]) -> None:
    for k in range(len(kept) - 1, 0, -1):
        letter, kind = parts[k]
        if kept[k] or letter not in _END or parts[k - 1][1] != kind:
            continue
        if parts[k - 1][0] in _INSIDE:
            parts[k - 1] = letter, kind
        elif parts[k - 1][0] == "B":
            parts[k - 1] = _SINGLE[letter], kind
