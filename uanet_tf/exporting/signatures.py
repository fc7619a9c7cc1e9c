"""The signatures of an exported model, as graph functions of dense tensors.

Every signature has the batch first and takes explicit ``lengths``: TF Serving pads requests with
the first element of each tensor, so padding cannot be told by its value. No name ends in
``_bytes``, which TF Serving's REST interface would encode in base64.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from uanet_lite.answers import ENTITY_SCORES
from uanet_lite.token_ids import FIRST_ID, PADDING_ID, UNKNOWN_ID
from uanet_tf.data.documents import MOST_PADDING
from uanet_tf.data.lookup import ONE_PIECE_TOKENS, check_width, look_up
from uanet_tf.models.labels import Chunks, OutputChunks
from uanet_tf.models.outputs import Tensors
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.masking import sequence_mask

DEFAULT = "serving_default"
# What `ids` can give instead of tokens; a representation that reads more has no such signature.
_ID_FEATURES = {"form_word_ids", "form_char_ids", "form_index", "lengths"}
TOKENS = tf.TensorSpec([None, None], tf.string, name="tokens")
_THRESHOLD = tf.TensorSpec([None], tf.float32, name="threshold")
LENGTHS = tf.TensorSpec([None], tf.int32, name="lengths")
TEXT = tf.TensorSpec([None], tf.string, name="text")
_PER_SENTENCE = "one value for each sentence"


class Signatures:
    """The signatures of a model with its options of now; they share one graph up to the answers."""

    def __init__(self, model: Tagger):
        self.model = model
        sentence = look_up(model.lookup, tf.constant([["a"]]), tf.constant([1]))
        self._features = {
            name: tf.TensorSpec([None] * values.shape.rank, values.dtype, name=name)
            for name, values in sentence.items()
        }

        # Made once and called by each signature: a graph is slow to make, and not small.
        @graph_function([self._features, _THRESHOLD])
        def answer(features: Tensors, threshold: tf.Tensor) -> Tensors:
            decision = model.decide(model.features(features), threshold)
            positions = model.answers.positions(decision, model.graph_options)
            named = model.answers.named(positions, decision.draft.mask)
            return {**named, POSITIONS: positions["labels"]}

        self._answer_features = answer

    def of_tokens(self) -> dict[str, Any]:
        """Signatures of sentences that are split into tokens, {name: tf.function}.

        B sentences, T tokens of the longest, W characters of the longest word.

        ``serving_default``: ``tokens`` [B, T] strings, ``lengths`` [B] int32 -> the model's
          outputs, see ``uanet_lite.answers``. "" and 0 at padding.
        ``with_threshold``: also ``threshold`` [B], Gamma of each sentence, nats; with a refiner.
        ``draft``: labels and uncertainty without the refiner; only with one.
        ``ids``: ``word_ids`` [B, T], ``char_ids`` [B, T, W], ``lengths`` [B], all int32, instead
          of tokens; left out for a representation that reads more than words and characters.
        ``document``: whole documents, see ``document_signature``; only where the refiner reads
          them. All others read each sentence by itself.
        """

        def draft(tokens: tf.Tensor, lengths: tf.Tensor) -> Tensors:
            checks = _check_rows(tokens, _PER_SENTENCE, lengths=lengths)
            with tf.control_dependencies(checks):
                inputs = {"tokens": tf.identity(tokens), "lengths": tf.identity(lengths)}
            draft = self.model.draft(self.model.features(inputs))
            answers = self.model.answers.draft_strings(draft, self.model.graph_options)
            return _as_wide(answers, tokens)

        signatures = self._gated(TOKENS, LENGTHS, answer=self._answer)
        if self.model.gate is not None:
            signatures["draft"] = _signature([TOKENS, LENGTHS], draft)
        if self.model.refiner_context == "document":
            signatures[DOCUMENT] = document_signature(self.model)
        if set(self._features) == _ID_FEATURES:
            signatures["ids"] = self._of_ids()
        return signatures

    def of_text(self, split: Callable[[tf.Tensor], tuple[tf.RaggedTensor, ...]]) -> dict[str, Any]:
        """The signatures of raw text, ``text`` [B] strings; ``split`` as ``split_text``.

        ``serving_default``: answers, padded to the longest text. Beside the outputs of
          ``serving_default`` of tokens: ``tokens`` [B, T] strings, ``starts`` and ``ends`` [B, T]
          int32, positions in the text in characters, and ``lengths`` [B] int32.
        ``with_threshold``: also ``threshold`` [B], as of tokens; only with a refiner.
        ``entities``: see ``entity_signature``; only where labels are chunks.
        """

        def answer(text: tf.Tensor, *threshold: tf.Tensor) -> Tensors:
            tokens, starts, ends = split(text)
            lengths = tf.cast(tokens.row_lengths(), tf.int32)
            padded = tokens.to_tensor("")  # [B, T]
            return {
                **self._answer(padded, lengths, *threshold),
                "tokens": padded,
                "starts": tf.cast(starts.to_tensor(0), tf.int32),
                "ends": tf.cast(ends.to_tensor(0), tf.int32),
                "lengths": lengths,
            }

        signatures = self._gated(TEXT, answer=answer)
        if self.model.candidates is not None:
            types = self.model.candidates.types
            signatures[ENTITIES] = entity_signature(self.model.label_names, answer, types)
        return signatures

    def _gated(self, *specs: tf.TensorSpec, answer: Callable[..., Tensors]) -> dict[str, Any]:
        """``serving_default``, and with a gate ``with_threshold``, of an answer to inputs."""
        signatures = {DEFAULT: _signature(specs, answer)}
        if self.model.gate is not None:
            signatures["with_threshold"] = _signature([*specs, _THRESHOLD], answer)
        return signatures

    def _answer(
        self, tokens: tf.Tensor, lengths: tf.Tensor, threshold: tf.Tensor | None = None
    ) -> Tensors:
        checks = _check_rows(tokens, _PER_SENTENCE, lengths=lengths)
        if threshold is not None:
            checks += _check_thresholds(tokens, threshold)
        with tf.control_dependencies(checks):
            tokens, lengths = tf.identity(tokens), tf.identity(lengths)
        features = look_up(self.model.lookup, tokens, lengths)
        return self._answer_as_wide(features, tokens, threshold)

    def _answer_as_wide(
        self, features: Tensors, batch: tf.Tensor, threshold: tf.Tensor | None = None
    ) -> Tensors:
        """Answers as wide as ``batch`` [B, T]: features have at least one column."""
        if threshold is None:
            gate = self.model.gate
            gamma = tf.zeros([]) if gate is None else tf.convert_to_tensor(gate.gamma)
            threshold = tf.fill(tf.shape(batch)[:1], gamma)
        return _as_wide(self._answer_features(features, threshold), batch)

    def _of_ids(self) -> Any:
        known_words = len(self.model.vocabulary.words) + FIRST_ID
        known_chars = len(self.model.vocabulary.chars) + FIRST_ID
        words = tf.TensorSpec([None, None], tf.int32, name="word_ids")
        chars = tf.TensorSpec([None, None, None], tf.int32, name="char_ids")

        def answer(word_ids: tf.Tensor, char_ids: tf.Tensor, lengths: tf.Tensor) -> Tensors:
            shapes = tf.debugging.assert_equal(
                tf.shape(char_ids)[:2], tf.shape(word_ids), "char_ids must be [B, T, W]."
            )
            rows = _check_rows(word_ids, _PER_SENTENCE, lengths=lengths)
            with tf.control_dependencies([shapes, check_width(word_ids), *rows]):
                features = id_features(word_ids, tf.identity(char_ids), tf.identity(lengths))
            checks = [
                *_check_ids(features["form_word_ids"], known_words, "word_ids"),
                *_check_ids(features["form_char_ids"], known_chars, "char_ids"),
            ]
            with tf.control_dependencies(checks):
                features = {name: tf.identity(values) for name, values in features.items()}
            return self._answer_as_wide(features, word_ids)

        return _signature([words, chars, LENGTHS], answer)


def _signature(specs: Sequence[tf.TensorSpec], answer: Callable[..., Tensors]) -> Any:
    """A graph function of inputs that are checked where it runs: clients may send anything.

    Unchecked, one without its first dimension fails somewhere, with a message about something else,
    and texts [B, N] for [B] would be tagged as B times N of them. The InvalidArgumentError names
    the input, its shape and the one expected.
    """

    @graph_function(list(specs))
    def signature(*inputs: tf.Tensor) -> Tensors:
        checked = (
            tf.ensure_shape(values, spec.shape, name=f"{spec.name}_of_declared_shape")
            for spec, values in zip(specs, inputs, strict=True)
        )
        return {name: each for name, each in answer(*checked).items() if name != POSITIONS}

    return signature


def _as_wide(answers: Tensors, batch: tf.Tensor) -> Tensors:
    width = tf.shape(batch)[1]
    return {name: values[:, :width] for name, values in answers.items()}


def id_features(word_ids: tf.Tensor, char_ids: tf.Tensor, lengths: tf.Tensor) -> Tensors:
    """Features of ids [B, T] and [B, T, W], 0 after a word's last character, and lengths [B].

    Every token is a form of its own. InvalidArgumentError: a length is negative, or beyond T.
    """
    width = tf.shape(word_ids)[1]
    tf.debugging.assert_less_equal(lengths, width, "A length is beyond the width of word_ids.")
    tf.debugging.assert_non_negative(lengths, "A length is negative.")
    # At least one column and one character, as where tokens are looked up.
    columns, letters = tf.maximum(0, 1 - width), tf.maximum(0, 1 - tf.shape(char_ids)[2])
    word_ids = tf.pad(word_ids, [[0, 0], [0, columns]])
    char_ids = tf.pad(char_ids, [[0, 0], [0, columns], [0, letters]])
    shape = tf.shape(word_ids)
    count = shape[0] * shape[1]
    mask = sequence_mask(lengths, shape[1])
    words = tf.reshape(tf.where(mask, word_ids, UNKNOWN_ID), [-1])
    chars = tf.where(tf.expand_dims(mask, -1), char_ids, PADDING_ID)
    chars = tf.reshape(chars, [count, tf.shape(char_ids)[2]])
    return {
        # A padding form comes first, so that an empty batch still has one.
        "form_word_ids": tf.pad(words, [[1, 0]], constant_values=UNKNOWN_ID),
        "form_char_ids": tf.pad(chars, [[1, 0], [0, 0]], constant_values=PADDING_ID),
        "form_index": tf.reshape(tf.range(1, count + 1), shape),
        "lengths": lengths,
    }


def _check_rows(batch: tf.Tensor, have: str, **columns: tf.Tensor) -> list[tf.Operation]:
    """One value per sentence: a single one would silently be spread over all."""
    return [
        tf.debugging.assert_equal(
            tf.shape(values)[0], tf.shape(batch)[0], f"{name} must have {have}."
        )
        for name, values in columns.items()
    ]


def _check_thresholds(batch: tf.Tensor, threshold: tf.Tensor) -> list[tf.Operation]:
    finite = tf.debugging.Assert(
        tf.reduce_all(tf.math.is_finite(threshold) & (threshold >= 0.0)),
        ["threshold must be a finite number of at least 0 nats. Received:", threshold],
    )
    return [finite, *_check_rows(batch, _PER_SENTENCE, threshold=threshold)]


def _check_ids(ids: tf.Tensor, known: int, name: str) -> list[tf.Operation]:
    """A wrong id fails in a lookup on a CPU, and silently reads zeros on a GPU."""
    return [
        tf.debugging.assert_non_negative(ids, f"{name} must not be negative."),
        tf.debugging.assert_less(ids, known, f"{name} must be below {known}."),
    ]


DOCUMENT = "document"
_SENTENCE_LENGTHS = tf.TensorSpec([None, None], tf.int32, name="sentence_lengths")
_SENTENCES = tf.TensorSpec([None], tf.int32, name="sentences")


def document_signature(model: Tagger) -> Any:
    """From documents to the model's outputs [B, N], each row by itself, as a tf.function.

    B documents, N tokens of the longest, S sentences of that with the most. ``tokens`` [B, N]
    strings, the sentences one after another; ``sentence_lengths`` [B, S] and ``sentences`` [B]
    int32, how many of these lengths count: a server fills rows up with any values. Sentences are
    padded to the longest: a request that this makes too large is refused.
    """

    def document(tokens: tf.Tensor, sentence_lengths: tf.Tensor, sentences: tf.Tensor) -> Tensors:
        with tf.control_dependencies(_checks(tokens, sentence_lengths, sentences)):
            is_sentence = sequence_mask(sentences, tf.shape(sentence_lengths)[1])  # [B, S]
        lengths = tf.where(is_sentence, sentence_lengths, 0)
        with tf.control_dependencies(_length_checks(tokens, lengths, is_sentence)):
            is_token = sequence_mask(tf.reduce_sum(lengths, axis=1), tf.shape(tokens)[1])  # [B, N]
        rows = tf.boolean_mask(lengths, is_sentence)  # [R]
        ragged = tf.RaggedTensor.from_row_lengths(tf.boolean_mask(tokens, is_token), rows)
        padded = ragged.to_tensor("")  # [R, T]
        numbers = tf.cast(tf.where(is_sentence)[:, 0], tf.int32)
        features = model.features({"tokens": padded, "lengths": rows, "document": numbers})
        answers = model.answers.strings(model.decide(features), model.graph_options)
        return {name: _unpadded(values, rows, is_token) for name, values in answers.items()}

    return _signature([TOKENS, _SENTENCE_LENGTHS, _SENTENCES], document)


def _unpadded(values: tf.Tensor, rows: tf.Tensor, is_token: tf.Tensor) -> tf.Tensor:
    """Values [R, T, ...] of sentences at the tokens [B, N] of documents; "" or 0 at padding."""
    flat = tf.boolean_mask(values, sequence_mask(rows, tf.shape(values)[1]))
    # Also where there is no sentence, and so no value to take a zero from.
    shape = tf.concat([[1], tf.shape(values)[2:]], axis=0)
    nothing = tf.fill(shape, tf.zeros([], values.dtype))
    numbers = tf.cumsum(tf.cast(tf.reshape(is_token, [-1]), tf.int32)) - 1
    places = tf.where(is_token, tf.reshape(numbers, tf.shape(is_token)), tf.shape(flat)[0])
    return tf.gather(tf.concat([flat, nothing], axis=0), places)


def _checks(tokens, sentence_lengths, sentences) -> list[tf.Operation]:
    columns = {"sentence_lengths": sentence_lengths, "sentences": sentences}
    width = tf.shape(sentence_lengths)[1]
    return [
        *_check_rows(tokens, "one row for each document", **columns),
        tf.debugging.assert_non_negative(sentences, "sentences must not be negative."),
        tf.debugging.assert_less_equal(
            sentences, width, "sentences is beyond the width of sentence_lengths."
        ),
    ]


def _length_checks(tokens, lengths, is_sentence) -> list[tf.Operation]:
    wide = tf.cast(lengths, tf.int64)  # sums of wrong lengths, too, are what they are
    rows = tf.math.count_nonzero(is_sentence)
    padded = rows * tf.reduce_max(tf.concat([tf.reshape(wide, [-1]), [0]], axis=0))
    most = MOST_PADDING * tf.maximum(tf.size(tokens, tf.int64), ONE_PIECE_TOKENS)
    return [
        tf.debugging.assert_non_negative(lengths, "A sentence length is negative."),
        tf.debugging.assert_less_equal(
            tf.reduce_sum(wide, axis=1),
            tf.shape(tokens, tf.int64)[1],
            "The sentences of a document are longer than its tokens.",
        ),
        tf.debugging.assert_less_equal(
            padded,
            most,
            "Too many tokens once all sentences are padded to the longest: split that one, or send "
            "fewer sentences with it.",
        ),
    ]


ENTITIES = "entities"
# Positions of labels among the output labels: an answer that only this signature reads.
POSITIONS = "label_positions"


def entity_signature(
    label_names: list[str], answer: Callable[[tf.Tensor], Tensors], types: Sequence[str] = ()
) -> Any:
    """From texts to entities, the attributes of ``uanet_tf.Entity``, as a tf.function.

    ``text`` [B] strings -> for the entities of each text from left to right, padded to the most, E,
    with "" and 0: ``text``, ``type`` [B, E] strings; ``start``, ``end`` [B, E] int32, characters of
    the text, and ``token_start``, ``token_end``; the scores of entities of ``uanet_lite.answers``
    [B, E]; ``count`` [B] int32. With ``return_candidates`` the same of candidates, of which a text
    has F at most: ``candidate_text``, ``candidate_probability``, ... [B, F];
    ``candidate_count`` [B].

    Args:
      label_names: output labels, in order.
      answer: from texts to answers for their tokens, with ``POSITIONS``.
      types: of candidates, see ``Candidates``.
    """
    find = OutputChunks(label_names)

    def entities(text: tf.Tensor) -> Tensors:
        answers = answer(text)
        mask = sequence_mask(answers["lengths"], tf.shape(answers["tokens"])[1])
        chunks = find(answers[POSITIONS], mask)
        found = {**_places(text, answers, chunks), **_scores(answers, chunks)}
        padded = _padded(found, chunks.counts)
        if "candidates" in answers:
            spans = _begun(answers["candidates"], types)
            scores = tf.gather_nd(answers["candidates"], tf.where(answers["candidates"] > 0.0))
            found = {**_places(text, answers, spans), "probability": scores}
            of_spans = _padded(found, spans.counts)
            padded |= {f"candidate_{name}": values for name, values in of_spans.items()}
        return padded

    return _signature([TEXT], entities)


class _Spans(NamedTuple):
    """S spans, sentence by sentence, from left to right: see ``Chunks``."""

    counts: tf.Tensor
    types: tf.Tensor
    first: tf.Tensor
    last: tf.Tensor


def _begun(candidates: tf.Tensor, types: Sequence[str]) -> _Spans:
    """The spans of probabilities [B, T, S] that are not 0."""
    places = tf.where(candidates > 0.0)  # [S, 3]
    row, token, number = tf.unstack(places, axis=-1)
    length, kind = number // len(types), number % len(types)
    return _Spans(
        counts=tf.math.count_nonzero(candidates > 0.0, axis=[1, 2]),
        types=tf.gather(tf.constant(types), kind),
        first=tf.stack([row, token], axis=-1),
        last=tf.stack([row, token + length], axis=-1),
    )


def _padded(found: Tensors, counts: tf.Tensor) -> Tensors:
    """Values [S] of each text's spans, side by side; ``count``."""
    padded = {
        name: tf.RaggedTensor.from_row_lengths(values, counts).to_tensor()
        for name, values in found.items()
    }
    return {**padded, "count": tf.cast(counts, tf.int32)}


