"""A Transformer layer with a bidirectional GRU instead of attention."""

import tensorflow as tf

from uanet_tf.arguments import check_even, check_even_setting, check_positive, check_rate
from uanet_tf.encoders.encoder import Encoder, apply_mask, zero_padding
from uanet_tf.layers.bidirectional import DIRECTIONS, Bidirectional
from uanet_tf.ops.numerics import layer_norm, linear
from uanet_tf.ops.recurrence import GRU
from uanet_tf.ops.shapes import permute


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class BiGRUTransformer(Encoder):
    """Layers of Norm, BiGRU, Add & Norm, feed-forward, Add & Norm.

        G = BiGRU(LayerNorm(x));    H = LayerNorm(x W_r + G)
        output = LayerNorm(H + W_2 relu(W_1 H + b_1) + b_2)

    W_r projects x to the width of the states; it is left out where x has that width.

    Args:
      hidden_width: width of the states, both directions together; even.
      num_layers: number of layers.
      input_dropout: rate of the masks on the inputs of BiGRU and feed-forward layer.
      recurrent_dropout: rate of the masks on the previous hidden state, one per direction.
      output_dropout: rate of the mask on the output of the last layer.
      **kwargs: `name` and `dtype`.

    Call arguments:
      inputs: [N, T, D].
      mask: [N, T] boolean, True at tokens, right-padded; None: all are tokens.
      dropout_masks: what ``draw_masks`` gives, with N rows; None: nothing is dropped.
      lite: see ``Encoder``.

    Output shape:
      [N, T, hidden_width], zeros at padding.

    Example:

    >>> BiGRUTransformer(8)(tf.ones([3, 4, 5])).shape
    TensorShape([3, 4, 8])

    Reference:
      Dinarelli and Grobol, 2019, "Seq2Biseq: Bidirectional Output-wise Recurrent Neural Networks
      for Sequence Modelling".
    """

    reads_lite = True

    def __init__(
        self,
        hidden_width: int = 400,
        *,
        num_layers: int = 1,
        input_dropout: float = 0.25,
        recurrent_dropout: float = 0.25,
        output_dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.hidden_width = check_even("hidden_width", hidden_width)
        self.num_layers = check_positive("num_layers", num_layers)
        self.input_dropout = check_rate("input_dropout", input_dropout)
        self.recurrent_dropout = check_rate("recurrent_dropout", recurrent_dropout)
        self.output_dropout = check_rate("output_dropout", output_dropout)

    @classmethod
    def check_settings(cls, config):
        check_even_setting("hidden_width", config.encoder.hidden_width)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        part = config.encoder
        return cls(
            part.hidden_width,
            num_layers=part.encoder_layers,
            input_dropout=part.variational_dropout,
            recurrent_dropout=part.recurrent_dropout,
            output_dropout=part.output_dropout,
            **kwargs,
        )

    def mask_widths(self, input_width):
        units = self.hidden_width // 2
        widths = {}
        for layer in range(self.num_layers):
            width = input_width if layer == 0 else self.hidden_width
            widths[f"input_{layer}"] = (width, self.input_dropout)
            for direction in DIRECTIONS:
                widths[f"recurrent_{layer}_{direction}"] = (units, self.recurrent_dropout)
            widths[f"feedforward_{layer}"] = (self.hidden_width, self.input_dropout)
        widths["output"] = (self.hidden_width, self.output_dropout)
        return widths

    def build(self, input_shape):
        units, width = self.hidden_width // 2, int(input_shape[-1])
        hidden = 2 * self.hidden_width
        self.recurrences, self.layers = [], []
        for index in range(self.num_layers):
            names = f"layer_{index}/{{weight}}_{{way}}"
            self.recurrences.append(Bidirectional(self, GRU, width, units, names))
            self.layers.append(self._add_layer(f"layer_{index}", hidden, width))
            width = self.hidden_width
        super().build(input_shape)

    def _add_layer(self, name, hidden, width) -> dict[str, tf.Variable]:
        """The weights of one layer except its GRU's, by name."""
        states = self.hidden_width
        shapes = {
            "hidden_kernel": [states, hidden],
            "hidden_bias": [hidden],
            "feedforward_kernel": [hidden, states],
            "feedforward_bias": [states],
        }
        for norm, size in (("input", width), ("states", states), ("output", states)):
            shapes[f"{norm}_scale"] = [size]
            shapes[f"{norm}_offset"] = [size]
        if width != states:
            shapes["residual_kernel"] = [width, states]
        return {
            key: self.add_weight(name=f"{name}/{key}", shape=shape, initializer=_initializer(key))
            for key, shape in shapes.items()
        }

    def call(self, inputs, mask=None, dropout_masks=None, lite=None):
        states = zero_padding(inputs, mask)
        times = None if mask is None else tf.transpose(mask)  # [T, N]
        masks = dropout_masks or {}
        for index, weights in enumerate(self.layers):
            normal = layer_norm(states, weights["input_scale"], weights["input_offset"])
            normal = apply_mask(normal, masks, f"input_{index}")
            tied = {way: masks.get(f"recurrent_{index}_{way}") for way in DIRECTIONS}
            ways = self.recurrences[index](permute(normal, [1, 0, 2]), times, tied, lite=lite)
            summed = permute(tf.concat(ways, axis=-1), [1, 0, 2])  # [N, T, H]
            if "residual_kernel" in weights:
                states = linear(states, weights["residual_kernel"])
            summed += states
            states = layer_norm(summed, weights["states_scale"], weights["states_offset"])

            hidden = apply_mask(states, masks, f"feedforward_{index}")
            hidden = tf.nn.relu(linear(hidden, weights["hidden_kernel"], weights["hidden_bias"]))
            states += linear(hidden, weights["feedforward_kernel"], weights["feedforward_bias"])
            states = layer_norm(states, weights["output_scale"], weights["output_offset"])
        return apply_mask(zero_padding(states, mask), masks, "output")


def _initializer(key: str):
    """The initializer of the weight called ``key``."""
    if key.endswith("_scale"):
        return "ones"
    return "glorot_uniform" if "kernel" in key else "zeros"
