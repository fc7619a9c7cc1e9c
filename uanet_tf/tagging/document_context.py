"""Tags the sentences of documents with a model that reads documents, not single sentences."""

import collections
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from uanet_lite import answers, tag_schemes
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.data.documents import InDocument, passages
from uanet_tf.tagging.sentence_stream import tag_document_stream, tag_stream

S = TypeVar("S", bound=InDocument)


def tag_in_context(
    model: Any, sentences: Iterable[S], *, alone: bool = False, **options: Any
) -> Iterator[tuple[S, TaggedSentence]]:
    """Like ``tag_stream``, for sentences of files; each with its answer, in order.

    Where the model was trained with ``--context=document``, it reads the sentences of a document
    together, as many as its ``max_tokens`` allow, and the answers are cut at the ends of sentences:
    an entity across such an end becomes one on either side. With ``--refiner_context=document`` its
    refiner reads what was drafted in the other sentences of such a passage.

    Args:
      model: a loaded model.
      sentences: objects with ``tokens`` and ``new_document``, read as needed.
      alone: read each sentence by itself nevertheless.
      **options: of ``tag_stream``; ``window`` counts passages.
    """
    if model.refiner_context == "document" and not alone:
        yield from _tag_documents(model, sentences, options)
        return
    size = 0 if alone else _passage_tokens(model)
    waiting: collections.deque[list[S]] = collections.deque()  # read, and not answered yet

    def texts() -> Iterator[list[str]]:
        for passage in passages(sentences, size):
            waiting.append(passage)
            yield [token for sentence in passage for token in sentence.tokens]

    for answer in tag_stream(model, texts(), **options):
        passage = waiting.popleft()
        yield from zip(passage, _split(answer, passage), strict=True)


def _tag_documents(
    model: Any, sentences: Iterable[S], options: dict[str, Any]
) -> Iterator[tuple[S, TaggedSentence]]:
    """Sentences are drafted one by one; the refiner reads their documents."""
    waiting: collections.deque[S] = collections.deque()

    def documents() -> Iterator[list[Sequence[str]]]:
        for passage in passages(sentences, model.max_tokens, padded=True):
            waiting.extend(passage)
            yield [sentence.tokens for sentence in passage]

    for answer in tag_document_stream(model, documents(), **options):
        yield waiting.popleft(), answer


def _passage_tokens(model: Any) -> int:
    return model.max_tokens if model.context == "document" else 0


def _split(answer: TaggedSentence, passage: list[S]) -> Iterator[TaggedSentence]:
    """Cuts the answer for a passage into those for its sentences."""
    if len(passage) == 1:
        yield answer
        return
    end = 0
    for sentence in passage:
        start, end = end, end + len(sentence.tokens)
        part: dict[str, Any] = {}
        for row in answers.TOKEN_ANSWERS:
            values = getattr(answer, row.name)
            part[row.name] = None if values is None else values[start:end]
            if row.kind is answers.LABEL and answer.scheme is not None:
                part[row.name] = list(tag_schemes.repair(part[row.name], answer.scheme)[0])
        yield TaggedSentence(answer.tokens[start:end], scheme=answer.scheme, **part)
