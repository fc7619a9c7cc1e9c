"""Tags sentences with a model: in the order given, in constant memory.

A stream is read in chunks. Inside a chunk sentences are sorted by length and tagged in
batches of like length, so that little is spent on padding, several batches at once;
everything but the calls of the model works on flat arrays over all tokens of the chunk, [N].
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from uanet_tf.data import tag_schemes
from uanet_tf.errors import InputError
from uanet_tf.row_multiple import ROW_MULTIPLE, round_up, row_multiple
from uanet_tf.tagging import windows
from uanet_tf.tagging.parallel_batches import ordered_map, threads_for
from uanet_tf.tagging.tagged_sentence import TaggedSentence, TaggedSentences

BATCH_SIZE = 256
BATCH_TOKENS = 4096
WINDOW_SENTENCES = 10_000
# A batch of this many tokens keeps the processor busy; beyond, padding costs more than a new batch.
_FULL_TOKENS = 1_500
_WINDOW_TOKENS = 500_000
_MAX_TOKEN_CHARS = 1_000
_DTYPES = {
    "labels": np.int32,
    "draft_labels": np.int32,
    "refined_labels": np.int32,
    "uncertainty": np.float32,
    "confidence": np.float32,
    "refined": np.bool_,
    "accepted": np.bool_,  # of a run with a target precision
    "probabilities": np.float32,  # where the model's option asks for them; [N, C]
}


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
      window: sentences that are read ahead and sorted by length; 1 answers each sentence
        before the next is read.
      fill_rows: fill small batches up with copies, so that the scores of a sentence are the same
        to the last bit whatever else is tagged, where each batch runs on one thread. A batch then
        has at least 16 rows, fewer only of long sentences: it costs time where few are tagged.

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
    sizes = {"batch_size": batch_size, "batch_tokens": batch_tokens, "window": window}
    for name, value in sizes.items():
        if value < 1:
            raise InputError(f"{name} must be at least 1. Received: {value}")
    return _stream(model, sentences, _Sizes(batch_size, batch_tokens, fill_rows), window)


class _Sizes(NamedTuple):
    """How batches are made, see ``tag_stream``."""

    batch_size: int
    batch_tokens: int
    fill_rows: bool


def _stream(
    model: Any, sentences: Iterable[Sequence[str]], sizes: _Sizes, window: int
) -> Iterator[TaggedSentence]:
    checked = map(_checked, sentences, itertools.count())
    for chunk in _chunks(checked, window):
        lengths = np.fromiter(map(len, chunk), dtype=np.int64, count=len(chunk))
        answers = _tag_chunk(model, chunk, lengths, sizes)
        labels = {
            name: _label_strings(model, answers[name], lengths)
            for name in ("labels", "draft_labels", "refined_labels")
        }
        yield from _sentences(chunk, labels, answers, model.label_scheme)


def _checked(sentence: Sequence[str], index: int) -> list[str]:
    """Returns the sentence as a list, or raises InputError with its position."""
    if isinstance(sentence, str | bytes):
        raise InputError(
            f"sentences[{index}] must be a list of words. Received: one "
            f"{type(sentence).__name__}, {sentence[:40]!r}"
        )
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


def _bad_token(sentence: Any, index: int) -> InputError:
    """Describes the first bad token of a sentence."""
    if not isinstance(sentence, Iterable):
        return InputError(f"sentences[{index}] must be a list of words. Received: {sentence!r}")
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


def _chunks(sentences: Iterator[list[str]], window: int) -> Iterator[list[list[str]]]:
    """Groups a stream into chunks of ``window`` sentences, or fewer if those are very long."""
    chunk: list[list[str]] = []
    tokens = 0
    for sentence in sentences:
        chunk.append(sentence)
        tokens += len(sentence)
        if len(chunk) >= window or tokens >= _WINDOW_TOKENS:
            yield chunk
            chunk, tokens = [], 0
    if chunk:
        yield chunk


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
    short = lengths <= max_tokens
    columns = [starts[short], lengths[short], np.zeros_like(lengths[short]), lengths[short]]
    rows = [
        (start + cut.start, *(edge - cut.start for edge in (cut.end, cut.keep_start, cut.keep_end)))
        for start, length in zip(starts[~short], lengths[~short], strict=True)
        for cut in windows.split(int(length), max_tokens)
    ]
    if rows:
        long_columns = np.array(rows, dtype=np.int64).T
        columns = [np.concatenate(pair) for pair in zip(columns, long_columns, strict=True)]
    return _Pieces(*columns)


def _batches(lengths: np.ndarray, sizes: _Sizes) -> Iterator[np.ndarray]:
    """Yields the piece numbers of each batch, longest pieces first.

    A batch holds at most ``batch_size`` pieces and ``batch_tokens`` tokens with padding, but
    at least one piece. Once it holds ``_FULL_TOKENS`` it takes no shorter piece, since that
    would have to be padded. With ``fill_rows`` there is a multiple of pieces in it, as long as
    there are pieces.
    """
    order = np.argsort(-lengths, kind="stable")
    lengths = lengths[order]
    start = 0
    while start < len(order):
        width = int(lengths[start])
        most = max(1, min(sizes.batch_size, sizes.batch_tokens // width))
        as_long = int(np.searchsorted(-lengths, -width, side="right")) - start
        count = max(as_long, -(-_FULL_TOKENS // width))
        if sizes.fill_rows:
            multiple = row_multiple(width)
            count, most = round_up(count, multiple), max(multiple, most - most % multiple)
        count = min(most, count)
        yield order[start : start + count]
        start += count


def _tag_chunk(
    model: Any, chunk: list[list[str]], lengths: np.ndarray, sizes: _Sizes
) -> dict[str, np.ndarray]:
    """Runs the model over a chunk; returns its answers for all tokens, [N] or [N, C] each."""
    tokens = np.array(list(itertools.chain.from_iterable(chunk)), dtype=object)
    answers: dict[str, np.ndarray] = {}
    pieces = _cut_pieces(lengths, model.max_tokens)

    def run(rows: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Positions of the tokens of a batch, [n], and the answers for them."""
        batch = pieces.take(rows)
        column = np.arange(batch.length.max())  # [T]
        position = batch.start[:, None] + column  # [B, T], in the chunk
        real = column < batch.length[:, None]  # [B, T]
        padded = np.full(real.shape, "", dtype=object)
        padded[real] = tokens[position[real]]
        row_lengths = batch.length.astype(np.int32)
        if sizes.fill_rows:
            answer = _tag_filled(model, padded, row_lengths)
        else:
            answer = model.tag_batch(padded, row_lengths)
        kept = (column >= batch.keep_start[:, None]) & (column < batch.keep_end[:, None])
        return position[kept], {name: answer[name][kept] for name in _DTYPES if name in answer}

    threads = threads_for(model)
    # Long sentences: batches that run at once share the memory of one, as far as each stays full.
    share = max(_FULL_TOKENS, sizes.batch_tokens // threads)
    batches = _batches(pieces.length, sizes._replace(batch_tokens=min(sizes.batch_tokens, share)))
    for target, answer in ordered_map(run, batches, threads):
        for name, values in answer.items():
            shape = (len(tokens), *values.shape[1:])
            flat = answers.setdefault(name, np.zeros(shape, dtype=_DTYPES[name]))
            flat[target] = values
    return answers


def _tag_filled(model: Any, tokens: np.ndarray, lengths: np.ndarray) -> dict[str, np.ndarray]:
    """Tags a batch, [B, T] tokens, that is filled up to a multiple of rows, with its rows again."""
    rows, width = tokens.shape
    multiple = row_multiple(width)
    # The cells are a multiple of ROW_MULTIPLE in any case.
    column = np.arange(round_up(width, ROW_MULTIPLE // multiple))
    row = np.arange(round_up(rows, multiple)) % rows
    filled = np.full((len(row), len(column)), "", dtype=object)
    filled[:, :width] = tokens[row]
    answer = model.tag_batch(filled, lengths[row])
    return {name: values[:rows, :width] for name, values in answer.items()}


def _label_strings(model: Any, positions: np.ndarray, lengths: np.ndarray) -> list[str]:
    """The labels of a chunk as strings, [N].

    The model's sequences are valid in the user's scheme, but two windows of one sentence need
    not agree where they meet: such sentences are repaired.
    """
    names = np.array(model.label_names, dtype=object)
    labels: list[str] = names[positions].tolist()
    if model.label_scheme is not None:
        ends = np.cumsum(lengths)
        for sentence in np.flatnonzero(lengths > model.max_tokens):
            part = slice(ends[sentence] - lengths[sentence], ends[sentence])
            labels[part], _ = tag_schemes.repair(labels[part], model.label_scheme)
    return labels


def _sentences(
    chunk: list[list[str]],
    labels: dict[str, list[str]],
    answers: dict[str, np.ndarray],
    scheme: str | None,
) -> Iterator[TaggedSentence]:
    """Cuts the flat answers of a chunk into sentences."""
    uncertainty, confidence, refined = (
        answers[name].tolist() for name in ("uncertainty", "confidence", "refined")
    )
    accepted = answers["accepted"].tolist() if "accepted" in answers else None
    probabilities = answers.get("probabilities")
    end = 0
    for tokens in chunk:
        start, end = end, end + len(tokens)
        yield TaggedSentence(
            tokens,
            labels["labels"][start:end],
            labels["draft_labels"][start:end],
            labels["refined_labels"][start:end],
            uncertainty[start:end],
            confidence[start:end],
            refined[start:end],
            scheme,
            accepted=None if accepted is None else accepted[start:end],
            probabilities=None if probabilities is None else probabilities[start:end],
        )
