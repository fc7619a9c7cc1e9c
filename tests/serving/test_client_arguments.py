"""What the client refuses before it asks a server."""

import types

import pytest

from uanet_tf.errors import InputError
from uanet_tf.serving.client import Client


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (b"bytes", "sentences must be a text, or a list of texts and lists of words. Received: b'"),
        (None, "sentences must be a text, or a list of texts and lists of words. Received: None"),
        ({"a text": 1}, "sentences must be a text, or a list of texts and lists of words. Rec"),
        ({"a text"}, "sentences must be a text, or a list of texts and lists of words. Received"),
        (types.SimpleNamespace(columns=["text"], ndim=2), "of a table, one column"),
        ([b"bytes"], r"sentences\[0\]"),
        ([["a"], 3], r"sentences\[1\]"),
        ([["a", ""]], r"sentences\[0\]: word 1 must be a string that is not empty"),
        ([["a", 3]], r"sentences\[0\].*3"),
        ([["a\ud800"]], r"sentences\[0\]: word 0 is not valid Unicode"),
        (["\udfff"], r"sentences\[0\] is not valid Unicode"),
        ([{"tokens": ["a"]}], r"sentences\[0\]"),
    ],
)
def test_sentences(sentences, message):
    client = Client("http://127.0.0.1:1")
    with pytest.raises(InputError, match=message):
        client.tag(sentences)


@pytest.mark.parametrize(
    ("sentences", "threshold", "message"),
    [
        ([["a"]], -1, "at least 0 nats. Received: -1"),
        ([["a"]], float("nan"), "finite"),
        ([["a"]], ["x"], "finite number"),
        ([["a"]], 1e39, "finite number"),
        ([["a"]], [1, 2], "one for each of 1 sentences. Received: 2"),
        (["text"], -1, "at least 0 nats. Received: -1"),
    ],
)
def test_thresholds(sentences, threshold, message):
    client = Client("http://127.0.0.1:1")
    with pytest.raises(InputError, match=message):
        client.tag(sentences, threshold=threshold)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "127.0.0.1:8501"}, "`url` must start with"),
        ({"url": "http://"}, "`url` must start with"),
        ({"url": None}, "`url` must be a text. Received: None"),
        ({"model_name": 3}, "`model_name` must be a text"),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": 1.5}, "`batch_size` must be an integer"),
        ({"retries": 3}, "retries must be a RetryPolicy. Received: 3"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": None}, "`timeout` must be a number"),
        ({"timeout": float("inf")}, "`timeout` must be at most 1,000,000 seconds"),
        ({"timeout": float("nan")}, "timeout"),
        ({"scheme": "IO"}, "scheme must be"),
    ],
)
def test_of_the_client(options, message):
    with pytest.raises(InputError, match=message):
        Client(**options)
