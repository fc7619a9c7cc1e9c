import contextlib
import gc
import subprocess
import sys
import threading
import time

import pytest
import tensorflow as tf

from tests.tagging.fake_model import FakeModel
from uanet_tf.errors import InputError
from uanet_tf.tagging import parallel_batches
from uanet_tf.tagging.parallel_batches import (
    MOST_THREADS,
    BatchThreads,
    one_ahead,
    run_each_on_one_thread,
    threads_for,
)
from uanet_tf.tagging.streams import tag, tag_stream


class Shared(FakeModel):
    """May be called from several threads."""

    thread_safe = True


def test_as_many_calls_at_once_as_threads():
    together = threading.Barrier(3, timeout=20)

    def square(number):
        together.wait()
        return number * number

    with BatchThreads(3) as threads:
        assert list(threads.map(square, range(6))) == [0, 1, 4, 9, 16, 25]


def test_one_thread_is_the_caller():
    def name(_):
        return threading.current_thread().name

    here = threading.current_thread().name
    with BatchThreads(1) as threads:
        assert list(threads.map(name, range(3))) == [here] * 3
    with BatchThreads(2) as threads:
        assert list(threads.map(name, range(1))) == [here]
        assert here not in list(threads.map(name, range(3)))


def test_after_an_error_nothing_begins():
    begun = []

    def work(number):
        begun.append(number)
        if number == 0:
            raise ZeroDivisionError
        return number

    with pytest.raises(ZeroDivisionError), BatchThreads(2) as threads:
        list(threads.map(work, range(100_000)))
    assert len(begun) < 100_000


def test_calls_that_nobody_waits_for_are_given_up():
    begun, go_on = [], threading.Event()

    def work(number):
        begun.append(number)
        go_on.wait(20)

    start = time.monotonic()
    with BatchThreads(2) as threads:
        threads.map(work, range(100))
    # Those that run are not waited for: the garbage collector may leave it where they need a lock.
    assert time.monotonic() - start < 10
    go_on.set()
    del threads  # its idle threads end with it
    for thread in batch_threads():
        thread.join(20)
    assert len(begun) <= 2


def batch_threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith("batch")}


def test_an_error_keeps_no_thread():
    """Without the garbage collector: nothing refers to itself in a circle."""
    before = batch_threads()

    def fail(number):
        raise ZeroDivisionError

    def read():
        with BatchThreads(2) as threads:
            list(threads.map(fail, range(10)))

    gc.disable()
    try:
        with contextlib.suppress(ZeroDivisionError):
            read()
        for thread in batch_threads() - before:
            thread.join(5)
        assert batch_threads() <= before
    finally:
        gc.enable()


