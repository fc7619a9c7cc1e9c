"""Tags sentences with a model: each item with its answer, in the order given, in constant memory.

A stream is read in chunks. Inside a chunk sentences are sorted by length and tagged in
batches of like length, so that little is spent on padding, several batches at once;
everything but the calls of the model works on flat arrays over all tokens of the chunk, [N].
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from uanet_lite import answers, tag_schemes
from uanet_lite.argument_checks import check_count, check_language, check_list, check_stream
from uanet_lite.input_error import InputError
from uanet_lite.raw_text import LANGUAGE, sentences_of
from uanet_lite.rows import Row
from uanet_lite.sentence import NO_WORDS, Sentence, check_tokens, check_unicode, sentence_of
from uanet_lite.tagged_sentence import (
    BareSpans,
    LabelProbabilities,
    TaggedSentence,
    TaggedSentences,
    TaggedTexts,
)
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.data.documents import passages, the_sentence
from uanet_tf.tagging.batches import Answers, Sizes, begin_chunk, capacity_for
from uanet_tf.tagging.parallel_batches import BatchThreads, one_ahead, threads_for

T = TypeVar("T")
R = TypeVar("R", bound=Row)

WINDOW_SENTENCES = 10_000
_WINDOW_TOKENS = 500_000

# ------------------------------------------------------------------------ what users call


def tag(
    model: Any,
    sentences: str | Iterable[Any],
    *,
    split_sentences: bool = False,
    language: str = LANGUAGE,
    batch_size: int | None = None,
    batch_tokens: int | None = None,
) -> TaggedSentences | TaggedTexts:
    """Tags texts and sentences given as lists of words, in any mixture.

    ``uanet tag``, ``Client.tag``, the raw text model of a server and ``uanet_lite`` give the same
    answers.

    Args:
      model: a loaded model.
      sentences: texts and lists of words; one text counts as a list of one. Text is cut into tokens
        like the model's training data.
      split_sentences: split texts into sentences, which a model that reads documents reads
        together; else each text is one sentence.
      language: code of the language of texts, for splitting ("en", "de", ...).
      batch_size: most sentences in a batch; None: 256, on a GPU 8,192.
      batch_tokens: most tokens in a batch, padding included; bounds memory. None: 4,096, on a GPU
        16,384.

    Returns:
      A TaggedSentence for each text or list of words, in the order given, as ``TaggedSentences``.
      With ``split_sentences`` ``TaggedTexts``, the sentences of each; of one text its sentences.
      Both have ``entities``, ``to_dicts()`` and ``to_dataframe()``. Offsets of a text's entities
      count from its beginning. A text without words is a sentence without tokens; split, it has no
      sentences.

    Raises:
      InputError: no model; neither a text nor a list; a list of words is empty, or a word is not a
        string, or empty; names the position.

    Example:
      >>> uanet_tf.tag(model, ["Chelsea beat Real Madrid.", ["Nobody", "was", "surprised"]])
      [<TaggedSentence: [ORG Chelsea] beat [ORG Real Madrid] .>, <TaggedSentence: Nobody was ...>]
      >>> uanet_tf.tag(model, "Chelsea beat Real Madrid. Nobody was.", split_sentences=True)
      [<TaggedSentence: [ORG Chelsea] beat [ORG Real Madrid] .>, <TaggedSentence: Nobody was .>]
    """
    options: dict[str, Any] = {"batch_size": batch_size, "batch_tokens": batch_tokens}
    check_model(model)
    check_language(language)
    _make_sizes(**options)
    is_text = isinstance(sentences, str)
    if isinstance(sentences, str):
        check_unicode(sentences, "sentences")
    else:
        check_list(sentences)
    given = enumerate([sentences] if is_text else sentences)
    if not split_sentences:
        read = (_given(each, index, model.tokenizer) for index, each in given)
        return TaggedSentences(_answers(model, read, _make_sizes(**options)))
    rows = (
        Row(index, tuple(_given_parts(each, index, model.tokenizer, language)))
        for index, each in given
    )
    texts = TaggedTexts(TaggedSentences(tagged) for _, tagged in tag_rows(model, rows, **options))
    return texts[0] if is_text else texts


def tag_stream(
    model: Any,
    sentences: Iterable[str | Sequence[str]],
    *,
    batch_size: int | None = None,
    batch_tokens: int | None = None,
    window: int = WINDOW_SENTENCES,
    fill_rows: bool = False,
) -> Iterator[TaggedSentence]:
    """Like ``tag``, for a stream of any length: answers in order, in constant memory.

    Args:
      model: a loaded model.
      sentences: texts, each one sentence, and lists of words, read as needed; a sentence of any
        length is allowed.
      batch_size: see ``tag``.
      batch_tokens: see ``tag``.
      window: sentences that are read ahead, on a GPU at most 4,000; each half of them is sorted by
        length, and the second is tagged while the answers for the first are used. An option of
        the model that is changed meanwhile holds for batches that have not begun. 1 answers each
        sentence before the next is read.
      fill_rows: fill small batches up with copies, so that the scores of a sentence are the same
        to the last bit whatever else is tagged, where each batch runs on one thread, on processors
        with AVX-512 VNNI; on others a sixth digit may differ. A batch then has at least 16 rows,
        fewer only of long sentences: it costs time where few are tagged.

    Yields:
      One TaggedSentence for each sentence, in the order given.

    Raises:
      InputError: see ``tag``; wrong arguments at once, wrong sentences when they are reached.
    """
    check_model(model)
    check_stream(sentences)
    sizes = _make_sizes(batch_size, batch_tokens, window, fill_rows)
    read = (_given(each, index, model.tokenizer) for index, each in enumerate(sentences))
    return _answers(model, read, sizes)


def _answers(model: Any, sentences: Iterable[Sentence], sizes: Sizes) -> Iterator[TaggedSentence]:
    pairs = _tag(model, sentences, the_sentence, sizes, alone=True)
    return map(operator.itemgetter(1), pairs)


def check_model(model: Any) -> None:
    """Raises InputError where something else is given for a model, such as the path of a run."""
    if isinstance(model, type) or not callable(getattr(model, "tag_batch", None)):
        hint = " Its model is its attribute `model`." if hasattr(model, "model") else ""
        raise InputError(
            "model must be a loaded model, as uanet_tf.load_model gives it. "
            f"Received: {model!r:.60}.{hint}"
        )


def _given_parts(given: Any, index: int, tokenizer: Tokenizer, language: str) -> list[Sentence]:
    """The sentences of a text, or one of words; or an InputError with its position."""
    if isinstance(given, str):
        options: Any = {"split_sentences": True, "language": language}
        return sentences_of(given, f"sentences[{index}]", tokenizer, **options)
    return [_given(given, index, tokenizer)]


def _given(words: Any, index: int, tokenizer: Tokenizer) -> Sentence:
    """A sentence given as a text or a list of words, or an InputError with its position."""
    if isinstance(words, Sentence):  # as ``read`` gives them
        words = words.tokens
    if isinstance(words, str):
        return sentence_of(words, f"sentences[{index}]", tokenizer)
    # Bytes are no text, sets have no order, mappings no words.
    if isinstance(words, bytes | Mapping | set | frozenset) or getattr(words, "shape", None) == ():
        raise _no_list(words, index)
    try:
        tokens = list(words)
    except TypeError:
        raise _no_list(words, index) from None
    if not tokens:
        raise InputError(f"sentences[{index}] is empty: a sentence needs at least one word.")
    return Sentence(tokens)


def _no_list(words: Any, index: int) -> InputError:
    return InputError(
        f"sentences[{index}] must be a text or a list of words. Received: {words!r:.60}"
    )


# ------------------------------------------------------------------------ items with answers


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
    sentences = ((row, each) for row in rows for each in row.sentences or (NO_WORDS,))
    found: list[TaggedSentence] = []
    of_pair: Callable[[tuple[R, Sentence]], Sentence] = operator.itemgetter(1)
    for (row, _), tagged in tag_in_context(model, sentences, key=of_pair, alone=alone, **options):
        if row.sentences:
            found.append(tagged)
        if len(found) == len(row.sentences):
            yield row, found
            found = []


def tag_in_context(
    model: Any,
    items: Iterable[T],
    *,
    key: Callable[[T], Sentence] = the_sentence,
    alone: bool = False,
    **options: Any,
) -> Iterator[tuple[T, TaggedSentence]]:
    """Each item with the answer for its sentence, in order, in constant memory.

    Where the model was trained with ``--context=document``, it reads the sentences of a document
    together, as many as its ``max_tokens`` allow, and the answers are cut at the ends of sentences:
    an entity across such an end becomes one on either side. With ``--refiner_context=document`` its
    refiner reads what was drafted in the other sentences of such a passage.

    Args:
      model: a loaded model.
      items: sentences, or what holds them; read as needed.
      key: the sentence of an item, which may have no words.
      alone: read each sentence by itself nevertheless.
      **options: of ``tag_stream``; ``window`` counts passages.

    Raises:
      InputError: a wrong option, or a word that cannot be tagged, naming its position.
    """
    return _tag(model, items, key, _make_sizes(**options), alone=alone)


def _make_sizes(
    batch_size: int | None = None,
    batch_tokens: int | None = None,
    window: int = WINDOW_SENTENCES,
    fill_rows: bool = False,
) -> Sizes:
    """The sizes of batches, checked.

    Raises:
      InputError: a number is no integer, or below 1.
    """
    numbers = {"batch_size": batch_size, "batch_tokens": batch_tokens, "window": window}
    for name, value in numbers.items():
        if value is not None:
            check_count(name, value)
    return Sizes(batch_size, batch_tokens, fill_rows, window)


class _Text(NamedTuple):
    """What a model reads in one piece: a sentence, or the sentences of a passage.

    Attributes:
      items: whose sentences they are, in order.
      sentences: of the items.
      tokens: of all of them.
    """

    items: Sequence[Any]
    sentences: Sequence[Sentence]
    tokens: Sequence[str]


class _Chunk(NamedTuple):
    """Texts that are tagged at once.

    Attributes:
      texts: S of them.
      documents: [S], the number of each text's document, where a refiner reads documents.
    """

    texts: list[_Text]
    documents: np.ndarray | None


def _tag(
    model: Any, items: Iterable[T], key: Callable[[T], Sentence], sizes: Sizes, *, alone: bool
) -> Iterator[tuple[T, TaggedSentence]]:
    """Tags items in chunks.

    Where the window has two chunks, the next one is read and queued before the answers of this
    one are given: they are used, and the one after is read, while the threads work.
    """
    with BatchThreads(threads_for(model)) as threads:

        def begin(chunk: _Chunk) -> Iterator[tuple[T, TaggedSentence]]:
            lengths = np.fromiter((len(text.tokens) for text in chunk.texts), dtype=np.int64)
            tokens = [text.tokens for text in chunk.texts]
            wait = begin_chunk(model, tokens, lengths, sizes, threads, chunk.documents)
            return _finish(model, chunk.texts, lengths, wait)

        begun = map(begin, _chunks(model, items, key, sizes.window, alone))
        for pairs in one_ahead(begun) if sizes.window > 1 else begun:
            yield from pairs


def _chunks(
    model: Any, items: Iterable[T], key: Callable[[T], Sentence], window: int, alone: bool
) -> Iterator[_Chunk]:
    """Groups a stream into chunks of half a window, or fewer passages if those are very long."""
    refines_documents = model.refiner_context == "document" and not alone
    reads_documents = refines_documents or (model.context == "document" and not alone)
    most = max(1, min(window // 2, capacity_for(model).chunk))
    most_tokens = _WINDOW_TOKENS // 2
    size = model.max_tokens if reads_documents else 0
    texts: list[_Text] = []
    documents: list[int] = []
    tokens = number = count = 0
    for group in passages(items, size, padded=refines_documents, key=key):
        sentences = [key(item) for item in group]
        for sentence in sentences:
            check_tokens(sentence.tokens, f"sentences[{number}][", "]")
            tokens += len(sentence.tokens)
            number += 1
        if len(group) == 1:
            texts.append(_Text(group, sentences, sentences[0].tokens))
        elif refines_documents:
            pairs = zip(group, sentences, strict=True)
            texts += [_Text([item], [each], each.tokens) for item, each in pairs]
        else:
            joined = [token for sentence in sentences for token in sentence.tokens]
            texts.append(_Text(group, sentences, joined))
        if refines_documents:
            documents += [count] * len(group)
        count += 1
        if count >= most or tokens >= most_tokens:
            yield _Chunk(texts, np.array(documents) if refines_documents else None)
            texts, documents, tokens, count = [], [], 0, 0
    if texts:
        yield _Chunk(texts, np.array(documents) if refines_documents else None)


_OF_NO_TOKENS: dict[str, Any] = {each.name: [] for each in answers.answers(optional=False)}


def _finish(
    model: Any, texts: Sequence[_Text], lengths: np.ndarray, wait: Callable[[], Answers]
) -> Iterator[tuple[Any, TaggedSentence]]:
    """The items of a chunk with their tagged sentences, once the answers are there."""
    columns = _OF_NO_TOKENS | answers.from_tensors(
        {
            name: _column(model, answers.tensors()[name], values, lengths)
            for name, values in wait().items()
        }
    )
    scheme = model.label_scheme
    end = 0
    for text in texts:
        for item, sentence in zip(text.items, text.sentences, strict=True):
            start, end = end, end + len(sentence.tokens)
            fields = {name: values[start:end] for name, values in columns.items()}
            if len(text.items) > 1 and scheme is not None:
                for name in _LABELS:  # an entity may go on in the next sentence
                    fields[name], _ = tag_schemes.repair(fields[name], scheme)
            yield item, TaggedSentence.of(sentence, scheme, fields)


_LABELS = [each.name for each in answers.answers() if each.kind is answers.LABEL]


def _column(model: Any, tensor: answers.Tensor, values: np.ndarray, lengths: np.ndarray) -> Any:
    """The values of an output for a chunk's tokens, [N], as a TaggedSentence has them.

    The model's sequences are valid in the user's scheme, but two windows of one sentence need
    not agree where they meet: such sentences are repaired.
    """
    if tensor.kind is answers.SPANS:
        return _begun_spans(model.candidates.types, values)
    if tensor.kind is not answers.LABEL:
        if tensor.axes[-1] != "class":
            return values.tolist()
        # An array of distributions stays one: as lists it would take ten times the memory.
        return LabelProbabilities(values, model.labels_of_classes)
    names = np.array(model.label_names, dtype=object)
    labels: list[Any] = names[values].tolist()
    if model.label_scheme is not None and values.ndim == 1:
        ends = np.cumsum(lengths)
        for sentence in np.flatnonzero(lengths > model.max_tokens):
            part = slice(ends[sentence] - lengths[sentence], ends[sentence])
            labels[part], _ = tag_schemes.repair(labels[part], model.label_scheme)
    return labels


def _begun_spans(types: Sequence[str], values: np.ndarray) -> BareSpans:
    """The candidates that begin at each token, of their probabilities [N, S]."""
    tokens, numbers = np.nonzero(values)
    lengths, kinds = np.divmod(numbers, len(types))
    columns = tokens, kinds, lengths + 1, values[tokens, numbers]
    bounds = np.searchsorted(tokens, np.arange(len(values) + 1))
    return BareSpans(types, columns, bounds.tolist())
