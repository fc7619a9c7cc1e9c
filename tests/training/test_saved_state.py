"""Which epoch is the best one."""

import pytest

from uanet_tf.training.saved_state import Progress


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([1.0, 3.0, 2.0], 2),
        ([1.0, 3.0, 3.0], 2),  # of equal ones the first
        ([0.0, 0.0, 0.0], 3),  # but nothing is learnt yet where nothing is found
        ([0.0, 0.0, 1.0, 0.0], 3),
    ],
)
def test_the_best_epoch(scores, best):
    progress = Progress()
    for epoch, score in enumerate(scores, 1):
        progress.finish_epoch({"epoch": epoch}, score)
    assert progress.record["best_epoch"] == best
    assert progress.record["best_score"] == max(scores)
