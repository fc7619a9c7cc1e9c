import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from uanet_tf.metrics.logistic_map import apply_logistic_map, fit_logistic_map, smooth_targets


def drawn(size, weights, seed=1):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(size, len(weights) - 1)) * [1.0, 5.0] + [0.0, 3.0]
    return features, rng.random(size) < apply_logistic_map(np.array(weights), features)


def test_known_weights_are_found():
    weights = [1.5, -0.3, 0.5]
    features, right = drawn(50_000, weights)
    found = fit_logistic_map(features, right, signs=[1, -1])
    np.testing.assert_allclose(found, weights, atol=0.06)


@pytest.mark.parametrize("penalty", [0.1, 1.0, 30.0])
def test_it_equals_scikit_learn_on_scaled_features(penalty):
    features, right = drawn(300, [1.5, -0.3, 0.5])
    scaled = (features - features.mean(axis=0)) / features.std(axis=0)
    reference = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=1000).fit(scaled, right)
    ours = fit_logistic_map(features, right, signs=[0, 0], penalty=penalty)
    np.testing.assert_allclose(
        apply_logistic_map(ours, features), reference.predict_proba(scaled)[:, 1], atol=2e-3
    )


def test_a_weight_of_the_wrong_sign_is_left_out():
    features, right = drawn(2_000, [1.5, -0.3, 0.5])
    found = fit_logistic_map(features, right, signs=[1, 1])
    assert found[1] == 0.0
    alone = fit_logistic_map(features[:, :1], right, signs=[1])
    np.testing.assert_allclose(found[[0, 2]], alone, rtol=1e-5)


def test_mean_of_the_fitted_probabilities_is_the_share_of_right_answers():
    features, right = drawn(1_000, [1.5, -0.3, 0.5])
    fitted = apply_logistic_map(fit_logistic_map(features, right, signs=[1, -1]), features)
    assert fitted.mean() == pytest.approx(right.mean(), abs=1e-3)


def test_what_cannot_be_learnt_from_is_finite():
    features = np.random.default_rng(1).normal(size=(50, 2))
    features[:, 1] = 7.0  # constant
    for right in (np.ones(50, bool), np.zeros(50, bool), features[:, 0] > 0):
        found = fit_logistic_map(features, right, signs=[1, 1])
        assert np.isfinite(found).all()
        assert found[1] == 0.0
    np.testing.assert_array_equal(fit_logistic_map(np.zeros([0, 2]), [], signs=[1, 1]), np.zeros(3))
    fitted = apply_logistic_map(
        fit_logistic_map(features, np.ones(50, bool), signs=[1, 1]), features
    )
    assert (fitted > 0.99).all()


def test_few_answers_give_no_certainty():
    np.testing.assert_allclose(smooth_targets([True] * 5), [6 / 7] * 5)
    np.testing.assert_allclose(smooth_targets([True, False, True]), [3 / 4, 1 / 3, 3 / 4])
    features = np.random.default_rng(1).normal(size=(5, 2))
    found = fit_logistic_map(features, smooth_targets(np.ones(5, bool)), signs=[1, -1])
    np.testing.assert_allclose(apply_logistic_map(found, features * 10), 6 / 7, atol=0.02)
