import pytest
import tensorflow as tf

from uanet_tf.serving.retrying import RetryPolicy, ServingError, in_short


def failing(*errors):
    """A function that raises the errors in turn, then returns "done"; and its calls so far."""
    left, calls = list(errors), []

    def function():
        calls.append(1)
        if left:
            raise left.pop(0)
        return "done"

    return function, calls


def passing(message="busy"):
    return ServingError(message, retryable=True)


def test_tries_again_with_growing_pauses():
    pauses = []
    function, calls = failing(passing(), passing(), passing())
    policy = RetryPolicy(attempts=4, first_pause=1.0, longest_pause=3.0, sleep=pauses.append)
    assert policy.call(function) == "done"
    assert len(calls) == 4
    for pause, longest in zip(pauses, (1.0, 2.0, 3.0), strict=True):
        assert longest / 2 <= pause <= longest


def test_pauses_differ_from_client_to_client():
    pauses = []
    for _ in range(20):
        RetryPolicy(sleep=pauses.append).call(failing(passing())[0])
    assert len(set(pauses)) > 1


def test_gives_up_with_the_last_error():
    function, calls = failing(*[passing("busy.") for _ in range(9)])
    with pytest.raises(ServingError, match=r"^busy \(3 tries\)\.$"):
        RetryPolicy(attempts=3, sleep=lambda seconds: None).call(function)
    assert len(calls) == 3


def test_one_attempt_is_told_as_it_is():
    with pytest.raises(ServingError, match=r"^busy$"):
        RetryPolicy(attempts=1).call(failing(passing())[0])


def test_never_tries_again_what_was_refused():
    function, calls = failing(ServingError("wrong", status=400))
    with pytest.raises(ServingError, match=r"^wrong$"):
        RetryPolicy(sleep=pytest.fail).call(function)
    assert len(calls) == 1


def test_an_assertion_says_its_message_and_no_graph():
    @tf.function
    def check(x):
        tf.debugging.assert_less(x, 2, "Too long.")

    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        check(tf.constant([3]))
    assert in_short(error.value) == "Too long."
    assert in_short("it is\nwrong [1] [2]") == "it is wrong [1] [2]"
