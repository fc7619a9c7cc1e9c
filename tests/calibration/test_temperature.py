import numpy as np
import pytest

from uanet_tf.calibration.temperature import fit_temperature, with_temperature


def sampled(rng, true_temperature, size=20_000):
    """Distributions, and labels drawn from them at a temperature."""
    p = rng.dirichlet(np.full(5, 0.4), size)
    drawn = with_temperature(p, true_temperature)
    labels = (drawn.cumsum(axis=1) > rng.random(size)[:, None]).argmax(axis=1)
    return p, labels


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.7, 4.0])
def test_the_temperature_that_labels_were_drawn_with_is_found(temperature):
    p, labels = sampled(np.random.default_rng(1), temperature)
    assert fit_temperature(p, labels) == pytest.approx(temperature, rel=0.05)


def test_it_is_the_minimum_of_the_loss():
    p, labels = sampled(np.random.default_rng(2), 2.3, 500)

    def loss(temperature):
        chosen = with_temperature(p, temperature)[np.arange(len(p)), labels]
        return -np.log(chosen).mean()

    best = fit_temperature(p, labels)
    grid = np.exp(np.linspace(np.log(0.1), np.log(10), 200))
    assert loss(best) <= min(map(loss, grid)) + 1e-9


def test_order_and_sum_stay():
    p = np.random.default_rng(3).dirichlet(np.ones(6), 50)
    for temperature in (0.3, 1.0, 5.0):
        warm = with_temperature(p, temperature)
        np.testing.assert_allclose(warm.sum(axis=1), 1.0)
        np.testing.assert_array_equal(warm.argsort(axis=1), p.argsort(axis=1))
    np.testing.assert_allclose(with_temperature(p, 1.0), p)


def test_labels_that_the_model_does_not_know_are_left_out():
    p, labels = sampled(np.random.default_rng(4), 2.0, 2_000)
    best = fit_temperature(p, labels)
    more = np.concatenate([p, p[:500]])
    assert fit_temperature(more, np.concatenate([labels, np.full(500, -1)])) == best
    assert fit_temperature(p, np.full(2_000, -1)) == 1.0


def test_ends_of_the_scale_are_finite():
    certain = np.eye(3)
    assert fit_temperature(certain, np.arange(3)) == pytest.approx(0.05, rel=0.01)
    assert fit_temperature(certain, np.array([1, 2, 0])) == pytest.approx(20.0, rel=0.01)
