"""One block of the refiner: a word stream and a label stream (Eq. 7 and 8)."""

import tensorflow as tf

from uanet_tf.arguments import KeepsArguments, check_positive, check_rate
from uanet_tf.layers.attention_stream import AttentionStream
from uanet_tf.layers.relative_attention import attend_streams, mapped
from uanet_tf.ops.attention import position_keys
from uanet_tf.ops.dropout import fold_in

# Consumers of the dropout seed.
_WORDS, _LABELS = range(2)


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class TwoStreamBlock(KeepsArguments, tf.keras.layers.Layer):
    """Attention of words to words and of words to draft labels, each with Add & Norm.

        H_x = stream_x(queries: words, keys: words,        added to: words)
        H_l = stream_l(queries: words, keys: draft labels, added to: label state)

    Each stream has weights of its own; both share W_kR for the distances. Queries of the label
    stream are words, never labels, and they are the words that the word stream reads, so both
    streams can be computed side by side.

    Args:
      num_heads, head_width: of each stream.
      label_stream: whether the block has a label stream. Without it, it owns no weights for one.
      dropout: rate at which the outputs of attention and feed-forward layers are dropped.
      attention_dropout: rate at which attention weights are dropped.

    Call arguments:
      words: [B, T, W] floats, W = num_heads * head_width, or `Mapped` to that width where only
        query tokens are wanted of the word stream.
      distances: R of the sentences, [., W].
      labels: [B, T, W] floats, the embedded draft labels, the same in each block, or `Mapped` to
        that width.
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
    ...     tf.ones([3, 5, 16]), relative_distances(5, 16), labels=tf.ones([3, 5, 16])
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
        distances,
        labels=None,
        label_state=None,
        mask=None,
        dropout_seed=None,
        word_queries=None,
        label_queries=None,
        lite=None,
    ):
        word_seed, label_seed = fold_in(dropout_seed, _WORDS), fold_in(dropout_seed, _LABELS)
        words = mapped(words)
        positions = position_keys(self.position_kernel, distances)  # W_kR R, [W, 2T]

        # Eq. 7: the words, or those of the query tokens, ask words and draft labels.
        word_rows = words.rows(word_queries)  # [B, T, W], or [K, W]
        asked = [self.word_attention.ask(word_rows, words, word_seed, word_queries)]
        if self.label_attention is not None:
            label_rows = word_rows
            if label_queries is not word_queries:
                label_rows = words.rows(label_queries)
            asked.append(self.label_attention.ask(label_rows, labels, label_seed, label_queries))
        attended = attend_streams(asked, positions, mask, lite)

        # Eq. 8, each stream by itself.
        word_state = self.word_attention.add_attended(attended[0], word_rows, word_seed)
        if self.label_attention is not None:
            residual = label_rows if label_state is None else label_state
            label_state = self.label_attention.add_attended(attended[1], residual, label_seed)
        return word_state, label_state

    def compute_mask(self, inputs, mask=None):
        return mask, mask
