"""Tags rows, the user's units of input, which have any number of sentences."""

import collections
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from uanet_lite.sentence import Sentence
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.tagging.document_context import tag_in_context


class Row(Protocol):
    """A unit of input that gets one answer."""

    @property
    def sentences(self) -> Sequence[Sentence]:
        """Any number of sentences."""


R = TypeVar("R", bound=Row)


def tag_rows(
    model: Any, rows: Iterable[R], *, alone: bool = False, **options: Any
) -> Iterator[tuple[R, list[TaggedSentence]]]:
    """Each row with the answers for its sentences, in order, in constant memory.

    Args:
      model: a loaded model.
      rows: read as needed; a row without sentences is returned too, without answers.
      alone: read each sentence by itself, whatever the model was trained with.
      **options: of ``tag_stream``.
    """
    waiting: collections.deque[R] = collections.deque()

    def sentences() -> Iterator[Sentence]:
        for row in rows:
            waiting.append(row)
            yield from row.sentences

    answers: list[TaggedSentence] = []
    for sentence, answer in tag_in_context(model, sentences(), alone=alone, **options):
        while not waiting[0].sentences:
            yield waiting.popleft(), []
        row = waiting[0]
        answers.append(_placed(answer, sentence))
        if len(answers) == len(row.sentences):
            yield waiting.popleft(), answers
            answers = []
    while waiting:
        yield waiting.popleft(), []


def _placed(answer: TaggedSentence, sentence: Sentence) -> TaggedSentence:
    """The answer with the places of its tokens in the row's text."""
    if sentence.text is None:
        return answer
    return dataclasses.replace(
        answer, text=sentence.text, starts=list(sentence.starts), ends=list(sentence.ends)
    )
