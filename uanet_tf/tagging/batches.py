"""Batches of a chunk of sentences: of like length, several at once, answers in place."""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from uanet_lite import answers, windows
from uanet_lite.row_multiple import ROW_MULTIPLE, round_up, row_multiple
from uanet_tf.tagging.parallel_batches import BatchThreads, computes_on_gpu


class Capacity(NamedTuple):
    """What keeps a kind of device busy."""

    # Most sentences, and tokens with padding, in a batch, unless the user says otherwise.
    batch_size: int
    batch_tokens: int
    # A batch of M = 8 samples that holds as many is full: beyond, padding costs more than a new
    # batch. One pass has an eighth of that work for each token: larger batches spend less of the
    # time on starting operations; beyond the second number nothing more is gained.
    full_tokens: int
    most_full_tokens: int
    chunk: int  # most sentences that are sorted by length and tagged together


PROCESSOR = Capacity(256, 4_096, 1_500, 4_000, 5_000)
# Starting operations takes most of the time of small batches, and answers for a chunk are made
# while the next is tagged.
GPU = Capacity(8_192, 16_384, 8_000, 12_000, 2_000)


def capacity_for(model: Any) -> Capacity:
    """That of the device on which a model computes."""
    return GPU if computes_on_gpu(model) else PROCESSOR


class Sizes(NamedTuple):
    """How batches are made, see ``tag_stream``; None: as suits the device."""

    batch_size: int | None
    batch_tokens: int | None
    fill_rows: bool = False
    window: int = 1  # in sentences, or passages of documents


class Limits(NamedTuple):
    """Of the batches of a chunk: most sentences, most tokens with padding."""

    sentences: int
    tokens: int
    full_tokens: int  # a batch that holds as many takes no shorter sentence
    fill_rows: bool = False


