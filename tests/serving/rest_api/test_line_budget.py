"""A client cannot fill the log."""

import logging

from uanet_tf.serving.rest_api.line_budget import LineBudget


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
