"""The first Ctrl-C is a request, the second one does not wait."""

import os
import signal
import threading

import pytest

from uanet_tf.training.stop_request import StopRequest


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def interrupt_twice(stop):
    with stop:
        interrupt()
        assert stop.made
        interrupt()
        pytest.fail("not reached")


def test_a_second_one_does_not_wait():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        interrupt_twice(StopRequest())
    assert signal.getsignal(signal.SIGINT) is before


def test_none_is_made_by_itself():
    with StopRequest() as stop:
        pass
    assert not stop.made


def test_other_threads_are_left_alone():
    """Only the main thread may set a handler."""
    seen = []

    def run():
        before = signal.getsignal(signal.SIGINT)
        with StopRequest() as stop:
            seen.append((stop.made, signal.getsignal(signal.SIGINT) is before))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [(False, True)]
