"""Labels in doubt as a page: given and predicted labels in context. It needs no network."""

import dataclasses
import html
from collections.abc import Sequence

from uanet_lite.sentence_html import legend_html, marked_html, sentence_html, text_html
from uanet_lite.tag_schemes import Span, decode_spans
from uanet_tf.evaluation.label_errors import LabelDoubt

MOST = 500  # places on a page
_AROUND = 25  # tokens shown on either side of a place
_STYLE = """
:root { color-scheme: light dark }
body { font-family: system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
ol { list-style: none; padding: 0 }
li { border-top: 1px solid #8888; padding: 0.6rem 0; break-inside: avoid }
h2 { font-size: 1rem; margin: 0 0 0.3rem }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: 0 0.6rem; margin: 0 }
dt { font-size: 0.85em; line-height: 2.5 }
dd { margin: 0; overflow-wrap: anywhere }
dd > div { display: inline }
mark { background: none; color: inherit; outline: 1.5px dashed currentColor; padding: 0 0.15em }
"""


def doubts_page(doubts: Sequence[LabelDoubt], name: str) -> str:
    """The page.

    Args:
      doubts: the surest first; the first ``MOST`` are shown.
      name: of the file.
    """
    title = f"Labels in doubt: {html.escape(name)}"
    shown = doubts[:MOST]
    said = f"{len(doubts):,} places where the file and a tagger that has not seen it differ"
    if len(shown) < len(doubts):
        said += f", the first {len(shown):,} of them"
    items = "\n".join(_item(rank, doubt) for rank, doubt in enumerate(shown, 1))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{title}</h1>
<p>{said}. Those where the tagger is surest that the file is wrong come first.
<mark>Dashed</mark>: the tokens in doubt.</p>
{legend_html()}
<ol>
{items}
</ol>
</body>
</html>
"""


def _item(rank: int, doubt: LabelDoubt) -> str:
    start = max(0, doubt.start - _AROUND)
    end = min(len(doubt.answer), doubt.end + _AROUND)
    lines = {"in the file": _given(doubt, start, end), "predicted": _predicted(doubt, start, end)}
    before, after = ("…" if cut else "" for cut in (start > 0, end < len(doubt.answer)))
    rows = "".join(
        f"<dt>{said}</dt><dd>{before}{line}{after}</dd>\n" for said, line in lines.items()
    )
    given, predicted = doubt.given_probability, doubt.predicted_probability
    return (
        f"<li>\n<h2>{rank}. {doubt.kind}, line {doubt.sentence.line}: probability of the label in "
        f"the file {given:.2g}, of the predicted one {predicted:.2g}</h2>\n<dl>\n{rows}</dl>\n</li>"
    )


def _given(doubt: LabelDoubt, start: int, end: int) -> str:
    tokens = [text_html(token) for token in doubt.sentence.tokens[start:end]]
    first, last = doubt.start - start, doubt.end - start
    tokens[first:last] = [f"<mark>{token}</mark>" for token in tokens[first:last]]
    scheme = doubt.answer.scheme
    spans = doubt.given if scheme is None else decode_spans(doubt.sentence.labels, scheme)
    return marked_html(tokens, _moved(spans, start, end))


def _predicted(doubt: LabelDoubt, start: int, end: int) -> str:
    answer = doubt.answer
    cut = {
        field.name: getattr(answer, field.name)[start:end]
        for field in dataclasses.fields(answer)
        if isinstance(getattr(answer, field.name), list)
    }
    # Whether an entity is accepted says nothing here, and the legend does not explain it.
    return sentence_html(
        dataclasses.replace(answer, **cut | {"accepted": None}, probabilities=None)
    )


def _moved(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    return [
        Span(span.type, max(span.start, start) - start, min(span.end, end) - start)
        for span in spans
        if span.end > start and span.start < end
    ]
