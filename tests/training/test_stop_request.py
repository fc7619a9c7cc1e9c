"""The first Ctrl-C is a request, the second one does not wait."""

import os
import signal
import threading

import pytest

from uanet_tf.errors import StoppedBySignal
from uanet_tf.training.stop_request import SIGNALS, StopRequest


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


@pytest.fixture
def heeded():
    """No signal is ignored, as it may be in the background of a shell or under nohup."""
    before = {each: signal.signal(each, signal.SIG_DFL) for each in SIGNALS}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


@pytest.mark.usefixtures("heeded")
@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_asks_and_the_second_interrupts(number):
    before = {each: signal.getsignal(each) for each in SIGNALS}
    with StopRequest() as stop:
        assert not stop.made
        os.kill(os.getpid(), number)
        assert stop.made
        with pytest.raises(StoppedBySignal) as first:
            stop.interrupt()
        assert isinstance(first.value, KeyboardInterrupt)
        with pytest.raises(StoppedBySignal) as second:
            os.kill(os.getpid(), signal.SIGTERM)
    assert (first.value.number, second.value.number) == (number, signal.SIGTERM)
    assert {each: signal.getsignal(each) for each in SIGNALS} == before


def test_ignored_signals_stay_ignored():
    """As under nohup; but what is in the background of a shell can be stopped like Ctrl-C."""
    before = {each: signal.signal(each, signal.SIG_IGN) for each in SIGNALS}
    try:
        with StopRequest() as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGTERM)
            assert not stop.made
            os.kill(os.getpid(), signal.SIGINT)
            assert stop.made
        assert all(signal.getsignal(each) == signal.SIG_IGN for each in SIGNALS)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
