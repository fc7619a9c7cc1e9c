"""Answers worth looking at, in context: the surest wrong ones, the most doubtful right ones."""

import dataclasses
from collections.abc import Sequence

from uanet_lite import tag_schemes
from uanet_lite.tag_schemes import Span
from uanet_tf.metrics import scoring
from uanet_tf.tagging.sentence_html import sentence_html, text_html
from uanet_tf.tagging.tagged_sentence import TaggedSentence

_CONTEXT = 15  # tokens on each side


@dataclasses.dataclass(frozen=True)
class Example:
    """An answer: an entity, or a token where labels are no chunks.

    Attributes:
      sentence: its position in the file.
      span: its tokens and its type or label.
      confidence: probability that it is right.
      uncertainty: nats.
      right: whether the file has the same.
      gold: what the file has in its place, for people.
    """

    sentence: int
    span: Span
    confidence: float
    uncertainty: float
    right: bool
    gold: str


def find_examples(
    gold: scoring.Labels, tagged: Sequence[TaggedSentence], *, task: str
) -> list[Example]:
    """All answers with what the file has in their place."""
    found = []
    for index, (labels, sentence) in enumerate(zip(gold, tagged, strict=True)):
        truth = _spans(labels, task)
        for span, confidence, uncertainty in _answers(sentence):
            there = [each for each in truth if each.start < span.end and span.start < each.end]
            told = ", ".join(_told(each, sentence.tokens) for each in there) or "nothing"
            found.append(
                Example(index, span, confidence, uncertainty, span in there, told),
            )
    return found


def surest_wrong(examples: Sequence[Example], most: int) -> list[Example]:
    """Wrong answers, the highest confidence first, one of each sentence."""
    wrong = [each for each in examples if not each.right]
    return _one_of_each_sentence(sorted(wrong, key=lambda each: -each.confidence))[:most]


def most_doubtful_right(examples: Sequence[Example], most: int) -> list[Example]:
    """Right answers, the highest uncertainty first, one of each sentence."""
    right = [each for each in examples if each.right]
    return _one_of_each_sentence(sorted(right, key=lambda each: -each.uncertainty))[:most]


def _one_of_each_sentence(examples: Sequence[Example]) -> list[Example]:
    """The first of each: a list of names may hold a dozen."""
    first: dict[int, Example] = {}
    for example in examples:
        first.setdefault(example.sentence, example)
    return list(first.values())


def example_html(example: Example, tagged: Sequence[TaggedSentence]) -> str:
    """An answer with the tokens round it, coloured as in a notebook."""
    sentence, span = tagged[example.sentence], example.span
    given = _told(span, sentence.tokens)
    said = (
        f"Sentence {example.sentence + 1:,}: <bdi>{text_html(given)}</bdi>, "
        f"confidence {example.confidence:.2f}, {example.uncertainty:.2f} nats"
    )
    if not example.right:
        said += f". The file has: <bdi>{text_html(example.gold)}</bdi>"
    shown = sentence_html(_around(sentence, span))
    return f'<li><div class="said">{said}</div>{shown}</li>'


def _answers(sentence: TaggedSentence) -> list[tuple[Span, float, float]]:
    if sentence.scheme is None:
        return [
            (Span(label, place, place + 1), sentence.confidence[place], sentence.uncertainty[place])
            for place, label in enumerate(sentence.labels)
        ]
    return [
        (
            Span(entity.type, entity.token_start, entity.token_end),
            entity.confidence,
            entity.uncertainty,
        )
        for entity in sentence.entities
    ]


def _spans(labels: Sequence[str], task: str) -> list[Span]:
    if task == "pos":
        return [Span(label, place, place + 1) for place, label in enumerate(labels)]
    return tag_schemes.decode_spans(labels, tag_schemes.BIOES)


def _told(span: Span, tokens: Sequence[str]) -> str:
    return f"{' '.join(tokens[span.start : span.end])} ({span.type})"


def _around(sentence: TaggedSentence, span: Span) -> TaggedSentence:
    """The tokens near a span, as a sentence."""
    part = slice(max(0, span.start - _CONTEXT), span.end + _CONTEXT)
    lists = ("tokens", "labels", "draft_labels", "refined_labels", "uncertainty", "confidence")
    kept = {name: getattr(sentence, name)[part] for name in (*lists, "refined")}
    accepted = None if sentence.accepted is None else sentence.accepted[part]
    return TaggedSentence(**kept, scheme=sentence.scheme, accepted=accepted)