def limits_for(model: Any, sizes: Sizes, tokens: int, threads: int) -> Limits:
    """The limits with which a model tags a chunk of so many tokens, ``threads`` batches at once."""
    device = capacity_for(model)
    least = device.full_tokens
    full = min(device.most_full_tokens, max(least, 8 * least // model.num_passes))
    # As many batches as keep all threads busy to the end.
    batches = threads * -(-tokens // (threads * full))
    full = max(least, min(full, -(-tokens // batches)))
    # Long sentences: batches that run at once share the memory of one, as far as each stays full.
    asked = sizes.batch_tokens or device.batch_tokens
    most = min(asked, max(full, asked // threads))
    return Limits(sizes.batch_size or device.batch_size, most, full, sizes.fill_rows)


# Of each output; labels are positions.
_DTYPES = {name: np.dtype(tensor.kind.array) for name, tensor in answers.tensors().items()}

Answers = dict[str, np.ndarray]  # for all tokens of a chunk or batch, [N] or [N, C] each


class _Pieces(NamedTuple):
    """The rows of batches: each a sentence, or a window of one. All [P] int64."""

    start: np.ndarray  # position of the first token in the chunk
    length: np.ndarray  # tokens
    keep_start: np.ndarray  # the answers kept, counted from the start of the piece
    keep_end: np.ndarray

    def take(self, rows: np.ndarray) -> "_Pieces":
        return _Pieces(*(column[rows] for column in self))


def _cut_pieces(lengths: np.ndarray, max_tokens: int) -> _Pieces:
    """Cuts the sentences of a chunk, [S] lengths, into pieces of at most ``max_tokens``."""
    starts = np.cumsum(lengths) - lengths
    short, long = (lengths > 0) & (lengths <= max_tokens), lengths > max_tokens
    columns = [starts[short], lengths[short], np.zeros_like(lengths[short]), lengths[short]]
    rows = [
        (start + cut.start, *(edge - cut.start for edge in (cut.end, cut.keep_start, cut.keep_end)))
        for start, length in zip(starts[long], lengths[long], strict=True)
        for cut in windows.split(int(length), max_tokens)
    ]
    if rows:
        long_columns = np.array(rows, dtype=np.int64).T
        columns = [np.concatenate(pair) for pair in zip(columns, long_columns, strict=True)]
    return _Pieces(*columns)


def _batches(lengths: np.ndarray, limits: Limits) -> Iterator[np.ndarray]:
    """Yields the piece numbers of each batch, longest pieces first.

    A batch holds what ``limits`` allow, but at least one piece. Once it is full it takes no shorter
    piece, since that would have to be padded. With ``fill_rows`` there is a multiple of pieces in
    it, as long as there are pieces.
    """
    order = np.argsort(-lengths, kind="stable")
    lengths = lengths[order]
    start = 0
    while start < len(order):
        width = int(lengths[start])
        most = max(1, min(limits.sentences, limits.tokens // width))
        as_long = int(np.searchsorted(-lengths, -width, side="right")) - start
        count = max(as_long, -(-limits.full_tokens // width))
        if limits.fill_rows:
            multiple = row_multiple(width)
            count, most = round_up(count, multiple), max(multiple, most - most % multiple)
        count = min(most, count)
        yield order[start : start + count]
        start += count


def _document_batches(
    lengths: np.ndarray, documents: np.ndarray, limits: Limits
) -> Iterator[np.ndarray]:
    """As ``_batches``, of whole documents [P], in order; a larger one makes a batch by itself."""
    order = np.argsort(documents, kind="stable")
    ends = np.flatnonzero(np.diff(documents[order], append=-1)) + 1
    start = stop = 0
    for end in ends:
        part = lengths[order[start:end]]
        cells = len(part) * part.max()
        if stop > start and (len(part) > limits.sentences or cells > limits.tokens):
            yield order[start:stop]
            start, part = stop, lengths[order[stop:end]]
            cells = len(part) * part.max()
        stop = end
        if cells >= limits.full_tokens:
            yield order[start:stop]
            start = stop
    if stop > start:
        yield order[start:stop]


def begin_chunk(
    model: Any,
    chunk: list[Sequence[str]],
    lengths: np.ndarray,
    sizes: Sizes,
    threads: BatchThreads,
    documents: np.ndarray | None = None,
) -> Callable[[], Answers]:
    """Begins to run the model over a chunk; what it returns waits for the answers.

    Some sentences may have no tokens; if none has, there are no answers. ``documents`` [S] are the
    numbers of the sentences' documents, in ascending order, where the model reads them together. A
    window of a long sentence is a document by itself: it shares tokens with the next one, which are
    no other mentions of their words.
    """
    tokens = np.array(list(itertools.chain.from_iterable(chunk)), dtype=object)
    if not len(tokens):
        return dict
    pieces = _cut_pieces(lengths, model.max_tokens)
    if documents is not None:
        documents = np.repeat(documents, lengths)[pieces.start]  # [P]
        windows_from = np.count_nonzero((lengths > 0) & (lengths <= model.max_tokens))
        alone = np.arange(len(documents) - windows_from) + documents.max() + 1
        documents = np.concatenate([documents[:windows_from], alone])

    def run(rows: np.ndarray) -> tuple[np.ndarray, Answers]:
        """Positions of the tokens of a batch, [n], and the answers for them."""
        batch = pieces.take(rows)
        column = np.arange(batch.length.max())  # [T]
        position = batch.start[:, None] + column  # [B, T], in the chunk
        real = column < batch.length[:, None]  # [B, T]
        padded = np.full(real.shape, "", dtype=object)
        padded[real] = tokens[position[real]]
        given = [padded, batch.length.astype(np.int32)]
        if documents is not None:
            given.append(documents[rows].astype(np.int32))
        answer = _tag_filled(model, *given) if limits.fill_rows else model.tag_batch(*given)
        kept = (column >= batch.keep_start[:, None]) & (column < batch.keep_end[:, None])
        return position[kept], {name: answer[name][kept] for name in _DTYPES if name in answer}

    limits = limits_for(model, sizes, len(tokens), threads.count)
    if documents is None:
        batches = _batches(pieces.length, limits)
    else:
        batches = _document_batches(pieces.length, documents, limits)
    return functools.partial(_collected, threads.map(run, batches), len(tokens))


def _collected(batches: Iterable[tuple[np.ndarray, Answers]], count: int) -> Answers:
    """The answers of all batches, each at the positions of its tokens."""
    found: Answers = {}
    for target, answer in batches:
        for name, values in answer.items():
            shape = (count, *values.shape[1:])
            flat = found.setdefault(name, np.zeros(shape, dtype=_DTYPES[name]))
            flat[target] = values
    return found


def _tag_filled(
    model: Any, tokens: np.ndarray, lengths: np.ndarray, documents: np.ndarray | None = None
) -> Answers:
    """Tags a batch, [B, T] tokens, that is filled up to a multiple of rows, with its rows again."""
    rows, width = tokens.shape
    multiple = row_multiple(width)
    # The cells are a multiple of ROW_MULTIPLE in any case.
    column = np.arange(round_up(width, ROW_MULTIPLE // multiple))
    row = np.arange(round_up(rows, multiple)) % rows
    filled = np.full((len(row), len(column)), "", dtype=object)
    filled[:, :width] = tokens[row]
    given = [filled, lengths[row]]
    if documents is not None:
        # A copy belongs to no document, else its words would count twice there.
        copies = np.arange(len(row) - rows) + documents.max() + 1
        given.append(np.concatenate([documents, copies]).astype(np.int32))
    answer = model.tag_batch(*given)
    return {name: values[:rows, :width] for name, values in answer.items()}
