"""A client of a server of taggers: TF Serving, or the local one."""

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple, Protocol

from uanet_lite import tag_schemes
from uanet_lite.answers import IN_GRAPHS, TOKEN_PLACES, Tensor, from_tensors, tensors
from uanet_lite.argument_checks import MAX_GAMMA, SENTENCES, check_count, check_language, check_list
from uanet_lite.raw_text import LANGUAGE, sentence_spans
from uanet_lite.sentence import check_unicode, sentence_of
from uanet_lite.tagged_sentence import TaggedSentence, TaggedSentences, TaggedTexts, by_item
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.errors import InputError
from uanet_tf.serving.retrying import RetryPolicy, ServingError

URL = "http://127.0.0.1:8501"
MODEL = "uanet"
BATCH_SIZE = 32
# Padding included: bounds the memory that a request takes on the server.
_BATCH_TOKENS = 4_000
_SIGNATURE, _THRESHOLD_SIGNATURE = "serving_default", "with_threshold"
_OUTPUTS = tensors(IN_GRAPHS, optional=False)
_PLACES = {place.name: tensor for place in TOKEN_PLACES for tensor in place.tensors}
_MAX_TIMEOUT = 1_000_000
# A text model joins some of these pieces to one token, and splits none.
_PIECE = re.compile(r"\w+|[^\w\s]")
# The request is wrong, not its address or the server.
_REFUSALS = (400, 413, "INVALID_ARGUMENT")

Sentence = str | Sequence[str]


class _Asked(NamedTuple):
    """A sentence of a request."""

    item: int  # number of the text or list of words that it is of
    given: str | list[str]  # its text, or its words
    source: str  # the whole text
    start: int  # its first character there
    threshold: float | None  # Gamma, nats; None: the model's own


class Transport(Protocol):
    """Calls one signature of one model."""

    def predict(self, model: str, signature: str, inputs: dict[str, list]) -> dict[str, list]:
        """Outputs by name, as nested lists."""

    def close(self) -> None:
        """Closes the connection."""


