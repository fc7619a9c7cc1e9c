"""The gain of leaving out the rows of the weights that a sample's fixed masks set to zero.

    python -m benchmarks.kept_rows [--sentences=64] [--tokens=18]

Each sample then has weights of its own: a row for each input and unit that it keeps, the units
that it keeps first, so that the recurrent product reads the first columns of the state. The M
products of a step become one batch of M, each with fewer rows. It is an experiment: no model
uses it.
"""

import sys

import numpy as np
import tensorflow as tf

from benchmarks.command_line import make_parser
from benchmarks.measure import interleaved, matmul_rate
from benchmarks.systems import recipe
from uanet_tf.config import Config
from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.recurrence import lstm_scan

WIDTH = 150  # of a word's representation in the recipe
RATE = 0.25


class Layer:
    """One direction of a variational LSTM with fixed masks for M samples, run in two ways.

    Args:
      width: of the inputs.
      units: of the state.
      samples: M.
      input_mask: [M, width], shared with the other direction.
      rng: of weights and masks.
    """

    def __init__(self, width: int, units: int, samples: int, input_mask, rng):
        self.units, self.samples = units, samples
        self.input_mask, self.mask = input_mask, _mask(rng, samples, units)
        self.kernel, self.recurrent_kernel, self.bias = (
            tf.Variable(0.1 * rng.standard_normal(shape).astype(np.float32))
            for shape in ([width, 4 * units], [units, 4 * units], [4 * units])
        )

    def masked(self, inputs: tf.Tensor) -> tf.Tensor:
        """States [T, M, B, H] of inputs [T, B, D], as the product computes them: zeros included."""
        shape = tf.shape(inputs)
        rows = tf.expand_dims(inputs, 1) * self.input_mask[:, np.newaxis]  # [T, M, B, D]
        rows = tf.reshape(rows, [-1, inputs.shape[-1]])
        projected = tf.nn.bias_add(tf.matmul(rows, self.kernel), self.bias)
        projected = tf.reshape(projected, [shape[0], self.samples * shape[1], 4 * self.units])
        mask = tf.repeat(tf.constant(self.mask), shape[1], axis=0)
        states = lstm_scan(projected, tf.convert_to_tensor(self.recurrent_kernel), mask)
        return tf.reshape(states, [shape[0], self.samples, shape[1], self.units])

    def kept(self, inputs: tf.Tensor) -> tf.Tensor:
        """The same states from only the kept rows."""
        shape, samples = tf.shape(inputs), range(self.samples)
        inputs_kept, width = _kept_first(self.input_mask)
        inputs_kept = inputs_kept[:, :width]
        order, count = _kept_first(self.mask)
        gates = np.concatenate([order + gate * self.units for gate in range(4)], axis=1)
        flat = tf.reshape(inputs, [-1, inputs.shape[-1]])
        rows = tf.stack([tf.gather(flat, inputs_kept[m], axis=1) for m in samples])  # [M, TB, K]
        kernel = _rows_of(self.kernel, self.input_mask, inputs_kept, gates)
        recurrent = _rows_of(self.recurrent_kernel, self.mask, order[:, :count], gates)
        projected = tf.matmul(rows, kernel) + tf.expand_dims(tf.gather(self.bias, gates), 1)
        projected = tf.reshape(projected, [self.samples, shape[0], shape[1], 4 * self.units])
        projected = tf.transpose(projected, [1, 0, 2, 3])  # [T, M, B, 4H]
        element = [self.samples, None, self.units]
        states = tf.TensorArray(tf.float32, shape[0], element_shape=element)
        zeros = tf.zeros([self.samples, shape[1], self.units])

        def step(t, h, c, states):
            gates = tf.matmul(h[:, :, :count], recurrent) + projected[t]
            i, f, o = tf.split(tf.sigmoid(gates[..., : 3 * self.units]), 3, axis=-1)
            c = f * c + i * tf.tanh(gates[..., 3 * self.units :])
            h = o * tf.tanh(c)
            return t + 1, h, c, states.write(t, h)

        shapes = (tf.TensorShape([]), *[tf.TensorShape(element)] * 2, None)
        *_, states = tf.while_loop(
            lambda t, *_: t < shape[0], step, (0, zeros, zeros, states), shape_invariants=shapes
        )
        back = np.argsort(order, axis=1)
        stacked = states.stack()
        return tf.stack([tf.gather(stacked[:, m], back[m], axis=2) for m in samples], axis=1)


def _mask(rng, samples: int, width: int) -> np.ndarray:
    return ((rng.random([samples, width]) >= RATE) / (1 - RATE)).astype(np.float32)


def _kept_first(mask: np.ndarray) -> tuple[np.ndarray, int]:
    """For each sample the columns, kept ones first, and the most that a sample keeps."""
    return np.argsort(mask == 0, axis=1, kind="stable"), int((mask != 0).sum(axis=1).max())


def _rows_of(kernel: tf.Variable, mask: np.ndarray, rows: np.ndarray, columns: np.ndarray):
    """[M, K, 4H]: some rows of a kernel, times the mask, for each sample; columns in its order."""
    scaled = tf.gather(kernel, rows) * np.take_along_axis(mask, rows, axis=1)[:, :, np.newaxis]
    return tf.gather(scaled, columns, axis=2, batch_dims=1)


def table(config: Config, *, sentences: int, tokens: int, repeats: int = 15) -> str:
    """Times of both ways, both directions side by side, as a Markdown table."""
    rng = np.random.default_rng(1)
    samples, units = config.inference.num_samples, config.encoder.hidden_width // 2
    mask = _mask(rng, samples, WIDTH)
    mask_count = _kept_first(mask)[1]
    layers = [Layer(WIDTH, units, samples, mask, rng) for _ in range(2)]
    inputs = tf.constant(rng.standard_normal([tokens, sentences, WIDTH]), tf.float32)
    spec = [tf.TensorSpec([None, None, WIDTH])]
    masked = graph_function(spec)(lambda x: tf.concat([layer.masked(x) for layer in layers], -1))
    kept = graph_function(spec)(lambda x: tf.concat([layer.kept(x) for layer in layers], -1))
    timings = interleaved(
        {"as it is": lambda: masked(inputs).numpy(), "kept rows": lambda: kept(inputs).numpy()},
        repeats=repeats,
    )
    lines = [
        f"{sentences} sentences of {tokens} tokens, M = {samples}; at most {mask_count} of {WIDTH} "
        f"inputs are kept; large matrix product {matmul_rate() / 1e9:.0f} GFLOP/s.",
        "",
        "| variational BiLSTM | milliseconds |",
        "| --- | --- |",
    ]
    for name, timing in timings.items():
        fastest, slowest = 1e3 * timing.fastest, 1e3 * timing.slowest
        lines.append(f"| {name} | {1e3 * timing.median:.1f} ({fastest:.1f} to {slowest:.1f}) |")
    return "\n".join(lines)


def main() -> None:
    """Prints the table."""
    parser = make_parser("kept_rows", __doc__)
    parser.add_argument("--sentences", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=18)
    given = parser.parse_args()
    text = table(recipe("uanet_fast"), sentences=given.sentences, tokens=given.tokens)
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
