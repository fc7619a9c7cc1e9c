"""The one test that every layer of the package passes.

A layer reads arrays whose first axes are batch and time, a right-padded mask (or lengths) and a
dropout seed. How it is called is the caller's to say:

    check_layer(
        lambda **kwargs: TwoStreamRefiner(5, num_heads=2, head_width=4, **kwargs),
        lambda: {"words": ..., "draft_probabilities": ..., "mask": ...},
        make_layer_without_dropout=lambda **kwargs: TwoStreamRefiner(..., dropout=0.0, **kwargs),
    )
"""

import dataclasses
import functools
import inspect
import json
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from uanet_tf.ops.graphs import graph_function

Inputs = dict[str, Any]
SEED, OTHER_SEED = (3, 14), (15, 92)


def call_layer(layer: tf.keras.layers.Layer, inputs: Inputs, dropout_seed) -> Any:
    """Calls a layer with its first input by position and all others by name."""
    first, *others = inputs
    return layer(
        inputs[first], **{name: inputs[name] for name in others}, dropout_seed=dropout_seed
    )


def make_garbage(name: str, values: np.ndarray, shape: list[int], rng) -> np.ndarray:
    """Draws what may stand at padding: any float, any integer or boolean that occurs."""
    del name
    if values.dtype == bool:
        return rng.random(shape) < 0.5
    if np.issubdtype(values.dtype, np.integer):
        return rng.integers(values.min(), values.max() + 1, shape).astype(values.dtype)
    return (10 * rng.standard_normal(shape)).astype(values.dtype)


def check_layer(
    make_layer: Callable[..., tf.keras.layers.Layer],
    make_inputs: Callable[[], Inputs],
    *,
    call: Callable[[tf.keras.layers.Layer, Inputs, Any], Any] = call_layer,
    make_layer_without_dropout: Callable[..., tf.keras.layers.Layer] | None = None,
    has_dropout: bool = True,
    outputs_have_time: bool = True,
    unknown_axes: int = 2,
    weights_without_gradient: Collection[str] = (),
    garbage: Callable[..., np.ndarray] = make_garbage,
    skip: Collection[str] = (),
    tolerance: float = 1e-5,
) -> None:
    """Runs every check of the contract on one kind of layer.

    Args:
      make_layer: returns a new layer; takes the keywords `name` and `dtype`.
      make_inputs: returns arrays by argument name, [B] or [B, T, ...], B of at least 2, with
        a boolean "mask" [B, T] or integer "lengths" [B]; without either all are tokens. At
        least one row should be shorter than T and one should have T tokens.
      call: calls the layer on such a dict (arrays, tensors or Keras inputs) with a
        [2] int32 dropout seed or None. Returns a tensor or a nest of tensors (None allowed).
      make_layer_without_dropout: like `make_layer`, with the same weights, every rate 0.
      has_dropout: whether another seed must give another output.
      outputs_have_time: whether outputs are [B, T, ...]; else [B, ...].
      unknown_axes: how many leading axes of each input are unknown in a signature.
      weights_without_gradient: parts of names of trainable weights that may have none.
      garbage: draws what stands at padding, see `make_garbage`.
      skip: names of checks to leave out, e.g. "keras_file".
      tolerance: absolute and relative tolerance of floats.
    """
    checks = {name[6:]: check for name, check in vars(_Contract).items() if name[:6] == "check_"}
    unknown = set(skip) - set(checks)
    assert not unknown, f"no such checks: {unknown}; there are {sorted(checks)}"
    layer = make_layer()
    inputs = {name: np.asarray(value) for name, value in make_inputs().items()}
    contract = _Contract(
        make_layer=make_layer,
        layer=layer,
        inputs=inputs,
        call=call,
        make_layer_without_dropout=make_layer_without_dropout,
        has_dropout=has_dropout,
        outputs_have_time=outputs_have_time,
        unknown_axes=unknown_axes,
        weights_without_gradient=tuple(weights_without_gradient),
        garbage=garbage,
        tolerance=tolerance,
    )
    contract.run(inputs)  # builds the layer
    for name, check in checks.items():
        if name not in skip:
            check(contract)


