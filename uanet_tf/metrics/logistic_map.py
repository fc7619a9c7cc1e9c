"""A small logistic regression from features of an answer to the probability that it is right."""

from collections.abc import Sequence

import numpy as np

_STEPS = 50
_TOLERANCE = 1e-9


def fit_logistic_map(
    features: np.ndarray,
    right: np.ndarray,
    *,
    signs: Sequence[int],
    penalty: float = 1.0,
    scale: np.ndarray | None = None,
) -> np.ndarray:
    """Fits weights and a bias, [K + 1], of [N, K] features by penalized maximum likelihood.

    Args:
      right: [N] booleans, or the targets of ``smooth_targets``.
      signs: for each feature 1 if more of it may only mean more confidence, -1 if only less, 0
        for either. A weight that would go the other way is left at 0.
      penalty: half of it times the squared weights, of scaled features, is added to the summed
        loss: little data gives small weights.
      scale: [K], standard deviations that features are scaled by; None: their own. Answers of a
        narrow range, with their own, would give a steep map to those outside of it.
    """
    features = np.asarray(features, np.float64)
    if not len(features):
        return np.zeros(features.shape[1] + 1)
    scale = np.asarray(features.std(axis=0) if scale is None else scale, np.float64)
    center = features.mean(axis=0)
    inputs = (features - center) / np.where(scale > 0, scale, 1.0)
    free = scale > 0
    while True:
        weights = np.zeros(features.shape[1] + 1)
        chosen = np.append(free, True)
        columns = np.column_stack([inputs, np.ones(len(inputs))])[:, chosen]
        weights[chosen] = _newton(columns, np.asarray(right, np.float64), penalty)
        against = free & (weights[:-1] * np.asarray(signs) < 0)
        if not against.any():
            break
        # The worst first: without it another may turn to its right side.
        free[np.argmax(np.where(against, np.abs(weights[:-1]), -1.0))] = False
    weights[:-1] /= np.where(scale > 0, scale, 1.0)
    weights[-1] -= weights[:-1] @ center
    return weights


def smooth_targets(right: np.ndarray) -> np.ndarray:
    """[N] probabilities in place of booleans, so that few answers give no certainty.

    (R + 1) / (R + 2) for each of R right answers, 1 / (W + 2) for each of W wrong ones: where all
    of five are right, the next one is with 6/7.

    Reference: Platt, 1999, "Probabilistic Outputs for Support Vector Machines", section 2.2.
    """
    right = np.asarray(right, bool)
    count = np.count_nonzero(right)
    return np.where(right, (count + 1) / (count + 2), 1 / (len(right) - count + 2))


def apply_logistic_map(weights: np.ndarray, features: np.ndarray) -> np.ndarray:
    """[N, K] features to [N] probabilities, under ``fit_logistic_map``'s weights."""
    return _sigmoid(np.asarray(features, np.float64) @ weights[:-1] + weights[-1])


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(0.5 * logits))


def _newton(columns: np.ndarray, right: np.ndarray, penalty: float) -> np.ndarray:
    """Weights of [N, J] columns, the last of which is the bias."""
    decay = np.full(columns.shape[1], penalty)
    decay[-1] = 1e-3 * penalty  # finite even where all answers are right
    weights = np.zeros(columns.shape[1])
    loss = _loss(weights, columns, right, decay)
    for _ in range(_STEPS):
        p = _sigmoid(columns @ weights)
        gradient = columns.T @ (p - right) + decay * weights
        curvature = (columns * (p * (1 - p))[:, None]).T @ columns + np.diag(decay)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while True:
            proposed = weights - size * step
            new = _loss(proposed, columns, right, decay)
            if new <= loss or size < 1e-6:
                break
            size /= 2.0
        done = loss - new < _TOLERANCE
        weights, loss = proposed, new
        if done:
            break
    return weights


def _loss(weights: np.ndarray, columns: np.ndarray, right: np.ndarray, decay: np.ndarray) -> float:
    logits = columns @ weights
    return float(np.sum(np.logaddexp(0.0, logits) - right * logits) + decay @ weights**2 / 2.0)
