import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.arguments import ArgumentError
from uanet_tf.models.gate import RefinementGate
from uanet_tf.ops.graphs import graph_function

DRAFT = np.array(
    [[[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.2, 0.3, 0.5]], [[0.1, 0.8, 0.1]] + [[0, 0, 1]] * 2],
    np.float32,
)
REFINED = np.array(
    [[[0.1, 0.1, 0.8], [0.3, 0.1, 0.6], [0.9, 0.1, 0.0]], [[0.9, 0.1, 0.0]] + [[0, 1, 0]] * 2],
    np.float32,
)
U = np.array([[0.5, 0.25, 1.0], [0.5, 9.0, 9.0]], np.float32)
MASK = np.array([[True, True, True], [True, False, False]])


def gate(threshold, draft=DRAFT, uncertainty=U):
    gated = RefinementGate(7.0)(draft, REFINED, uncertainty, MASK, threshold=threshold)
    return {name: value.numpy() for name, value in gated._asdict().items()}


def test_the_gate_is_strict():
    """A token at exactly Gamma keeps its draft label."""
    decided = gate(0.5)
    np.testing.assert_array_equal(decided["refined"], [[0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(decided["label_ids"], [[0, 1, 0], [1, 0, 0]])
    below = gate(np.nextafter(np.float32(0.5), np.float32(0)))
    np.testing.assert_array_equal(below["refined"], [[1, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(below["label_ids"], [[2, 1, 0], [0, 0, 0]])


@pytest.mark.parametrize("threshold", [0.0, 0.5, 9.0])
def test_what_is_refined_where_the_gate_opens_only_is_what_passes(threshold):
    layer = RefinementGate(threshold)
    expected = layer(DRAFT, REFINED, U, MASK)
    passes = layer.passes(tf.constant(U)).numpy()
    refined = np.where((passes & MASK)[..., None], REFINED, DRAFT)
    found = layer.passed(tf.constant(refined), tf.constant(passes), tf.constant(MASK))
    for name in ("label_ids", "refined", "probabilities"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(found.refined_label_ids, found.label_ids)


def test_the_distribution_is_that_of_the_label():
    passed = np.array([[0, 0, 1], [0, 0, 0]], bool)[..., None]
    np.testing.assert_array_equal(gate(0.5)["probabilities"], np.where(passed, REFINED, DRAFT))
    refined = gate(0.0)["probabilities"][MASK]
    np.testing.assert_array_equal(refined, REFINED[MASK])


@pytest.mark.parametrize("threshold", [[0.9, 0.4], tf.constant([0.9, 0.4])])
def test_a_threshold_for_each_sentence(threshold):
    decided = gate(threshold)
    np.testing.assert_array_equal(decided["refined"], [[0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(decided["label_ids"], [[0, 1, 0], [0, 0, 0]])


def test_padding_is_zero_and_its_values_are_never_looked_at():
    for name, values in gate(0.0).items():
        if name != "probabilities":
            assert not values[~MASK].any(), name
    nan = np.where(MASK[..., None], DRAFT, np.nan)
    decided = gate(0.3, nan, np.where(MASK, U, np.nan))
    for name, values in gate(0.3).items():
        np.testing.assert_array_equal(decided[name][MASK], values[MASK])


def test_the_own_threshold_can_be_changed_live():
    layer = RefinementGate(0.5)
    run = graph_function()(lambda u: layer(DRAFT, REFINED, u, MASK).refined)
    np.testing.assert_array_equal(run(U), gate(0.5)["refined"])
    layer.threshold = 0.3
    assert layer.threshold == 0.3
    np.testing.assert_array_equal(run(U), gate(0.3)["refined"])
    for value in (-0.1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="`threshold` must be"):
            layer.threshold = value
    assert layer.threshold == 0.3


def test_dtypes_and_unknown_shapes():
    specs = [tf.TensorSpec([None, None, None])] * 2 + [tf.TensorSpec([None, None])]
    specs += [tf.TensorSpec([None, None], tf.bool), tf.TensorSpec([])]
    run = graph_function(specs)(RefinementGate())
    dtypes = {name: x.dtype for name, x in run(DRAFT, REFINED, U, MASK, 0.5)._asdict().items()}
    assert dtypes == {
        "label_ids": tf.int32,
        "refined_label_ids": tf.int32,
        "refined": tf.bool,
        "probabilities": tf.float32,
    }


@pytest.mark.parametrize("threshold", [float("nan"), -1.0, np.inf, 1e39, 10**400, "x", None])
def test_gamma_is_checked_wherever_it_is_given(threshold):
    with pytest.raises(ArgumentError, match=r"^`threshold` must be "):
        RefinementGate(threshold)
    one = RefinementGate(0.5)
    with pytest.raises(ArgumentError, match=r"^`threshold` must be "):
        one.threshold = threshold
    assert one.threshold == 0.5