@dataclasses.dataclass
class _Contract:
    make_layer: Callable
    layer: tf.keras.layers.Layer
    inputs: Inputs
    call: Callable
    make_layer_without_dropout: Callable | None
    has_dropout: bool
    outputs_have_time: bool
    unknown_axes: int
    weights_without_gradient: tuple[str, ...]
    garbage: Callable
    tolerance: float

    def check_config(self) -> None:
        """Every argument is kept and survives JSON; the class is found by its name alone."""
        layer = self.make_layer(name="another_name", dtype="float64")
        config = layer.get_config()
        assert (config["name"], layer.dtype) == ("another_name", "float64")
        for name, parameter in inspect.signature(type(layer).__init__).parameters.items():
            if name != "self" and parameter.kind is not inspect.Parameter.VAR_KEYWORD:
                assert name in config, f"get_config lacks {name}"
                assert hasattr(layer, name), f"{name} is not kept under its own name"
        copy = type(layer).from_config(json.loads(json.dumps(config)))
        assert copy.get_config() == config
        assert (copy.name, copy.dtype) == (layer.name, layer.dtype)
        registered = tf.keras.saving.get_registered_name(type(layer))
        assert registered == f"uanet_tf>{type(layer).__name__}"

    def check_unknown_shapes(self) -> None:
        """One trace serves any batch and any length."""
        for inputs in (self.inputs, self.row(0), self.row(1, self.lengths[1])):
            self.assert_close(self.compiled(self.tensors(inputs)), self.run(inputs))
        assert self.compiled.experimental_get_tracing_count() == 1

    def check_keras_file(self) -> None:
        """A functional model comes back from a .keras file without custom objects."""
        symbols = {
            name: tf.keras.Input(spec.shape[1:], dtype=spec.dtype, name=name)
            for name, spec in self.signature().items()
        }
        outputs = [x for x in tf.nest.flatten(self.run(symbols)) if x is not None]
        model = tf.keras.Model(symbols, outputs)
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "model.keras")
            model.save(path)
            loaded = tf.keras.models.load_model(path)
        tensors = self.tensors(self.inputs)
        self.assert_close(loaded(tensors), self.run(self.inputs))
        assert len(loaded.weights) == len(model.weights)

    def check_saved_model(self) -> None:
        """A SavedModel of the layer's computation gives the same outputs, seeded or not.

        That without a seed serves any batch and any length, that with one a fixed shape.
        """
        module = tf.Module()
        module.weights = self.layer.weights
        module.run = self.compiled
        seed_spec = tf.TensorSpec([2], tf.int32)
        tensors = self.tensors(self.inputs)
        fixed = {name: tf.TensorSpec.from_tensor(tensor) for name, tensor in tensors.items()}
        module.sample = graph_function([fixed, seed_spec])(self.run)
        with tempfile.TemporaryDirectory() as folder:
            tf.saved_model.save(module, folder)
            loaded = tf.saved_model.load(folder)
        seed = tf.constant(SEED)
        self.assert_close(loaded.run(tensors), self.run(self.inputs))
        self.assert_close(loaded.sample(tensors, seed), self.run(self.inputs, seed))

    def check_gradients(self) -> None:
        """Each trainable weight has a finite gradient that is not zero."""
        with tf.GradientTape() as tape:
            outputs = self.tokens_of(self.run(self.inputs), self.mask)
            loss = tf.add_n([tf.reduce_sum(x * tf.random.normal(x.shape)) for x in outputs])
        weights = self.layer.trainable_weights
        for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            if any(part in weight.name for part in self.weights_without_gradient):
                continue
            assert gradient is not None, f"no gradient for {weight.name}"
            values = tf.convert_to_tensor(gradient).numpy()
            assert np.isfinite(values).all(), f"gradient of {weight.name} is not finite"
            assert np.abs(values).max() > 0, f"gradient of {weight.name} is zero"

    def check_padding(self) -> None:
        """Neither what stands at padding nor how much padding there is changes a token."""
        expected = self.tokens_of(self.run(self.inputs), self.mask)
        for extra in (0, 3):
            padded, mask = self.with_garbage(extra)
            actual = self.tokens_of(self.run(padded), mask)
            self.assert_close(actual, expected)

    def check_single(self) -> None:
        """A sentence gets in a batch what it gets alone and unpadded."""
        outputs = self.run(self.inputs)
        for row, length in enumerate(self.lengths):
            if length == 0:
                continue
            of_row = [x[row : row + 1] for x in tf.nest.flatten(outputs) if x is not None]
            if self.outputs_have_time:
                of_row = [x[:, :length] for x in of_row]
            self.assert_close(self.run(self.row(row, length)), of_row)

    def check_empty_row(self) -> None:
        """A row of padding stays finite, in the outputs and in the gradients."""
        if not {"mask", "lengths"} & set(self.inputs):
            return
        inputs = {name: value.copy() for name, value in self.inputs.items()}
        for name in {"mask", "lengths"} & set(inputs):
            inputs[name][0] = 0
        with tf.GradientTape() as tape:
            outputs = [x for x in tf.nest.flatten(self.run(inputs)) if x is not None]
            loss = tf.add_n([tf.reduce_sum(tf.square(x)) for x in outputs])
        values = outputs + tape.gradient(loss, self.layer.trainable_weights)
        for value in values:
            assert value is None or np.isfinite(tf.convert_to_tensor(value).numpy()).all()

    def check_dropout(self) -> None:
        """Without a seed nothing is random; with one the seed alone decides."""
        seed, other = tf.constant(SEED), tf.constant(OTHER_SEED)
        plain, sampled = self.run(self.inputs), self.run(self.inputs, seed)
        self.assert_equal(self.run(self.inputs), plain)
        self.assert_equal(self.run(self.inputs, seed), sampled)
        if self.has_dropout:
            assert self.differ(sampled, plain), "a dropout seed changes nothing"
            assert self.differ(sampled, self.run(self.inputs, other)), "two seeds give the same"
        if self.make_layer_without_dropout is not None:
            layer = self.make_layer_without_dropout()
            self.call(layer, self.tensors(self.inputs), None)
            layer.set_weights(self.layer.get_weights())
            outputs = self.call(layer, self.tensors(self.inputs), seed)
            self.assert_close(outputs, plain)

    # Helpers

    def run(self, inputs: Inputs, seed=None) -> Any:
        return self.call(self.layer, self.tensors(inputs), seed)

    @functools.cached_property
    def compiled(self):
        """Of batches of any size."""
        return graph_function([self.signature()])(lambda inputs: self.run(inputs))

    @staticmethod
    def tensors(inputs: Inputs) -> Inputs:
        return {
            name: tf.constant(value) if isinstance(value, np.ndarray) else value
            for name, value in inputs.items()
        }

    def signature(self) -> dict[str, tf.TensorSpec]:
        specs = {}
        for name, value in self.inputs.items():
            unknown = min(self.unknown_axes, value.ndim)
            shape = [None] * unknown + list(value.shape[unknown:])
            specs[name] = tf.TensorSpec(shape, value.dtype, name=name)
        return specs

    @property
    def mask(self) -> np.ndarray:
        """[B, T], True = token."""
        batch, length = next(x.shape[:2] for x in self.inputs.values() if x.ndim > 1)
        if "mask" in self.inputs:
            return self.inputs["mask"]
        lengths = self.inputs.get("lengths", np.full(batch, length))
        return np.arange(length) < lengths[:, np.newaxis]

    @property
    def lengths(self) -> list[int]:
        return self.mask.sum(axis=1).tolist()

    def row(self, row: int, length: int | None = None) -> Inputs:
        """One row as a batch, cut to ``length`` positions."""
        rows = {name: value[row : row + 1] for name, value in self.inputs.items()}
        return {
            name: value if value.ndim == 1 else value[:, :length] for name, value in rows.items()
        }

    def with_garbage(self, extra: int) -> tuple[Inputs, np.ndarray]:
        """The inputs with ``extra`` more positions and garbage at padding, and their mask."""
        rng = np.random.default_rng(5)
        mask = np.pad(self.mask, [(0, 0), (0, extra)])
        padded = {}
        for name, value in self.inputs.items():
            if value.ndim == 1:
                padded[name] = value
            elif name == "mask":
                padded[name] = mask
            else:
                shape = [value.shape[0], value.shape[1] + extra, *value.shape[2:]]
                padded[name] = self.garbage(name, value, shape, rng)
                padded[name][mask] = value[self.mask]
        return padded, mask

    def tokens_of(self, outputs: Any, mask: np.ndarray) -> list[tf.Tensor]:
        flat = [x for x in tf.nest.flatten(outputs) if x is not None]
        return [tf.boolean_mask(x, mask) for x in flat] if self.outputs_have_time else flat

    def pairs(self, actual: Any, expected: Any):
        flat = ([x for x in tf.nest.flatten(y) if x is not None] for y in (actual, expected))
        for one, other in zip(*flat, strict=True):
            yield np.asarray(one), np.asarray(other)

    def assert_close(self, actual: Any, expected: Any) -> None:
        for one, other in self.pairs(actual, expected):
            np.testing.assert_allclose(one, other, rtol=self.tolerance, atol=self.tolerance)

    def assert_equal(self, actual: Any, expected: Any) -> None:
        for one, other in self.pairs(actual, expected):
            np.testing.assert_array_equal(one, other)

    def differ(self, actual: Any, expected: Any) -> bool:
        return any((one != other).any() for one, other in self.pairs(actual, expected))
