"""The refiner of UANet: words and draft labels to refined label scores."""

from typing import Any

import tensorflow as tf

from uanet_tf.arguments import KeepsArguments, check_choice, check_positive, check_rate
from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.layers.relative_attention import Mapped
from uanet_tf.ops.attention import relative_distances
from uanet_tf.ops.dropout import dropout, fold_in
from uanet_tf.ops.numerics import add_linear, linear
from uanet_tf.refiner.two_stream_block import TwoStreamBlock

# Consumers of the dropout seed.
_WORDS, _LABELS, _STATES, _BLOCKS = range(4)  # and from the last on, one for each block


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class TwoStreamRefiner(KeepsArguments, tf.keras.layers.Layer):
    """Refines draft labels by attention to all words and to all draft labels at once.

        H_x = W_x words + b_x,    L = W_l (p . E_label) + b_l
        H_x, H_l = block(H_x, L, H_l)        for each block
        logits = W [H_x; H_l] + b

    The queries of a block's label stream are that block's words. The keys and values are the
    draft labels L in every block. Where every block has a label stream, H_l is carried: the first
    block adds its attention to what `label_residual` names, each further block to the H_l of the
    block before. With one block, "all" and "last" are the same.

    The draft label of a token reaches its own logits in two ways: as a residual
    (`label_residual="labels"`), and through the attention of the token to itself.

    No gradient passes to the draft probabilities: the drafter learns from its own loss only.

    Args:
      num_classes, num_layers: C, the number of labels, and that of blocks.
      num_heads, head_width: of each stream. W = num_heads * head_width is the refiner's width.
      label_width: width of the label embeddings. Default: W.
      dropout: rate at which the projected inputs, the outputs of attention and feed-forward
        layers and the inputs of the final layer are dropped.
      attention_dropout: rate at which attention weights are dropped.
      label_layers: "all": each block has a label stream; "last": only the last one.
      label_input: how a draft enters: "expected": its mean label embedding p . E_label;
        "argmax": the embedding of its most probable label; "none": not at all, so that the
        refiner has a word stream only.
      label_residual: what the first label stream adds its attention to: "labels": the draft
        labels L (Eq. 8); "words": H_x; "none": nothing.

    Call arguments:
      words: [B, T, D] floats.
      draft_probabilities: [B, T, C] floats. Not read, and may be None, where `label_input` is
        "none".
      mask: [B, T] booleans, True = token. None: no padding.
      dropout_seed: [2] int32 tensor, or None for no dropout.
      query_tokens: `QueryTokens`, the K tokens whose labels are wanted. Only they are queries in
        the label streams, which no other token reads, and in the word stream of the last block;
        all tokens are keys. None: all tokens.

    Output shape:
      [B, T, C] or [K, C], logits. Those at padding have no meaning, but are finite.

    Example:

    >>> refiner = TwoStreamRefiner(num_classes=9, num_heads=2, head_width=8)
    >>> words, draft = tf.ones([3, 5, 20]), tf.fill([3, 5, 9], 1 / 9)
    >>> refiner(words, draft, mask=tf.sequence_mask([5, 2, 4])).shape
    TensorShape([3, 5, 9])

    Reference:
      Gui et al., 2020, "Uncertainty-Aware Label Refinement for Sequence Labeling".
    """

    def __init__(
        self,
        num_classes: int,
        *,
        num_layers: int = 2,
        num_heads: int = 7,
        head_width: int = 80,
        label_width: int | None = None,
        dropout: float = 0.2,
        attention_dropout: float = 0.15,
        label_layers: str = "all",
        label_input: str = "expected",
        label_residual: str = "labels",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_classes = check_positive("num_classes", num_classes)
        self.num_layers = check_positive("num_layers", num_layers)
        self.num_heads = check_positive("num_heads", num_heads)
        self.head_width = check_positive("head_width", head_width)
        self.label_width = check_positive("label_width", label_width, optional=True)
        self.dropout = check_rate("dropout", dropout)
        self.attention_dropout = check_rate("attention_dropout", attention_dropout)
        self.label_layers = check_choice("label_layers", label_layers, ("all", "last"))
        self.label_input = check_choice("label_input", label_input, ("expected", "argmax", "none"))
        self.label_residual = check_choice(
            "label_residual", label_residual, ("labels", "words", "none")
        )
        self.width = num_heads * head_width
        self.supports_masking = True
        self.blocks = [self._block(index) for index in range(num_layers)]

    @classmethod
    def from_settings(
        cls, config: Config, vocabulary: Vocabulary, **kwargs: Any
    ) -> "TwoStreamRefiner":
        """The refiner that a run's settings describe."""
        part = config.decoder
        return cls(
            len(vocabulary.labels),
            num_layers=part.refiner_layers,
            num_heads=part.refiner_heads,
            head_width=part.refiner_head_width,
            dropout=part.refiner_dropout,
            attention_dropout=part.attention_dropout,
            label_layers=part.label_layers,
            label_input=part.label_input,
            label_residual=part.label_residual,
            **kwargs,
        )

    def _block(self, index: int) -> TwoStreamBlock:
        reads_labels = self.label_layers == "all" or index == self.num_layers - 1
        return TwoStreamBlock(
            self.num_heads,
            self.head_width,
            label_stream=reads_labels and self.label_input != "none",
            dropout=self.dropout,
            attention_dropout=self.attention_dropout,
            dtype=self.dtype_policy,
            name=f"block_{index}",
        )

    def build(self, words_shape):
        word_width, width = int(words_shape[-1]), self.width
        self.word_kernel, self.word_bias = add_linear(self, "word", word_width, width)
        if self.label_input != "none":
            label_width = self.label_width or width
            # At the scale of the words that it competes with: at a smaller one the label
            # stream starts as a copy of the words, and post-normalisation keeps it so for long.
            self.label_embedding = self.add_weight(
                "label_embedding",
                [self.num_classes, label_width],
                initializer=tf.keras.initializers.RandomNormal(stddev=1.0),
            )
            self.label_kernel, self.label_bias = add_linear(self, "label", label_width, width)
        for block in self.blocks:
            with tf.name_scope(block.name):
                block.build([None, None, width])
        streams = 1 if self.label_input == "none" else 2
        self.logit_kernel, self.logit_bias = add_linear(
            self, "logit", streams * width, self.num_classes
        )
        self.built = True

    def call(
        self,
        words,
        draft_probabilities=None,
        mask=None,
        dropout_seed=None,
        query_tokens=None,
        lite=None,
    ):
        length = tf.shape(words)[1]
        distances = relative_distances(length, self.width, self.compute_dtype, lite)  # R
        labels = self._labels(draft_probabilities, fold_in(dropout_seed, _LABELS))  # L
        states = Mapped(words, self.word_kernel, self.word_bias)  # H_x
        if query_tokens is None or self.num_layers > 1:  # all of them are read
            states = dropout(states.rows(), self.dropout, fold_in(dropout_seed, _WORDS))
        label_states = self._first_label_states(labels, query_tokens)  # H_l
        for index, block in enumerate(self.blocks):
            states, label_states = block(
                states,
                distances,
                labels=labels,
                label_state=label_states,
                mask=mask,
                dropout_seed=fold_in(dropout_seed, _BLOCKS + index),
                word_queries=query_tokens if block is self.blocks[-1] else None,
                label_queries=query_tokens,
                lite=lite,
            )

        if label_states is not None:
            states = tf.concat([states, label_states], axis=-1)  # [B, T, 2W] or [K, 2W]
        states = dropout(states, self.dropout, fold_in(dropout_seed, _STATES))
        return linear(states, self.logit_kernel, self.logit_bias)

    def _labels(self, draft_probabilities, dropout_seed) -> Mapped | None:
        """The embedded draft labels L, [B, T, W]; None where they are not read.

        Without dropout each is a mixture of C rows, and stays one where that is less work.
        """
        if self.label_input == "none":
            return None
        draft = tf.stop_gradient(draft_probabilities)
        # Projecting C rows first saves a product of B * T rows.
        table = linear(self.label_embedding, self.label_kernel)  # [C, W]
        if self.label_input == "argmax":
            draft = tf.one_hot(tf.argmax(draft, axis=-1), self.num_classes)
        labels = Mapped(tf.cast(draft, table.dtype), table, self.label_bias)
        drops = dropout_seed is not None and self.dropout > 0.0
        if not drops and self.num_classes < self.width:
            return labels
        return Mapped(dropout(labels.rows(), self.dropout, dropout_seed))

    def _first_label_states(self, labels: Mapped | None, query_tokens) -> tf.Tensor | None:
        """What the first label stream adds its attention to; None: its words, or no stream."""
        if labels is None or self.label_residual == "words":
            return None
        if self.label_residual == "labels":
            return labels.rows(query_tokens)
        like = labels.inputs if query_tokens is None else query_tokens.rows(labels.inputs)
        return tf.zeros(tf.concat([tf.shape(like)[:-1], [self.width]], axis=0), like.dtype)