def _places(text: tf.Tensor, answers: Tensors, chunks: Chunks | _Spans) -> Tensors:
    """Text, type and places of S entities, [S]."""
    start = tf.gather_nd(answers["starts"], chunks.first)
    end = tf.gather_nd(answers["ends"], chunks.last)
    source = tf.gather(text, chunks.first[:, 0])
    return {
        "text": tf.strings.substr(source, start, end - start, unit="UTF8_CHAR"),
        "type": chunks.types,
        "start": start,
        "end": end,
        "token_start": tf.cast(chunks.first[:, 1], tf.int32),
        "token_end": tf.cast(chunks.last[:, 1], tf.int32) + 1,
    }


def _scores(answers: Tensors, chunks: Chunks) -> Tensors:
    """Scores of S entities, [S], from those of their tokens."""
    scores = {}
    for answer in ENTITY_SCORES:
        if answer.name not in answers:
            continue
        values = tf.boolean_mask(answers[answer.name], chunks.inside)
        if answer.of_entity == "highest":
            scores[answer.name] = tf.math.segment_max(values, chunks.of_token)
        elif answer.of_entity == "lowest":
            scores[answer.name] = tf.math.segment_min(values, chunks.of_token)
        else:
            lowest = tf.math.segment_min(tf.cast(values, tf.int32), chunks.of_token)
            scores[answer.name] = lowest > 0
    return scores