def test_a_program_that_ends_waits_for_no_queue():
    # A thousand calls of a tenth of a second; the stream is neither read to its end nor closed.
    program = """
import time
from uanet_tf.tagging.parallel_batches import BatchThreads

threads = BatchThreads(2).__enter__()
results = threads.map(lambda number: time.sleep(0.1) or number, range(1_000))
print(next(results), next(results))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 1\n", "")


def test_one_is_read_ahead():
    read = []

    def numbers():
        for number in range(4):
            read.append(number)
            yield number
        raise ZeroDivisionError

    ahead = one_ahead(numbers())
    for number in range(4):
        assert next(ahead) == number
        assert read == list(range(min(4, number + 2)))
    with pytest.raises(ZeroDivisionError):  # after what was read before it
        next(ahead)
    assert list(one_ahead([])) == []


def test_the_next_chunk_is_tagged_while_answers_are_used(monkeypatch):
    monkeypatch.setenv("TF_NUM_INTEROP_THREADS", "2")
    last = threading.Event()

    class Watched(Shared):
        def tag_batch(self, tokens, lengths):
            if "last" in tokens:
                last.set()
            return super().tag_batch(tokens, lengths)

    sentences = [["p1"]] * 9 + [["last"]]
    answers = tag_stream(Watched(), sentences, window=10, batch_size=2)
    next(answers)
    assert last.wait(20)
    assert len(list(answers)) == 9


def test_a_bad_sentence_comes_after_the_answers_before_it():
    answers = tag_stream(FakeModel(), [["p1"]] * 10 + [[]], window=10)
    assert [len(next(answers)) for _ in range(10)] == [1] * 10
    with pytest.raises(InputError, match=r"sentences\[10\] is empty"):
        next(answers)


@pytest.mark.parametrize(("given", "threads"), [("1", 1), ("3", 3), ("100", MOST_THREADS)])
def test_threads_as_tensorflow_is_told(monkeypatch, given, threads):
    monkeypatch.setattr(tf.config.threading, "get_inter_op_parallelism_threads", lambda: 0)
    monkeypatch.setenv("TF_NUM_INTEROP_THREADS", given)
    assert threads_for(Shared()) == threads
    assert threads_for(FakeModel()) == 1
    monkeypatch.setattr(tf.config.threading, "get_inter_op_parallelism_threads", lambda: 2)
    assert threads_for(Shared()) == 2


def test_a_thread_for_each_core(monkeypatch):
    monkeypatch.setattr(tf.config.threading, "get_inter_op_parallelism_threads", lambda: 0)
    monkeypatch.delenv("TF_NUM_INTEROP_THREADS", raising=False)
    monkeypatch.setattr(parallel_batches, "_cores", lambda: 5)
    assert threads_for(Shared()) == 5
    monkeypatch.setenv("TF_NUM_INTEROP_THREADS", "many")
    assert threads_for(Shared()) == 5
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [kind])
    assert threads_for(Shared()) == 4
    assert threads_for(FakeModel()) == 1


def test_batches_are_as_large_as_the_device_likes(monkeypatch):
    sentences = [[f"w{k}"] * (1 + k % 20) for k in range(1_500)]

    def sizes(**options):
        model = Shared()
        found = tag(model, sentences, **options)
        assert [one.tokens for one in found] == sentences
        return [len(batch) for batch in model.batches]

    assert max(sizes()) <= 256
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [kind])
    assert max(sizes()) > 256
    assert max(sizes(batch_size=100)) == 100


def test_answers_do_not_depend_on_threads(monkeypatch):
    sentences = [[f"{'plqxPX'[k % 6]}{k}"] * (1 + k % 7) for k in range(200)]
    expected = tag(FakeModel(), sentences, batch_size=4)
    monkeypatch.setenv("TF_NUM_INTEROP_THREADS", "4")
    model = Shared()
    assert tag(model, sentences, batch_size=4) == expected
    assert len(model.batches) > 20


def test_batches_at_once_share_the_memory_of_one(monkeypatch):
    sentences = [["x"] * 100] * 90

    def largest(threads, **options):
        monkeypatch.setenv("TF_NUM_INTEROP_THREADS", threads)
        model = Shared()
        tag(model, sentences, **options)
        return max(sum(map(len, batch)) for batch in model.batches)

    assert largest("1") == 4_000  # of at most 4,096
    assert largest("2") == 2_000
    assert largest("8") == 1_500  # smaller ones would cost time
    assert largest("8", batch_tokens=1_000) == 1_000


def test_a_process_that_only_tags(monkeypatch):
    told = []
    monkeypatch.setattr(tf.config.threading, "set_intra_op_parallelism_threads", told.append)
    monkeypatch.setenv("TF_NUM_INTRAOP_THREADS", "2")
    run_each_on_one_thread()
    assert told == []  # the user has said how many
    monkeypatch.delenv("TF_NUM_INTRAOP_THREADS")
    run_each_on_one_thread()
    assert told == [1]

    def late(_):
        raise RuntimeError("cannot be modified after initialization")

    monkeypatch.setattr(tf.config.threading, "set_intra_op_parallelism_threads", late)
    run_each_on_one_thread()