class Client:
    """Tags sentences on a server; may be used from several threads, and pickled.

    Args:
      url: "http://host:8501" or "https://..." for REST; "grpc://host:8500" or "grpcs://..." (TLS)
        for gRPC, which needs the package tensorflow-serving-api.
      model_name: the model of tokens.
      text_model_name: the model of raw text; default: ``model_name`` and "_text".
      batch_size: most sentences in a request; TF Serving refuses more than the max_batch_size of
        its batching parameters.
      timeout: seconds without a byte of the answer after which a try is given up; with gRPC,
        seconds to wait for the whole answer to one try.
      retries: how often and when to try again.
      scheme: tag scheme of the labels; "auto" detects it from those of each call; None: labels of
        single tokens.

    Raises:
      InputError: an argument is wrong.

    Example:
      >>> with Client("http://127.0.0.1:8501") as client:
      ...     for sentence in client.tag(["Riverton beat Marlow 2-1."]):
      ...         print(sentence.entities)
    """

    def __init__(
        self,
        url: str = URL,
        model_name: str = MODEL,
        *,
        text_model_name: str | None = None,
        batch_size: int = BATCH_SIZE,
        timeout: float = 60.0,
        retries: RetryPolicy | None = None,
        scheme: str | None = "auto",
    ) -> None:
        check_count("batch_size", batch_size)
        _check_timeout(timeout)
        for name, value in (("url", url), ("model_name", model_name)):
            if not isinstance(value, str):
                raise InputError(f"`{name}` must be a text. Received: {value!r:.60}")
        if retries is not None and not isinstance(retries, RetryPolicy):
            raise InputError(f"retries must be a RetryPolicy. Received: {retries!r:.60}")
        if scheme not in (None, "auto", *tag_schemes.SCHEMES):
            known = ", ".join(("auto", *tag_schemes.SCHEMES))
            raise InputError(f"scheme must be None or one of {known}. Received: {scheme!r}")
        self.model_name = model_name
        self.text_model_name = text_model_name or f"{model_name}_text"
        self._batch_size = batch_size
        self._retries = retries or RetryPolicy()
        self._scheme = scheme
        self._transport = _transport(url, timeout)

    def tag(
        self,
        sentences: str | Iterable[Sentence],
        *,
        threshold: float | Sequence[float] | None = None,
        split_sentences: bool = False,
        language: str = LANGUAGE,
    ) -> TaggedSentences | TaggedTexts:
        """Tags texts and lists of words, in any mixture, as ``uanet_tf.tag``.

        Args:
          sentences: texts and lists of words; one text counts as a list of one. Texts are cut into
            tokens on the server. Empty ones have empty answers. Either may be a NumPy array.
          threshold: Gamma in nats, for all texts and lists of words or one each; None: the model's
            own.
          split_sentences: split texts into sentences before they are sent; else each is one. The
            abbreviations that the model has from its training data are not known here.
          language: code of the language of texts, for splitting ("en", "de", ...).

        Returns:
          One TaggedSentence for each, in the order given. With ``split_sentences`` the sentences of
          each; of one text, its sentences.

        Raises:
          InputError: a sentence or threshold is wrong; names its position.
          ServingError: the server cannot be reached, or refuses.
        """
        check_language(language)
        items: Iterable[Any] = [sentences] if isinstance(sentences, str) else sentences
        if isinstance(sentences, bytes):
            raise InputError(f"sentences must be {SENTENCES}. Received: {sentences!r:.60}")
        check_list(items)
        given = [_checked(sentence, index) for index, sentence in enumerate(items)]
        asked = list(_asked(given, _thresholds(threshold, len(given)), split_sentences, language))
        answers = self._answers(asked)
        if not split_sentences:
            return TaggedSentences(answers)
        pairs = zip(asked, answers, strict=True)
        # A part of a text that has no word is no sentence of it.
        kept = ((part.item, each) for part, each in pairs if each.tokens or not part.source)
        texts = by_item(len(given), kept)
        return texts[0] if isinstance(sentences, str) else texts

    def _answers(self, asked: Sequence[_Asked]) -> list[TaggedSentence]:
        """The answers of the server, in the order of what it is asked."""
        raw: dict[int, dict[str, Any]] = {}
        sizes: tuple[dict[int, int], dict[int, int]] = {}, {}
        for number, (_, given, *_) in enumerate(asked):
            if isinstance(given, str):
                sizes[0][number] = max(1, sum(1 for _ in _PIECE.finditer(given)))
            else:
                sizes[1][number] = len(given)
        for ask, of_kind in zip((self._ask_text, self._ask_words), sizes, strict=True):
            for batch in self._batches(of_kind):
                parts = [asked[number] for number in batch]
                with _named([part.item for part in parts]):
                    raw.update(zip(batch, ask(parts), strict=True))
        scheme = self._scheme
        if scheme == "auto":
            scheme = tag_schemes.detect_scheme(answer["labels"] for answer in raw.values())
        return [TaggedSentence(**raw[number], scheme=scheme) for number in range(len(asked))]

    def close(self) -> None:
        """Closes the connection."""
        self._transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _batches(self, sizes: Mapping[int, int]) -> Iterator[list[int]]:
        """Positions of sentences of like length, which need little padding; ``sizes`` in tokens."""
        order = sorted(sizes, key=lambda index: -sizes[index])
        while order:
            longest = max(1, sizes[order[0]])
            count = min(self._batch_size, max(1, _BATCH_TOKENS // longest))
            yield order[:count]
            order = order[count:]

    def _ask_words(self, batch: Sequence[_Asked]) -> Iterator[dict[str, Any]]:
        rows = [list(part.given) for part in batch]
        width = max(1, *map(len, rows))
        inputs: dict[str, list] = {
            "tokens": [tokens + [""] * (width - len(tokens)) for tokens in rows],
            "lengths": [len(tokens) for tokens in rows],
        }
        given = self._predict(self.model_name, batch, inputs)
        outputs = _ours(given, inputs["lengths"], _OUTPUTS, self.model_name)
        for row, tokens in enumerate(rows):
            yield {"tokens": tokens, **from_tensors(_unpadded(outputs, row, len(tokens)))}

    def _ask_text(self, batch: Sequence[_Asked]) -> Iterator[dict[str, Any]]:
        texts = [part.given for part in batch]
        given = self._predict(self.text_model_name, batch, {"text": texts})
        lengths: Any = given.get("lengths")
        if not _is_output([lengths], [len(batch)], int, 2):
            raise _no_tagger(self.text_model_name, "lengths")
        outputs = _ours(given, lengths, {**_OUTPUTS, **_PLACES}, self.text_model_name)
        for row, part in enumerate(batch):
            values = _unpadded(outputs, row, lengths[row])
            places = {name: values[name] for name in _PLACES}
            for name in ("starts", "ends"):
                places[name] = [part.start + place for place in places[name]]
            yield {**from_tensors(values), **places, "source_text": part.source}

    def _predict(
        self, model: str, batch: Sequence[_Asked], inputs: dict[str, list]
    ) -> dict[str, Any]:
        signature, gammas = _SIGNATURE, [part.threshold for part in batch]
        if None not in gammas:
            signature, inputs["threshold"] = _THRESHOLD_SIGNATURE, gammas
        return self._retries.call(lambda: self._transport.predict(model, signature, inputs))


@contextlib.contextmanager
def _named(batch: list[int]) -> Iterator[None]:
    """Says which sentence it is that the server refuses, where it was alone in its request."""
    try:
        yield
    except ServingError as error:
        if len(batch) > 1 or error.status not in _REFUSALS:
            raise
        told = f"sentences[{batch[0]}]: {error}"
        raise ServingError(told, status=error.status, sentence=batch[0]) from error


def _asked(
    given: Sequence[str | list[str]],
    gammas: Sequence[float] | None,
    split_sentences: bool,
    language: str,
) -> Iterator[_Asked]:
    """What the server is asked of texts and lists of words."""
    for index, each in enumerate(given):
        gamma = None if gammas is None else gammas[index]
        if not isinstance(each, str):
            yield _Asked(index, each, "", 0, gamma)
            continue
        spans = sentence_spans(each, language) if split_sentences else [(0, len(each))]
        for start, end in spans:
            yield _Asked(index, each[start:end], each, start, gamma)


def _transport(url: str, timeout: float) -> Transport:
    scheme, _, address = url.partition("://")
    scheme = scheme.lower()
    if scheme in ("http", "https") and address:
        from uanet_tf.serving.rest_transport import RestTransport

        return RestTransport(url, timeout)
    if scheme in ("grpc", "grpcs") and address:
        from uanet_tf.serving.grpc_transport import GrpcTransport

        return GrpcTransport(address.rstrip("/"), timeout, secure=scheme == "grpcs")
    known = "http://, https://, grpc:// or grpcs://"
    raise InputError(f"`url` must start with {known}. Received: {url!r}")


def _ours(
    given: dict[str, Any], lengths: Sequence[int], outputs: Mapping[str, Tensor], model: str
) -> dict[str, list]:
    """The outputs that are read; ServingError if one is not there, or not as ours are."""
    optional = tensors(IN_GRAPHS, optional=True)
    wanted = {**outputs, **{name: optional[name] for name in optional if name in given}}
    for name, tensor in wanted.items():
        if not _is_output(given.get(name), lengths, tensor.kind.plain, len(tensor.axes)):
            raise _no_tagger(model, name)
    return {name: given[name] for name in wanted}


def _is_output(values: Any, lengths: Sequence[int], kind: type, axes: int) -> bool:
    """Whether an output has ``axes`` [B, T] or [B, T, K], and values of its kind for each token."""
    if not isinstance(values, list) or len(values) != len(lengths):
        return False
    cells: list[Any] = []
    for row, length in zip(values, lengths, strict=True):
        if not isinstance(row, list) or len(row) < length:
            return False
        cells += row
    if axes == 3:
        if not all(isinstance(cell, list) for cell in cells) or len(set(map(len, cells))) > 1:
            return False
        cells = [value for cell in cells for value in cell]
    return all(issubclass(found, kind) for found in set(map(type, cells)))


def _no_tagger(model: str, name: str) -> ServingError:
    return ServingError(f"The answer of {model} lacks {name}: it is no tagger of ours.")


def _unpadded(outputs: dict[str, list], row: int, length: int) -> dict[str, list]:
    """One sentence's part of the outputs, without padding."""
    return {name: values[row][:length] for name, values in outputs.items()}


def _check_timeout(timeout: float) -> None:
    if isinstance(timeout, bool) or not isinstance(timeout, Real):
        raise InputError(f"`timeout` must be a number of seconds. Received: {timeout!r:.60}")
    if not 0 < timeout <= _MAX_TIMEOUT:
        least = "more than 0" if not timeout > 0 else f"at most {_MAX_TIMEOUT:,}"
        raise InputError(f"`timeout` must be {least} seconds. Received: {timeout}")


def _checked(sentence: Any, index: int) -> str | list[str]:
    name = f"sentences[{index}]"
    if isinstance(sentence, str):
        check_unicode(sentence, name)
        return sentence
    return list(sentence_of(sentence, name, Tokenizer("whitespace")).tokens)


def _thresholds(threshold: float | Sequence[float] | None, count: int) -> list[float] | None:
    if threshold is None:
        return None
    given_one: Any = threshold
    if getattr(threshold, "ndim", None) == 0:  # an array, iterable in name only
        given_one = float(given_one)
    values = list(given_one) if isinstance(given_one, Iterable) else [given_one] * count
    if len(values) != count:
        raise InputError(
            f"`threshold` must be one number, or one for each of {count} sentences. "
            f"Received: {len(values)}"
        )
    for value in values:
        # Real: a float32 of NumPy is no float.
        if not (isinstance(value, Real) and 0 <= float(value) <= MAX_GAMMA):
            raise InputError(
                f"`threshold` must be a finite number of at least 0 nats. Received: {value!r:.60}"
            )
    return [float(value) for value in values]
