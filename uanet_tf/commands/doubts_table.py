"""Labels in doubt for the terminal."""

import collections
from collections.abc import Sequence

from uanet_lite.printable import printable
from uanet_lite.tag_schemes import Span
from uanet_tf.evaluation.label_errors import KINDS, LabelDoubt
from uanet_tf.text.display_width import shorten

_AROUND = 5  # tokens shown on either side
_TOKEN_COLUMNS = 32


def doubts_table(doubts: Sequence[LabelDoubt], name: str, top: int) -> str:
    """The first places, two lines each: what the file says and what the tagger says, in context.

    Args:
      doubts: the surest first.
      name: of the file.
      top: most places to show.
    """
    counts = collections.Counter(doubt.kind for doubt in doubts)
    told = ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS if counts[kind])
    lines = [
        f"{len(doubts):,} places of {name} where file and tagger differ"
        + (f" (likeliest: {told})." if told else ".")
    ]
    if doubts and top:
        lines.append("rank  probability  line: in the file, then predicted")
    for rank, doubt in enumerate(doubts[:top], 1):
        texts = [_in_context(doubt, spans) for spans in (doubt.given, doubt.predicted)]
        lines += [
            f"{rank:4}  {doubt.given_probability:11.2g}  {doubt.sentence.line}: {texts[0]}",
            f"{'':4}  {doubt.predicted_probability:11.2g}  "
            f"{'':{len(str(doubt.sentence.line)) + 1}} {texts[1]}",
        ]
    return "\n".join(lines) + "\n"


def _in_context(doubt: LabelDoubt, spans: Sequence[Span]) -> str:
    """``He left [ORG Real Madrid] yesterday``: the stretch in doubt, its spans in brackets."""
    tokens = [shorten(token, _TOKEN_COLUMNS) for token in doubt.sentence.tokens]
    first, last = max(0, doubt.start - _AROUND), doubt.end + _AROUND
    pieces, position = (["..."] if first else []), first
    for span in spans:
        pieces += tokens[position : span.start]
        inside = " ".join(tokens[span.start : span.end])
        pieces.append(f"[{printable(span.type)} {inside}]")
        position = span.end
    pieces += tokens[position:last]
    return " ".join([*pieces, "..."] if last < len(tokens) else pieces)
