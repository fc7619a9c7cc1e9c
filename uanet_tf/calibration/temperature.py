"""Temperature scaling: one number that corrects the confidence of a distribution."""

import numpy as np

SMALLEST = 1e-12  # probabilities below count as this
_RANGE = (np.log(0.05), np.log(20.0))  # of log T
_STEPS = 60


def with_temperature(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    """p^(1/T), scaled to sum to one: [..., C]. The order of the classes stays."""
    scores = np.log(np.maximum(np.asarray(probabilities, np.float64), SMALLEST)) / temperature
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def fit_temperature(probabilities: np.ndarray, label_ids: np.ndarray) -> float:
    """The temperature under which the labels are most probable.

    Args:
      probabilities: [N, C] distributions.
      label_ids: [N] the true classes; negative where the truth is no class of the model, which
        no temperature could help: left out.

    Returns:
      T in [0.05, 20], above 1 for a distribution that is too sure; 1 if there is nothing to
      learn from.

    Reference:
      Guo et al., ICML 2017, "On Calibration of Modern Neural Networks".
    """
    label_ids = np.asarray(label_ids)
    known = label_ids >= 0
    if not known.any():
        return 1.0
    logs = np.log(np.maximum(np.asarray(probabilities, np.float64)[known], SMALLEST))
    truth = np.take_along_axis(logs, label_ids[known, None], axis=-1)[:, 0]

    def slope(log_temperature: float) -> float:
        """Derivative of the loss, convex in 1/T: mean of the expected minus the true log p."""
        weights = with_temperature(np.exp(logs), np.exp(log_temperature))
        return float(np.mean((weights * logs).sum(axis=-1) - truth))

    low, high = _RANGE
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        # A positive slope wants a smaller 1/T, that is, a larger T.
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return float(np.exp((low + high) / 2.0))
