"""Tags with a TensorFlow Lite file."""

import collections
import os
import queue
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from uanet_lite import answers, windows
from uanet_lite.argument_checks import check_count, check_language, check_list, check_stream
from uanet_lite.input_error import InputError
from uanet_lite.interpreter import Run, make_runner
from uanet_lite.model_file import read_model_file
from uanet_lite.raw_text import LANGUAGE, sentences_of
from uanet_lite.sentence import Sentence, sentence_of
from uanet_lite.tag_schemes import repair
from uanet_lite.tagged_sentence import TaggedSentence, TaggedSentences, TaggedTexts, by_item
from uanet_lite.token_ids import TokenLookup

T = TypeVar("T")
Given = str | Sequence[str]  # a text, or words

_AHEAD = 4  # sentences queued for each thread, so that none waits


class Tagger:
    """A TensorFlow Lite file of ``export.py --tflite``; ``uanet_tf.tag`` takes it as a model.

    Several threads may use it at once; it keeps one interpreter for each, and all share the
    weights. Answers do not depend on the number of threads. It can be pickled, and sent to other
    processes: they read the file anew, or get ``content``.

    Args:
      threads: sentences that it works on at the same time.
      content: of the file, used in its place. Without it the file is mapped into memory, and must
        not be written to while the tagger is used.

    Attributes:
      settings: the file's settings.json.
      threshold: Gamma, nats; a part of the graph. None: the tagger has no gate.
      label_names: labels, in the scheme of the training file.
      label_scheme: their tag scheme; None for labels of single tokens.
      tokenizer: cuts texts like the training data.
      max_tokens: longest sentence that is read in one piece; a longer one is read in windows.
      optional_answers: the optional ones of ``answers`` that its sentences have in JSON.

    Raises:
      InputError: the file is missing, was not written by ``export.py --tflite``, or there is no
        runtime for it; or an argument is of another type, or ``threads`` below 1.

    Example:

    >>> tagger = Tagger("uanet.tflite", threads=2)
    >>> [sentence] = tagger.tag(["Riverton beat Marlow."])
    >>> sentence.entities[0].text
    'Riverton'
    """

    # What else ``uanet_tf.tag`` asks of a model.
    context = refiner_context = "sentence"
    thread_safe = False  # one batch after another: the threads share the sentences of each
    num_passes = 1  # larger batches gain nothing

    def __init__(
        self, path: str | os.PathLike[str], *, threads: int = 1, content: bytes | None = None
    ):
        if not isinstance(path, str | os.PathLike):
            raise InputError(f"path must be the path of a file. Received: {path!r:.60}")
        if content is not None and not isinstance(content, bytes):
            raise InputError(f"content must be bytes. Received: {content!r:.60}")
        check_count("threads", threads)
        self._open(path, int(threads), content)

    def _open(self, path: str | os.PathLike[str], threads: int, content: bytes | None) -> None:
        file = read_model_file(path, content)
        self.settings = file.settings
        gamma = file.settings["threshold"]
        self.threshold = None if gamma is None else float(gamma)
        self.label_names = file.labels
        self._names = np.array(file.labels, object)
        self.label_scheme: str | None = file.settings["label_scheme"]
        self.max_tokens: int = file.settings["max_tokens"]
        self.threads = threads
        self.tokenizer = file.tokenizer
        self._lookup = TokenLookup(
            file.words,
            file.chars,
            digits=file.settings["normalize_digits"],
            lowercase=file.settings["lowercase_words"],
            max_chars=file.settings["max_chars"],
        )
        self._path, self._content = path, content
        first = make_runner(path, content)
        self._runners: queue.SimpleQueue[Run] = queue.SimpleQueue()
        self._runners.put(first)
        tensors = answers.tensors(answers.IN_GRAPHS).values()
        self._outputs = [tensor for tensor in tensors if tensor.lite_name in first.outputs]
        self.optional_answers = tuple(
            answer.name
            for answer in answers.answers(answers.IN_TEXT, optional=True)
            if answer.tensors[0] in self._outputs
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self._path, "threads": self.threads, "content": self._content}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._open(**state)

    def tag(
        self,
        sentences: Given | Iterable[Given],
        *,
        split_sentences: bool = False,
        language: str = LANGUAGE,
    ) -> TaggedSentences | TaggedTexts:
        """Tags texts and lists of words, in any mixture, as ``uanet_tf.tag``.

        Args:
          sentences: one text counts as a list of one.
          split_sentences: split texts into sentences, which needs the package sentencex; else each
            is one.
          language: code of the language of texts, for splitting ("en", "de", ...).

        Returns:
          One TaggedSentence for each, in the order given. With ``split_sentences`` the sentences of
          each; of one text, its sentences.

        Raises:
          InputError: ``sentences`` is no text and no list, or the item at a position no sentence.
        """
        check_language(language)
        if isinstance(sentences, str):
            found = self.tag([sentences], split_sentences=split_sentences, language=language)
            return found[0] if isinstance(found, TaggedTexts) else found
        if not split_sentences:
            return TaggedSentences(self.tag_stream(sentences))
        check_list(sentences)
        options: Any = {"split_sentences": True, "language": language}
        texts = [
            sentences_of(given, f"sentences[{number}]", self.tokenizer, **options)
            for number, given in enumerate(sentences)
        ]
        items = ((number, each) for number, text in enumerate(texts) for each in text)
        return by_item(len(texts), self.tag_items(items))

    def tag_stream(self, sentences: Iterable[Given]) -> Iterator[TaggedSentence]:
        """Like ``tag``, for a stream of any length: answers in order, in constant memory.

        With one thread each sentence is answered before the next is read.

        Raises:
          InputError: see ``tag``; what is no list at once, a wrong sentence when it is reached.
        """
        check_stream(sentences)
        read = (
            (None, sentence_of(sentence, f"sentences[{index}]", self.tokenizer))
            for index, sentence in enumerate(sentences)
        )
        return (tagged for _, tagged in self.tag_items(read))

    def tag_items(self, items: Iterable[tuple[T, Sentence]]) -> Iterator[tuple[T, TaggedSentence]]:
        """Each item with the answer for its sentence, which may have no words, in order."""
        if self.threads == 1:
            for item, sentence in items:
                yield item, self._tag(sentence)
            return
        waiting: collections.deque[tuple[T, Future[TaggedSentence]]] = collections.deque()
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                for item, sentence in items:
                    waiting.append((item, pool.submit(self._tag, sentence)))
                    if len(waiting) == _AHEAD * self.threads:
                        item, future = waiting.popleft()
                        yield item, future.result()
                while waiting:
                    item, future = waiting.popleft()
                    yield item, future.result()
            finally:  # the reader went away
                for _, future in waiting:
                    future.cancel()

    def ids(self, tokens: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Word ids [N] and character ids [N, W] of N tokens, int32."""
        return self._lookup(tokens)

    def _tag(self, sentence: Sentence) -> TaggedSentence:
        tokens = list(sentence.tokens)
        parts: dict[answers.Tensor, list[np.ndarray]] = {tensor: [] for tensor in self._outputs}
        for window in windows.split(len(tokens), self.max_tokens) if tokens else []:
            inside = slice(window.keep_start - window.start, window.keep_end - window.start)
            outputs = self._run(tokens[window.start : window.end])
            for tensor, kept in parts.items():
                kept.append(outputs[tensor.lite_name][0, inside])
        values = {tensor.name: self._values(tensor.kind, kept) for tensor, kept in parts.items()}
        return TaggedSentence.of(sentence, self.label_scheme, answers.from_tensors(values))

    def tag_batch(self, tokens: np.ndarray, lengths: np.ndarray) -> dict[str, np.ndarray]:
        """Tags [B, T] padded tokens; labels are positions in ``label_names``, 0 at padding."""
        rows = [number for number, length in enumerate(lengths) if length]
        sentences = [tokens[row, : lengths[row]].tolist() for row in rows]
        if self.threads == 1:
            found = list(map(self._run, sentences))
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                found = list(pool.map(self._run, sentences))
        batch = {}
        for tensor in self._outputs if found else []:
            shape = [*tokens.shape, *found[0][tensor.lite_name].shape[2:]]
            batch[tensor.name] = np.zeros(shape, tensor.kind.array)
            for row, outputs in zip(rows, found, strict=True):
                batch[tensor.name][row, : lengths[row]] = outputs[tensor.lite_name][0]
        return batch

    def run(self, word_ids: np.ndarray, char_ids: np.ndarray) -> dict[str, np.ndarray]:
        """The graph's outputs for [1, T] word ids and [1, T, W] character ids.

        Raises:
          ValueError: the ids have another shape; the runtime would take the first row of several.
          InputError: an id does not exist, or the graph answers a label that has no name.
        """
        if word_ids.shape != (1, *word_ids.shape[1:2]) or char_ids.shape[:-1] != word_ids.shape:
            raise ValueError(
                "`word_ids` must be [1, T] and `char_ids` [1, T, W]. "
                f"Received: {list(word_ids.shape)} and {list(char_ids.shape)}"
            )
        try:
            run = self._runners.get_nowait()
        except queue.Empty:
            run = make_runner(self._path, self._content)
        try:
            outputs = run.call(word_ids, char_ids)
        finally:
            self._runners.put(run)
        for tensor in self._outputs:
            ids = outputs[tensor.lite_name]
            if tensor.kind is not answers.LABEL or not ids.size:
                continue
            if not 0 <= ids.min() <= ids.max() < len(self.label_names):
                raise InputError(
                    f"{self._path} is damaged: its graph answers the label {ids.max()}, and there "
                    f"are {len(self.label_names)}."
                )
        return outputs

    def _run(self, tokens: list[str]) -> dict[str, np.ndarray]:
        word_ids, char_ids = self._lookup(tokens)
        return self.run(word_ids[np.newaxis], char_ids[np.newaxis])

    def _values(self, kind: answers.Kind, parts: list[np.ndarray]) -> list[Any]:
        """A value for each token, of windows that follow one another; labels as names."""
        values = np.concatenate(parts) if parts else np.zeros(0, kind.array)
        if kind is not answers.LABEL:
            return values.tolist()
        labels = self._names[values].tolist()
        if self.label_scheme is not None and values.ndim == 1 and len(labels) > self.max_tokens:
            # Two windows of one sentence need not agree where they meet.
            return repair(labels, self.label_scheme)[0]
        return labels
