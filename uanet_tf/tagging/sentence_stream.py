"""Tags sentences with a model: in the order given, in constant memory.

A stream is read in chunks. Inside a chunk sentences are sorted by length and tagged in
batches of like length, so that little is spent on padding, several batches at once;
everything but the calls of the model works on flat arrays over all tokens of the chunk, [N].
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from uanet_lite import answers, tag_schemes
from uanet_lite.tagged_sentence import TaggedSentence, TaggedSentences
from uanet_tf.errors import InputError
from uanet_tf.tagging.argument_checks import check_count, check_list, check_model
from uanet_tf.tagging.batch_sizes import Sizes
from uanet_tf.tagging.chunk import Answers, begin_chunk
from uanet_tf.tagging.parallel_batches import BatchThreads, one_ahead, threads_for

T = TypeVar("T")

BATCH_SIZE = 256
BATCH_TOKENS = 4096
WINDOW_SENTENCES = 10_000
_WINDOW_TOKENS = 500_000
_MAX_TOKEN_CHARS = 1_000


def tag(
    model: Any,
    sentences: Iterable[Sequence[str]],
    *,
    batch_size: int = BATCH_SIZE,
    batch_tokens: int = BATCH_TOKENS,
) -> TaggedSentences:
    """Tags sentences given as lists of words; ``uanet_tf.tag`` takes text as well.

    Args:
      model: a loaded model.
      sentences: lists of words; a sentence of any length is allowed.
      batch_size: most sentences in a batch.
      batch_tokens: most tokens in a batch, padding included; bounds memory.

    Returns:
      A list of one TaggedSentence for each sentence, in the order given.

    Raises:
      InputError: a sentence is empty, is one string instead of words, or holds something
        other than non-empty strings; names the position.

    Example:
      >>> uanet_tf.tag(model, [["Chelsea", "beat", "Real", "Madrid"]])
      [<TaggedSentence: [ORG Chelsea] beat [ORG Real Madrid]>]
    """
    stream = tag_stream(model, sentences, batch_size=batch_size, batch_tokens=batch_tokens)
    return TaggedSentences(stream)


def tag_stream(
    model: Any,
    sentences: Iterable[Sequence[str]],
    *,
    batch_size: int = BATCH_SIZE,
    batch_tokens: int = BATCH_TOKENS,
    window: int = WINDOW_SENTENCES,
    fill_rows: bool = False,
) -> Iterator[TaggedSentence]:
    """Like ``tag``, for a stream of any length: answers in order, in constant memory.

    Args:
      model: a loaded model.
      sentences: lists of words, read as needed.
      batch_size: most sentences in a batch.
      batch_tokens: most tokens in a batch, padding included.
      window: sentences that are read ahead; each half of them is sorted by length, and the second
        is tagged while the answers for the first are used. An option of the model that is changed
        meanwhile holds for batches that have not begun. 1 answers each sentence before the next
        is read.
      fill_rows: fill small batches up with copies, so that the scores of a sentence are the same
        to the last bit whatever else is tagged, where each batch runs on one thread, on processors
        with AVX-512 VNNI; on others a sixth digit may differ. A batch then has at least 16 rows,
        fewer only of long sentences: it costs time where few are tagged.

    Yields:
      One TaggedSentence for each sentence, in the order given.

    Raises:
      InputError: see ``tag``; wrong arguments at once, wrong sentences when they are reached.
    """
    if isinstance(sentences, str | bytes):
        raise InputError(
            "sentences must be a list of lists of words. "
            f"Received: one {type(sentences).__name__}, {sentences[:40]!r}"
        )
    check_model(model)
    check_list(sentences)
    return _stream(
        model, sentences, _make_sizes(batch_size, batch_tokens, window, fill_rows), window
    )


def tag_document_stream(
    model: Any,
    documents: Iterable[Sequence[Sequence[str]]],
    *,
    window: int = WINDOW_SENTENCES,
    **sizes: Any,
) -> Iterator[TaggedSentence]:
    """Like ``tag_stream``, for a model whose refiner reads documents.

    Args:
      model: a loaded model.
      documents: the sentences of each, read as needed; a document is in one batch.
      window: documents that are read ahead.
      **sizes: the other options of ``tag_stream``, as far as documents allow.

    Yields:
      One TaggedSentence for each sentence, in the order given.
    """
    return _document_stream(model, documents, _make_sizes(window=window, **sizes), window)


def _make_sizes(
    batch_size: int = BATCH_SIZE,
    batch_tokens: int = BATCH_TOKENS,
    window: int = WINDOW_SENTENCES,
    fill_rows: bool = False,
) -> Sizes:
    """The sizes of batches, checked.

    Raises:
      InputError: a number is no integer, or below 1.
    """
    numbers = {"batch_size": batch_size, "batch_tokens": batch_tokens, "window": window}
    for name, value in numbers.items():
        check_count(name, value)
    return Sizes(batch_size, batch_tokens, fill_rows)


def _stream(
    model: Any, sentences: Iterable[Sequence[str]], sizes: Sizes, window: int
) -> Iterator[TaggedSentence]:
    chunks = _chunks(map(_checked, sentences, itertools.count()), window, len)
    yield from _answers(model, ((chunk, None) for chunk in chunks), sizes, window)


def _document_stream(
    model: Any, documents: Iterable[Sequence[Sequence[str]]], sizes: Sizes, window: int
) -> Iterator[TaggedSentence]:
    number = itertools.count()
    checked = (
        [_checked(sentence, next(number)) for sentence in document] for document in documents
    )
    chunks = (
        (
            list(itertools.chain.from_iterable(chunk)),
            np.repeat(np.arange(len(chunk)), list(map(len, chunk))),
        )
        for chunk in _chunks(checked, window, lambda document: sum(map(len, document)))
    )
    yield from _answers(model, chunks, sizes, window)


def _answers(
    model: Any,
    chunks: Iterable[tuple[list[list[str]], np.ndarray | None]],
    sizes: Sizes,
    window: int,
) -> Iterator[TaggedSentence]:
    """Tags chunks of sentences, which may be in documents [S].

    Where the window has two chunks, the next one is read and queued before the answers of this
    one are given: they are used, and the one after is read, while the threads work.
    """
    with BatchThreads(threads_for(model)) as threads:

        def begin(part: tuple[list[list[str]], np.ndarray | None]) -> Iterator[TaggedSentence]:
            chunk, documents = part
            lengths = np.fromiter(map(len, chunk), dtype=np.int64, count=len(chunk))
            wait = begin_chunk(model, chunk, lengths, sizes, threads, documents)
            return _finish(model, chunk, lengths, wait)

        begun = map(begin, chunks)
        for sentences in one_ahead(begun) if window > 1 else begun:
            yield from sentences


def _finish(
    model: Any, chunk: list[list[str]], lengths: np.ndarray, wait: Callable[[], Answers]
) -> Iterator[TaggedSentence]:
    """The tagged sentences of a chunk, once its answers are there."""
    columns = answers.from_tensors(
        {
            name: _column(model, answers.tensors()[name], values, lengths)
            for name, values in wait().items()
        }
    )
    end = 0
    for tokens in chunk:
        start, end = end, end + len(tokens)
        fields = {name: values[start:end] for name, values in columns.items()}
        yield TaggedSentence(tokens, scheme=model.label_scheme, **fields)


def _checked(sentence: Sequence[str], index: int) -> list[str]:
    """Returns the sentence as a list, or raises InputError with its position."""
    if isinstance(sentence, str | bytes):
        raise InputError(
            f"sentences[{index}] must be a list of words. Received: one "
            f"{type(sentence).__name__}, {sentence[:40]!r}"
        )
    if isinstance(sentence, Mapping | set | frozenset):  # they have no order, or no words
        raise _no_list(sentence, index)
    try:
        tokens = list(sentence)
        text = "".join(tokens)
        text.encode()
    except (TypeError, UnicodeEncodeError):
        raise _bad_token(sentence, index) from None
    if not tokens:
        raise InputError(f"sentences[{index}] is empty: a sentence needs at least one word.")
    if "" in tokens or (len(text) > _MAX_TOKEN_CHARS and max(map(len, tokens)) > _MAX_TOKEN_CHARS):
        raise _bad_token(tokens, index)
    return tokens


def _no_list(sentence: Any, index: int) -> InputError:
    return InputError(f"sentences[{index}] must be a list of words. Received: {sentence!r:.60}")


def _bad_token(sentence: Any, index: int) -> InputError:
    """Describes the first bad token of a sentence."""
    if not isinstance(sentence, Iterable) or getattr(sentence, "shape", None) == ():
        return _no_list(sentence, index)
    for position, token in enumerate(sentence):
        name = f"sentences[{index}][{position}]"
        if not isinstance(token, str):
            return InputError(f"{name} must be a string. Received: {token!r:.60}")
        if not token:
            return InputError(f"{name} is an empty string: a word needs at least one character.")
        if len(token) > _MAX_TOKEN_CHARS:
            return InputError(
                f"{name} has {len(token):,} characters, the limit is {_MAX_TOKEN_CHARS:,}: "
                f"{token[:30]!r}..."
            )
        try:
            token.encode()
        except UnicodeEncodeError:
            return InputError(f"{name} is not valid Unicode text: {token!r:.60}")
    return InputError(f"sentences[{index}] must be a list of words, readable more than once.")


def _chunks(items: Iterable[T], window: int, tokens_of: Callable[[T], int]) -> Iterator[list[T]]:
    """Groups a stream into chunks of half a window, or fewer items if those are very long."""
    most, most_tokens = max(1, window // 2), _WINDOW_TOKENS // 2
    chunk: list[T] = []
    tokens = 0
    for item in items:
        chunk.append(item)
        tokens += tokens_of(item)
        if len(chunk) >= most or tokens >= most_tokens:
            yield chunk
            chunk, tokens = [], 0
    if chunk:
        yield chunk


def _column(model: Any, tensor: answers.Tensor, values: np.ndarray, lengths: np.ndarray) -> Any:
    """The values of an output for a chunk's tokens, [N], as a TaggedSentence has them.

    The model's sequences are valid in the user's scheme, but two windows of one sentence need
    not agree where they meet: such sentences are repaired.
    """
    if tensor.kind is not answers.LABEL:
        # An array of distributions stays one: as lists it would take ten times the memory.
        return values if tensor.axes[-1] == "class" else values.tolist()
    names = np.array(model.label_names, dtype=object)
    labels: list[Any] = names[values].tolist()
    if model.label_scheme is not None and values.ndim == 1:
        ends = np.cumsum(lengths)
        for sentence in np.flatnonzero(lengths > model.max_tokens):
            part = slice(ends[sentence] - lengths[sentence], ends[sentence])
            labels[part], _ = tag_schemes.repair(labels[part], model.label_scheme)
    return labels
