"""Budgets of tokens and of lines of the log."""

import logging
import threading
import time

import numpy as np
import pytest

from uanet_tf.serving.rest_api.limits import TokenBudget, count_tokens
from uanet_tf.serving.rest_api.rest_error import RestError
from uanet_tf.serving.rest_api.web_server import LineBudget


@pytest.mark.parametrize(
    ("inputs", "tokens"),
    [
        ({}, 0),
        ({"tokens": np.zeros([3, 7], object), "lengths": np.zeros(3, np.int32)}, 21),
        ({"tokens": np.zeros([5, 0], object), "lengths": np.zeros(5, np.int32)}, 5),
        ({"tokens": np.zeros([0, 10**9], object)}, 10**9),
        ({"char_ids": np.zeros([0, 1, 6400], np.int32)}, 100),
        ({"char_ids": np.zeros([2, 3, 64], np.int32)}, 6),
        ({"char_ids": np.zeros([2, 3, 65], np.int32)}, 7),
        ({"text": np.array([b"a b", b"", b"d, e.g."], object)}, 18),
        ({"x": np.zeros([], np.float32)}, 1),
        ({"x": np.zeros([9], np.float32)}, 9),
    ],
)
def test_counts(inputs, tokens):
    assert count_tokens(inputs) == tokens


def test_in_the_order_they_come():
    budget, order, done = TokenBudget(10), [], threading.Event()

    def work(name, tokens):
        with budget.spend(tokens):
            order.append(name)
            assert done.wait(30)

    threads = []
    for name, tokens in (("a", 6), ("large", 10), ("small", 1)):
        threads.append(threading.Thread(target=work, args=(name, tokens)))
        threads[-1].start()
        time.sleep(0.1)
    assert order == ["a"]  # the small one would fit, but does not overtake the large one
    done.set()
    for thread in threads:
        thread.join()
    assert order == ["a", "large", "small"]


def test_no_turn_in_time_and_errors_give_their_tokens_back():
    budget = TokenBudget(10, wait_seconds=0.1)
    with pytest.raises(RestError, match="11 tokens") as caught, budget.spend(11):
        pass
    assert caught.value.status == 400
    with budget.spend(6):
        with pytest.raises(RestError, match="did not come in time") as caught, budget.spend(5):
            pass
        assert caught.value.status == 504
        with budget.spend(4):
            pass
    with pytest.raises(KeyError), budget.spend(10):
        raise KeyError
    with budget.spend(10):
        pass


def test_lines_of_a_period(caplog):
    now = [0.0]
    logger = logging.getLogger("of_this_test")
    budget = LineBudget(lines=3, seconds=60, clock=lambda: now[0])
    logger.addFilter(budget)
    try:
        for number in range(1_000):
            now[0] = 0.05 * number  # within a minute
            logger.warning("request %d is malformed", number)
        now[0] = 61.0
        logger.warning("request %s is malformed", "x")
        logger.warning("request y is malformed")
    finally:
        logger.removeFilter(budget)
    assert caplog.messages == [
        "request 0 is malformed",
        "request 1 is malformed",
        "request 2 is malformed",
        "request x is malformed (997 lines were left out)",
        "request y is malformed",
    ]
