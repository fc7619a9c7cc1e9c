import threading

import pytest
import tensorflow as tf

from tests.tagging.fake_model import FakeModel
from uanet_tf.tagging import parallel_batches
from uanet_tf.tagging.parallel_batches import (
    MOST_THREADS,
    ordered_map,
    run_each_on_one_thread,
    threads_for,
)
from uanet_tf.tagging.sentence_stream import tag


class Shared(FakeModel):
    """May be called from several threads."""

    thread_safe = True


def test_as_many_calls_at_once_as_threads():
    together = threading.Barrier(3, timeout=20)

    def square(number):
        together.wait()
        return number * number

    assert list(ordered_map(square, range(6), 3)) == [0, 1, 4, 9, 16, 25]


def test_one_thread_is_the_caller():
    def name(_):
        return threading.current_thread().name

    here = threading.current_thread().name
    assert list(ordered_map(name, range(3), 1)) == [here] * 3
    assert list(ordered_map(name, range(1), 4)) == [here]
    assert here not in list(ordered_map(name, range(3), 2))


def test_after_an_error_nothing_begins():
    begun = []

    def work(number):
        begun.append(number)
        if number == 0:
            raise ZeroDivisionError
        return number

    with pytest.raises(ZeroDivisionError):
        list(ordered_map(work, range(100_000), 2))
    assert len(begun) < 100_000


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
    assert threads_for(Shared()) == 1


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
