"""A choice holds within its context, and nowhere else."""

import threading

import pytest

from uanet_tf.ops.graphs import (
    TracingChoice,
    fused_lstms,
    loops_in_blocks,
    wants_blocks,
    wants_fused,
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


def test_a_choice_may_be_a_number():
    choice = TracingChoice("choice")
    assert choice.value() == 0
    with choice(7):
        assert choice.holds()
        assert choice.value() == 7
        with choice(0):
            assert not choice.holds()
    assert choice.value() == 0


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


def test_one_says_nothing_of_another():
    with loops_in_blocks():
        assert (wants_blocks(), wants_fused()) == (True, False)
    with fused_lstms():
        assert (wants_blocks(), wants_fused()) == (False, True)
