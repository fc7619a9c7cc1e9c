"""Models in float64, where rounding hides nothing: gradients are those of the losses."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.tagger_setup import OTHER_DECODERS, SEED, make_batch, make_model
from tests.quick_params import quick_params

SYSTEMS = {
    "uanet": {},
    "uanet with states": {"refiner_states": True, "refiner_embeddings": "shared"},
    "softmax": {"decoder": "softmax", "expectation_linear": 0.1},
    "crf": {"encoder": "id_cnn", "decoder": "crf", "expectation_linear": 0.1},
    **OTHER_DECODERS,
}
STEP = 1e-6


def set_floats(floats):
    """A policy that a test before this one has set does not follow Keras' floats: both are set."""
    tf.keras.backend.set_floatx(floats)
    tf.keras.mixed_precision.set_global_policy(floats)


@pytest.fixture(autouse=True)
def float64():
    set_floats("float64")
    yield
    set_floats("float32")


@pytest.mark.parametrize("name", quick_params(SYSTEMS, ["uanet", "crf"]))
def test_gradients_are_slopes(name):
    """Along a random direction of each group of weights, against a central difference."""
    model = make_model(**SYSTEMS[name])
    features, labels = make_batch(model)
    rng = np.random.default_rng(3)
    for group, variables in model.variable_groups().items():
        assert {v.dtype for v in variables} == {tf.float64}
        for variable in variables:  # zeros under identity kernels are at the corner of ReLU
            variable.assign_add(0.03 * rng.normal(size=variable.shape))
        with tf.GradientTape() as tape:
            loss = model.loss_terms(features, labels, SEED)[group]
        found = tape.gradient(loss, variables, unconnected_gradients="zero")
        ways = [rng.normal(size=v.shape) for v in variables]
        pairs = zip(ways, found, strict=True)
        slope = sum(np.sum(way * tf.convert_to_tensor(gradient)) for way, gradient in pairs)
        assert loss.dtype == tf.float64
        sides = []
        for step in (STEP, -2 * STEP):
            for variable, way in zip(variables, ways, strict=True):
                variable.assign_add(step * way)
            sides.append(float(model.loss_terms(features, labels, SEED)[group]))
        assert abs(slope) > 0.1
        assert (sides[0] - sides[1]) / (2 * STEP) == pytest.approx(slope, rel=1e-5)
