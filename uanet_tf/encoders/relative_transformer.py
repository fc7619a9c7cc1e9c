"""A Transformer encoder with relative positions only."""

import tensorflow as tf

from uanet_tf.arguments import ArgumentError, check_divisor_setting, check_positive, check_rate
from uanet_tf.encoders.encoder import Encoder, apply_mask, zero_padding
from uanet_tf.layers.attention_stream import AttentionStream
from uanet_tf.ops.attention import position_keys, relative_distances
from uanet_tf.ops.dropout import fold_in
from uanet_tf.ops.numerics import add_linear, linear


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class RelativeTransformer(Encoder):
    """A projection and layers of relative attention, each the word stream of a refiner's block.

    Each layer has a W_kR of its own. Masks lie on units and are tied over time: on the input, on
    the outputs of each layer's attention and feed-forward layer, on the output.

    Attention weights are dropped in training only, from ``dropout_seed``: a mask over pairs of
    positions would make a sample depend on the length of the sentence and on its padding.

    Args:
      hidden_width: width of the states, a multiple of `num_heads`.
      input_dropout: rate of the mask on the input.
      layer_dropout: rate of the masks on the outputs of attention and feed-forward layers.
      attention_dropout: rate at which attention weights are dropped, in training only.
      output_dropout: rate of the mask on the output of the last layer.

    Call arguments (further ones: ``Encoder``):
      dropout_seed: [2] int32 seed of the attention weights that are dropped; None: none are.

    Example:
    >>> RelativeTransformer(8, num_heads=2)(tf.ones([3, 4, 5])).shape
    TensorShape([3, 4, 8])

    Reference: Dai et al., 2019, "Transformer-XL: Attentive Language Models beyond a Fixed-Length
      Context".
    """

    reads_lite = True

    def __init__(
        self,
        hidden_width: int = 400,
        *,
        num_layers: int = 2,
        num_heads: int = 8,
        input_dropout: float = 0.25,
        layer_dropout: float = 0.25,
        attention_dropout: float = 0.0,
        output_dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.hidden_width = check_positive("hidden_width", hidden_width)
        self.num_layers = check_positive("num_layers", num_layers)
        self.num_heads = check_positive("num_heads", num_heads)
        if hidden_width % num_heads:
            raise ArgumentError(
                "`hidden_width` must be a multiple of `num_heads`. Received: "
                f"hidden_width={hidden_width}, num_heads={num_heads}"
            )
        self.input_dropout = check_rate("input_dropout", input_dropout)
        self.layer_dropout = check_rate("layer_dropout", layer_dropout)
        self.attention_dropout = check_rate("attention_dropout", attention_dropout)
        self.output_dropout = check_rate("output_dropout", output_dropout)
        self.streams = [
            AttentionStream(
                num_heads,
                hidden_width // num_heads,
                attention_dropout=attention_dropout,
                dtype=self.dtype_policy,
                name=f"layer_{index}",
            )
            for index in range(num_layers)
        ]

    @classmethod
    def check_settings(cls, config):
        part = config.encoder
        check_divisor_setting(
            "encoder_heads", part.encoder_heads, "hidden_width", part.hidden_width
        )

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        part = config.encoder
        return cls(
            part.hidden_width,
            num_layers=part.encoder_layers,
            num_heads=part.encoder_heads,
            input_dropout=part.variational_dropout,
            layer_dropout=part.recurrent_dropout,
            attention_dropout=part.encoder_attention_dropout,
            output_dropout=part.output_dropout,
            **kwargs,
        )

    def mask_widths(self, input_width):
        widths = {"input": (input_width, self.input_dropout)}
        for index in range(self.num_layers):
            for part in ("attention", "feedforward"):
                widths[f"{part}_{index}"] = (self.hidden_width, self.layer_dropout)
        widths["output"] = (self.hidden_width, self.output_dropout)
        return widths

    def build(self, input_shape):
        width = self.hidden_width
        self.input_kernel, self.input_bias = add_linear(self, "input", input_shape[-1], width)
        self.position_kernels = []  # W_kR of each layer
        for stream in self.streams:
            with tf.name_scope(stream.name):
                stream.build([None, None, width])
                shape = [width, width]
                kernel = self.add_weight("position_kernel", shape, initializer="glorot_uniform")
                self.position_kernels.append(kernel)
        super().build(input_shape)

    def call(self, inputs, mask=None, dropout_masks=None, dropout_seed=None, lite=None):
        masks = dropout_masks or {}
        states = apply_mask(zero_padding(inputs, mask), masks, "input")
        states = linear(states, self.input_kernel, self.input_bias)  # [N, T, W]

        distances = relative_distances(tf.shape(states)[1], self.hidden_width, states.dtype, lite)
        for index, stream in enumerate(self.streams):
            positions = position_keys(self.position_kernels[index], distances)  # [W, 2T]
            states = stream(
                states,
                positions,
                mask=mask,
                dropout_seed=fold_in(dropout_seed, index),
                dropout_masks={
                    part: masks[f"{part}_{index}"]
                    for part in ("attention", "feedforward")
                    if f"{part}_{index}" in masks
                },
                lite=lite,
            )
        return apply_mask(zero_padding(states, mask), masks, "output")  # [N, T, W]

    def training_states(self, inputs, mask, seed):
        masks = self.training_masks(inputs, seed)
        # The first number that no mask is drawn from.
        seed = fold_in(seed, len(self.mask_widths(inputs.shape[-1])))
        return tf.expand_dims(self(inputs, mask=mask, dropout_masks=masks, dropout_seed=seed), 0)
