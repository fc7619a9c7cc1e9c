"""A choice holds within its context, and nowhere else."""

import threading

import pytest

from uanet_tf.ops.graphs import (
    TracingChoice,
)


def test_only_inside():
    choice = TracingChoice("choice")
    assert not choice.holds()
    with choice():
        assert choice.holds()
        with choice(False):
            assert not choice.holds()
        assert choice.holds()
    assert not choice.holds()


def test_not_after_an_error():
    choice = TracingChoice("choice")
    with pytest.raises(ValueError, match="wrong"), choice():
        raise ValueError("wrong")
    assert not choice.holds()


def test_not_on_another_thread():
    choice, seen = TracingChoice("choice"), []
    with choice():
        thread = threading.Thread(target=lambda: seen.append(choice.holds()))
        thread.start()
        thread.join()
    assert seen == [False]
