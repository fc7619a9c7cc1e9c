"""A tagged sentence in the terminal: draft, uncertainty and final label of each token."""

import math
import os
from collections.abc import Mapping
from typing import TextIO

from uanet_lite.printable import printable
from uanet_lite.tag_schemes import OUTSIDE
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.text.display_width import display_width, pad, shorten

_RAMP = (178, 172, 208, 202, 196, 160)  # xterm colours, gold to red, legible on black and white
_BAR_CELLS = 8
_EIGHTHS = " ▏▎▍▌▋▊▉"
_MAX_TOKEN_COLUMNS = 32


def wants_color(stream: TextIO, environ: Mapping[str, str] | None = None) -> bool:
    """Whether to colour what goes to ``stream``: NO_COLOR, then FORCE_COLOR, then a terminal."""
    environ = os.environ if environ is None else environ
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") != "0":
        return True
    return stream.isatty() and environ.get("TERM") != "dumb"


def can_draw(stream: TextIO) -> bool:
    """Whether ``stream`` can encode block characters."""
    try:
        f"{_EIGHTHS}█·".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class SentencePrinter:
    """Renders tagged sentences: entities in one line, then a line for each token.

    A line has the draft label, its uncertainty, the confidence ("sure") and the final label. Tokens
    above the threshold carry a dot, and a colour from yellow to red as their uncertainty grows;
    labels that the refiner changed read ``B-LOC -> B-ORG``. What a run with a target precision does
    not accept has a question mark: ``[ORG? Chelsea]``. The bar is full at four times the threshold,
    Gamma in nats (None: there is no gate), and at no less than 1 nat. ``color`` writes ANSI
    colours, ``draw`` block characters instead of plain ASCII.
    """

    def __init__(self, threshold: float | None, *, color: bool = False, draw: bool = True) -> None:
        self.threshold = threshold
        scale = 4.0 * (threshold or 0.0)
        self.full = max(scale, 1.0) if math.isfinite(scale) else 1.0
        self.color, self.draw = color, draw

    def render(self, sentence: TaggedSentence) -> str:
        """Several lines, without a line end after the last."""
        tokens = [shorten(token, _MAX_TOKEN_COLUMNS) for token in sentence.tokens]
        if not self.draw:
            tokens = [token.replace("…", "~") for token in tokens]
        token_width = max(map(display_width, [*tokens, "token"]))
        drafts = map(printable, sentence.draft_labels)
        draft_width = max(map(display_width, [*drafts, "draft"]))
        head = f"    {pad('token', token_width)}  {pad('draft', draft_width)}  nats"
        head += f"{' ' * (_BAR_CELLS + 3)}sure  label"
        lines = ["  " + self._entities(sentence), "", self._style(head, "2")]
        for index, token in enumerate(tokens):
            lines.append(self._row(sentence, index, pad(token, token_width), draft_width))
        return "\n".join([*lines, self._style(f"    {self._summary(sentence)}", "2")])

    def _row(self, sentence: TaggedSentence, index: int, token: str, draft_width: int) -> str:
        nats = sentence.uncertainty[index]
        draft = printable(sentence.draft_labels[index])
        label = printable(sentence.labels[index])
        refined = sentence.refined[index]
        mark = ("●" if self.draw else "*") if refined else " "
        before = f"{mark} {token}  {pad(draft, draft_width)}  {nats:4.2f} {self._bar(nats)}"
        before += f"  {sentence.confidence[index]:4.2f}"
        after = f"{draft} -> {label}" if draft != label else label
        if label != OUTSIDE and sentence.is_refused(index, index + 1):
            after += "?"
        if refined:
            before = self._style(before, self._heat(nats))
            after = self._style(after, f"1;{self._heat(nats)}" if draft != label else "1")
        elif label == "O":
            after = self._style(after, "2")
        return f"  {before}  {after}"

    def _bar(self, nats: float) -> str:
        eighths = round(8 * _BAR_CELLS * min(1.0, nats / self.full))
        if not self.draw:
            return ("#" * round(eighths / 8)).ljust(_BAR_CELLS)
        return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()).ljust(_BAR_CELLS)

    def _heat(self, nats: float) -> str:
        """The ANSI colour of an uncertainty above the threshold."""
        low = self.threshold or 0.0
        share = (nats - low) / max(self.full - low, 1e-9)
        step = min(len(_RAMP) - 1, int(max(0.0, share) * len(_RAMP)))
        return f"38;5;{_RAMP[step]}"

    def _entities(self, sentence: TaggedSentence) -> str:
        """The sentence in one line, entities in brackets."""
        tokens = [shorten(token, _MAX_TOKEN_COLUMNS) for token in sentence.tokens]
        pieces, position = [], 0
        for span in sentence.spans:
            pieces += tokens[position : span.start]
            inside = " ".join(tokens[span.start : span.end])
            mark = "?" if sentence.is_refused(span.start, span.end) else ""
            name = self._style(f"[{printable(span.type)}{mark}", "36")
            pieces.append(f"{name} {self._style(inside, '1')}{self._style(']', '36')}")
            position = span.end
        return " ".join(pieces + tokens[position:])

    def _summary(self, sentence: TaggedSentence) -> str:
        words = "token" if len(sentence) == 1 else "tokens"
        parts = [f"{len(sentence)} {words}"]
        if self.threshold is not None:
            parts = [f"{sum(sentence.refined)} of {parts[0]} above {self.threshold:g} nats"]
            pairs = zip(sentence.draft_labels, sentence.labels, strict=True)
            changed = sum(draft != label for draft, label in pairs)
            parts.append(f"{changed} {'label' if changed == 1 else 'labels'} changed")
        spans = sentence.spans
        if spans and sentence.accepted is not None:
            accepted = sum(not sentence.is_refused(span.start, span.end) for span in spans)
            name = "entity" if len(spans) == 1 else "entities"
            parts.append(f"{accepted} of {len(spans)} {name} accepted")
        return (" · " if self.draw else " - ").join(parts)

    def _style(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text else text
