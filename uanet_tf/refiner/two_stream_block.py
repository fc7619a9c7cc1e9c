"""One block of the refiner: a word stream and a label stream (Eq. 7 and 8)."""

import tensorflow as tf

from uanet_tf.arguments import check_positive, check_rate
from uanet_tf.layers.attention_stream import AttentionStream
from uanet_tf.layers.relative_attention import QueryTokens, attend_in_parallel
from uanet_tf.layers.sentence_streams import SentenceStream, sentence_streams
from uanet_tf.ops.attention import position_heads, position_keys
from uanet_tf.ops.dropout import fold_in
from uanet_tf.ops.numerics import linear

# Consumers of the dropout seed.
_WORDS, _LABELS = range(2)


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class TwoStreamBlock(tf.keras.layers.Layer):
    """Attention of words to words and of words to draft labels, each with Add & Norm.

        H_x = stream_x(queries: words, keys: words,        added to: words)
        H_l = stream_l(queries: words, keys: draft labels, added to: label state)

    Each stream has weights of its own; both share W_kR for the distances. Queries of the label
    stream are words, never labels, and they are the words that the word stream reads, so both
    streams can be computed side by side.

    Args:
      num_heads: number of heads of each stream.
      head_width: width of each head.
      label_stream: whether the block has a label stream. Without it, it owns no weights for one.
      dropout: rate at which the outputs of attention and feed-forward layers are dropped.
      attention_dropout: rate at which attention weights are dropped.
      **kwargs: `name` and `dtype`.

    Call arguments:
      words: [B, T, W] floats, W = num_heads * head_width; with a `word_map`, [B, T, D].
      sinusoids: [2T, W] floats, R with a row for each distance from T - 1 down to -T.
      labels: [B, T, W] floats, the embedded draft labels, the same in each block; with a
        `label_map`, [B, T, C].
      word_map, label_map: a kernel [., W] and a bias [W], the linear map of `words` and
        `labels` that is read, or None. `word_map` only with `word_queries`.
      label_state: [B, T, W] floats, H_l of the block before, or [K, W] with
        `label_queries`. None, in the first block with a label stream: the words.
      mask: [B, T] booleans, True = token. None: no padding.
      dropout_seed: [2] int32 tensor, or None for no dropout.
      word_queries, label_queries: `QueryTokens`, K in number, of a stream; all tokens are keys.
        None: all tokens.

    Output shape:
      H_x and H_l, each [B, T, W] (or [K, W] of the query tokens); without a label stream
      `label_state` is returned as H_l.

    Example:

    >>> block = TwoStreamBlock(2, 8)
    >>> words, label_state = block(
    ...     tf.ones([3, 5, 16]), relative_sinusoid(5, 16), labels=tf.ones([3, 5, 16])
    ... )

    Reference:
      Gui et al., 2020, "Uncertainty-Aware Label Refinement for Sequence Labeling", Eq. 7 and 8.
    """

    def __init__(
        self,
        num_heads: int,
        head_width: int,
        *,
        label_stream: bool = True,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_heads = check_positive("num_heads", num_heads)
        self.head_width = check_positive("head_width", head_width)
        self.label_stream = label_stream
        self.dropout = check_rate("dropout", dropout)
        self.attention_dropout = check_rate("attention_dropout", attention_dropout)
        self.width = num_heads * head_width
        self.supports_masking = True
        self.word_attention = self._stream("word_attention")
        self.label_attention = (
            self._stream("label_attention", context_width=self.width) if label_stream else None
        )

    def _stream(self, name: str, context_width: int | None = None) -> AttentionStream:
        return AttentionStream(
            self.num_heads,
            self.head_width,
            context_width=context_width,
            dropout=self.dropout,
            attention_dropout=self.attention_dropout,
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, words_shape):
        self.position_kernel = self.add_weight(  # W_kR
            "position_kernel", [self.width, self.width], initializer="glorot_uniform"
        )
        for stream in (self.word_attention, self.label_attention):
            if stream is not None:
                with tf.name_scope(stream.name):
                    stream.build(words_shape)
        self.built = True

    def call(
        self,
        words,
        sinusoids,
        labels=None,
        word_map=None,
        label_map=None,
        label_state=None,
        mask=None,
        dropout_seed=None,
        word_queries=None,
        label_queries=None,
    ):
        asked_alike = word_queries is None or word_queries is label_queries
        if asked_alike and dropout_seed is None and _is_of_sentence(label_queries):
            word = SentenceStream(self.word_attention, words, word_map)
            label = None
            if self.label_attention is not None:
                label = SentenceStream(self.label_attention, labels, label_map, label_state)
            states = self._of_sentence(word, label, sinusoids, mask, word_queries, label_queries)
            return states[0], label_state if label is None else states[-1]
        positions = position_keys(self.position_kernel, sinusoids, tf.shape(words)[1])  # [W, 2T]
        word_seed, label_seed = fold_in(dropout_seed, _WORDS), fold_in(dropout_seed, _LABELS)
        if self.label_attention is not None and word_queries is None and label_queries is None:
            heads = [
                self.word_attention.project(words, dropout_seed=word_seed),
                self.label_attention.project(words, labels, label_map, label_seed),
            ]
            word_attended, label_attended = attend_in_parallel(heads, positions, mask)
            residual = words if label_state is None else label_state
            return (
                self.word_attention.add_attended(word_attended, words, word_seed),
                self.label_attention.add_attended(label_attended, residual, label_seed),
            )
        word_rows = _rows(words, word_map, word_queries)
        word_state = self.word_attention(
            word_rows,
            positions,
            context=None if word_queries is None else words,
            context_map=word_map,
            mask=mask,
            dropout_seed=word_seed,
            query_tokens=word_queries,
        )
        if self.label_attention is not None:
            label_rows = word_rows
            if label_queries is not word_queries:
                label_rows = _rows(words, word_map, label_queries)
            label_state = self.label_attention(
                label_rows,
                positions,
                residual=label_state,
                context=labels,
                context_map=label_map,
                mask=mask,
                dropout_seed=label_seed,
                query_tokens=label_queries,
            )
        return word_state, label_state

    def _of_sentence(self, word, label, sinusoids, mask, word_queries, label_queries):
        """The states of the word stream and, if there is one, of the label stream.

        The label stream's are those of the query tokens of one sentence, the word stream's too with
        `word_queries`.
        """
        length = label_queries.sentence_length
        streams = [label] if label is not None else []
        if word_queries is not None:
            streams = [word, *streams]
        states = []
        if word_queries is None:
            positions = position_keys(self.position_kernel, sinusoids, length)
            states.append(self.word_attention(word.context, positions, mask=mask))
        if streams:
            heads = position_heads(self.position_kernel, sinusoids, length, self.num_heads)
            words, word_map = word.context, word.context_map
            states += sentence_streams(streams, words, word_map, heads, label_queries, mask)
        return states

    def compute_output_shape(self, words_shape):
        shape = tf.TensorShape(words_shape)
        return shape, shape

    def compute_mask(self, inputs, mask=None):
        return mask, mask

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "head_width": self.head_width,
            "label_stream": self.label_stream,
            "dropout": self.dropout,
            "attention_dropout": self.attention_dropout,
        }


def _is_of_sentence(query_tokens: QueryTokens | None) -> bool:
    return query_tokens is not None and query_tokens.sentence_length is not None


def _rows(
    words: tf.Tensor,
    word_map: tuple[tf.Tensor, tf.Tensor] | None,
    query_tokens: QueryTokens | None,
) -> tf.Tensor:
    """What a stream has as queries: [K, W], or all words [B, T, W]."""
    if query_tokens is None:
        return words
    rows = query_tokens.rows(words)
    return rows if word_map is None else linear(rows, *word_map)
