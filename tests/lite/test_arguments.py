"""Wrong arguments of ``uanet_lite``: one sentence each, before anything is read."""

import pytest

import uanet_lite
from uanet_lite.sentence import sentence_of
from uanet_lite.tokenizer import Tokenizer


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": None}, r"^path must be the path of a file\. Received: None$"),
        ({"path": 5}, r"^path must be the path of a file\. Received: 5$"),
        ({"path": "a", "threads": "2"}, r"^`threads` must be an integer\. Received: '2'$"),
        ({"path": "a", "threads": 1.5}, r"^`threads` must be an integer\. Received: 1\.5$"),
        ({"path": "a", "threads": True}, r"^`threads` must be an integer\. Received: True$"),
        ({"path": "a", "threads": 0}, r"^`threads` must be at least 1\. Received: 0$"),
        ({"path": "a", "content": "abc"}, r"^content must be bytes\. Received: 'abc'$"),
    ],
)
def test_of_a_tagger(arguments, message):
    with pytest.raises(uanet_lite.InputError, match=message):
        uanet_lite.Tagger(**arguments)


class Table(list):
    """As a DataFrame of pandas: an iterator over it gives the names of its columns."""

    ndim, columns = 2, ["text"]


@pytest.mark.parametrize("given", [5, None, {"tokens": ["a"]}, {"a"}, b"a", Table(["text"])])
def test_of_tag(given):
    unread = uanet_lite.Tagger.__new__(uanet_lite.Tagger)
    message = "^sentences must be a list of texts and lists of words[.:] "
    with pytest.raises(uanet_lite.InputError, match=message):
        unread.tag(given)
    with pytest.raises(uanet_lite.InputError, match=message):
        unread.tag_stream(given)


def test_a_stream_is_no_text():
    with pytest.raises(uanet_lite.InputError, match=r"^sentences must be a list"):
        uanet_lite.Tagger.__new__(uanet_lite.Tagger).tag_stream("Riverton won.")


@pytest.mark.parametrize("given", [{"tokens": ["a"]}, {"a"}, frozenset("a")])
def test_of_a_sentence(given):
    with pytest.raises(uanet_lite.InputError, match=r"^it must be a text or a list of words"):
        sentence_of(given, "it", Tokenizer())
