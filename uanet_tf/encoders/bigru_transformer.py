"""A Transformer layer with a bidirectional GRU instead of attention."""

import tensorflow as tf

from uanet_tf.encoders.encoder import apply_mask, zero_padding
from uanet_tf.encoders.recurrent_encoders import VariationalEncoder
from uanet_tf.layers.bidirectional import DIRECTIONS, Bidirectional
from uanet_tf.ops.numerics import layer_norm, linear
from uanet_tf.ops.recurrence import GRU
from uanet_tf.ops.shapes import permute


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class BiGRUTransformer(VariationalEncoder):
    """Layers of Norm, BiGRU, Add & Norm, feed-forward, Add & Norm.

        G = BiGRU(LayerNorm(x));    H = LayerNorm(x W_r + G)
        output = LayerNorm(H + W_2 relu(W_1 H + b_1) + b_2)

    W_r projects x to the width of the states; it is left out where x has that width.

    Its arguments are those of ``VariationalEncoder``; ``input_dropout`` is also the rate of the
    masks on the inputs of feed-forward layers.

    Example:
    >>> BiGRUTransformer(8)(tf.ones([3, 4, 5])).shape
    TensorShape([3, 4, 8])

    Reference: Dinarelli and Grobol, 2019, "Seq2Biseq: Bidirectional Output-wise Recurrent Neural
      Networks for Sequence Modelling".
    """

    cell = GRU
    reads_forms = False

    def further_masks(self, layer):
        return {f"feedforward_{layer}": (self.hidden_width, self.input_dropout)}

    def build(self, input_shape):
        units, width = self.hidden_width // 2, int(input_shape[-1])
        hidden = 2 * self.hidden_width
        self.recurrences, self.layers = [], []
        for index in range(self.num_layers):
            names = f"layer_{index}/{{weight}}_{{way}}"
            self.recurrences.append(Bidirectional(self, self.cell, width, units, names))
            self.layers.append(self._add_layer(f"layer_{index}", hidden, width))
            width = self.hidden_width
        self.build_projection()
        self.built = True

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
        weights = {}
        for key, shape in shapes.items():
            initializer = "glorot_uniform" if "kernel" in key else "zeros"
            initializer = "ones" if key.endswith("_scale") else initializer
            weights[key] = self.add_weight(f"{name}/{key}", shape, initializer=initializer)
        return weights

    def call(self, inputs, mask=None, dropout_masks=None, index=None, lite=None):
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
        return self.project(apply_mask(zero_padding(states, mask), masks, "output"), mask)
