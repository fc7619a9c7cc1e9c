"""What raw text costs: entity F1 on a file's tokens and on its detokenised text.

    python -m benchmarks.raw_text --run_dir=RUN --data=FILE
    python -m benchmarks.raw_text --train=FILE --data=FILE    # only what tokenizers find

Each sentence is written as normal text (``uanet_lite.tokenizer.detokenize``), cut by the run's
tokenizer and tagged. Entities are compared by their characters, so that a wrong cut counts where it
changes an entity. The second column has the tokens of the file, but with "@name" and "#topic" cut
as in the text: where a corpus cuts them now so, now so, by what they mean, its tokens tell the
labels. The second row leaves out entities in such words.
"""

import re
import sys
from collections.abc import Callable, Sequence

from benchmarks.command_line import make_parser

Place = tuple[int, int]
Entity = tuple[str, int, int]
_MARKED = re.compile(r"[@#]\w+")


def table(run_dir: str, data: str) -> str:
    """F1 of entities, percent, as Markdown.

    Args:
      run_dir: a trained run that labels chunks.
      data: labelled CoNLL file.
    """
    import uanet_tf
    from uanet_lite.columns_file import read_corpus
    from uanet_lite.tokenizer import detokenize

    model = uanet_tf.load_model(run_dir)
    sentences = read_corpus(data)
    texts = [detokenize(sentence.tokens) for sentence in sentences]
    cuts = [model.tokenizer.spans(text) for text, _ in texts]
    same_marks = [
        _marks_as_in(spans, places, text) for spans, (text, places) in zip(cuts, texts, strict=True)
    ]
    scheme = model.label_scheme
    gold = _all_entities([s.labels for s in sentences], [places for _, places in texts], scheme)
    tagged = uanet_tf.tag(model, [sentence.tokens for sentence in sentences])
    of_tokens = _all_entities([s.labels for s in tagged], [places for _, places in texts], scheme)

    def of_cuts(cuts: Sequence[Sequence[Place]]) -> list[set[Entity]]:
        words = [[text[a:b] for a, b in row] for (text, _), row in zip(texts, cuts, strict=True)]
        return _all_entities([s.labels for s in uanet_tf.tag(model, words)], cuts, scheme)

    given = (of_tokens, of_cuts(same_marks), of_cuts(cuts))

    def plain(number: int, entity: Entity) -> bool:
        text = texts[number][0]
        return not set("@#").intersection(text[max(0, entity[1] - 1) : entity[2]])

    found = sum(len(set(a).intersection(b)) for (_, a), b in zip(texts, cuts, strict=True))
    lines = [
        "| entities | F1, tokens | F1, tokens, @ and # as in text | F1, text | difference |",
        "| --- " * 5 + "|",
    ]
    for name, kept in (("all", lambda *_: True), ("without @ and #", plain)):
        scores = [_f1(gold, predicted, kept) for predicted in given]
        row = " | ".join(f"{score:.2f}" for score in scores)
        lines.append(f"| {name} | {row} | {scores[2] - scores[0]:+.2f} |")
    tokens = sum(len(sentence.tokens) for sentence in sentences)
    return "\n".join(
        [
            f"{100 * found / tokens:.2f} % of {tokens:,} tokens are found by the tokenizer "
            f"{model.tokenizer.kind}.",
            "",
            *lines,
        ]
    )


def tokenizers(train: str, data: str) -> str:
    """Which tokenizer a training file chooses, and what each finds of another file, as Markdown.

    Args:
      train: CoNLL file whose tokens decide, as in training.
      data: CoNLL file to cut.
    """
    from uanet_lite.columns_file import read_corpus
    from uanet_lite.tokenizer import KINDS, detokenize
    from uanet_tf.text.tokenizer_choice import choose_tokenizer, fitted_tokenizer

    corpus = read_corpus(train)
    rows = [s.tokens for s in corpus], [s.labels for s in corpus]
    chosen = choose_tokenizer(*rows).tokenizer.kind
    texts = [detokenize(sentence.tokens) for sentence in read_corpus(data)]
    count = sum(len(places) for _, places in texts)
    lines = ["| tokenizer | tokens found | chosen |", "| --- | --- | --- |"]
    for kind in KINDS:
        tokenizer = fitted_tokenizer(kind, *rows)
        found = sum(len(set(places).intersection(tokenizer.spans(text))) for text, places in texts)
        mark = "yes" if kind == chosen else ""
        lines.append(f"| {kind} | {100 * found / count:.2f} % of {count:,} | {mark} |")
    return "\n".join(lines)


def _marks_as_in(cuts: Sequence[Place], places: Sequence[Place | None], text: str) -> list[Place]:
    """The places of a file's tokens; those within "@name" and "#topic" are the text's."""
    kept = [place for place in places if place is not None]
    for match in _MARKED.finditer(text):
        start, end = match.span()
        if any(a < edge < b for edge in (start, end) for a, b in [*kept, *cuts]):
            continue  # part of a longer token in either
        inside = [place for place in cuts if start <= place[0] < end]
        kept = [place for place in kept if not start <= place[0] < end] + inside
    return sorted(kept)


def _all_entities(
    labels: Sequence[Sequence[str]], places: Sequence[Sequence[Place | None]], scheme: str
) -> list[set[Entity]]:
    return [_entities(*row, scheme) for row in zip(labels, places, strict=True)]


def _entities(labels: Sequence[str], places: Sequence[Place | None], scheme: str) -> set[Entity]:
    """Entities by their characters; one that ends in a full stop not written has no place."""
    from uanet_lite.tag_schemes import decode_spans

    entities = set()
    for span in decode_spans(labels, scheme):
        first, last = places[span.start], places[span.end - 1]
        if first is not None and last is not None:
            entities.add((span.type, first[0], last[1]))
    return entities


def _f1(
    gold: Sequence[set[Entity]],
    predicted: Sequence[set[Entity]],
    kept: Callable[[int, Entity], bool],
) -> float:
    right = total = 0
    for number, (expected, found) in enumerate(zip(gold, predicted, strict=True)):
        expected = {entity for entity in expected if kept(number, entity)}
        found = {entity for entity in found if kept(number, entity)}
        right += len(expected & found)
        total += len(expected) + len(found)
    return 200 * right / max(1, total)


def main() -> None:
    """Prints a table."""
    parser = make_parser("raw_text", __doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--run_dir")
    what.add_argument("--train", metavar="FILE")
    parser.add_argument("--data", required=True, metavar="FILE")
    given = parser.parse_args()
    run = (table, given.run_dir) if given.run_dir else (tokenizers, given.train)
    sys.stdout.write(run[0](run[1], given.data) + "\n")


if __name__ == "__main__":
    main()
