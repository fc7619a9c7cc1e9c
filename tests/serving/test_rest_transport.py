import pickle
import socket

import pytest

from tests.serving.fake_server import Reset, Silence, scripted
from uanet_tf.serving.rest_transport import RestTransport
from uanet_tf.serving.retrying import ServingError

ANSWER = {"outputs": {"labels": [["O"]]}}


def predict(url, timeout=30.0):
    transport = RestTransport(url, timeout)
    try:
        return transport.predict("a model", "draft", {"tokens": [["Café"]], "lengths": [1]})
    finally:
        transport.close()


def failure(url, **options):
    with pytest.raises(ServingError) as caught:
        predict(url, **options)
    assert "\n" not in str(caught.value)
    return caught.value


def test_asks_in_columns():
    with scripted((200, ANSWER)) as server:
        assert predict(f"{server.url}/") == ANSWER["outputs"]
    ((path, body),) = server.requests
    assert path == "/v1/models/a%20model:predict"
    assert body == {"signature_name": "draft", "inputs": {"tokens": [["Café"]], "lengths": [1]}}


@pytest.mark.parametrize("code", [429, 503, 504])
def test_a_server_that_is_not_ready_may_be_asked_again(code):
    with scripted((code, {"error": "not now"})) as server:
        error = failure(server.url)
    assert error.retryable
    assert error.status == code
    assert f"error {code}, not now" in str(error)


@pytest.mark.parametrize("code", [400, 401, 404, 413, 500, 501, 502])
def test_a_refusal_is_final(code):
    with scripted((code, {"error": "it is\nwrong " + "x" * 1000})) as server:
        error = failure(server.url)
    assert not error.retryable
    assert error.status == code
    assert f"error {code}, it is wrong" in str(error)
    assert len(str(error)) < 500


def test_connections_that_are_refused_or_lost_may_be_tried_again():
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    error = failure(url)
    assert error.retryable
    assert str(error) == f"{url}: no connection, is a server running there?"
    with scripted(Reset) as server:
        error = failure(server.url)
    assert error.retryable
    assert "connection lost" in str(error)


def test_time_outs_may_be_tried_again():
    with scripted(Silence) as server:
        error = failure(server.url, timeout=0.2)
    assert error.retryable
    assert "no answer within 0.2 s" in str(error)


@pytest.mark.parametrize(
    "url",
    ["http://no.such.host.invalid:8501", "http://[", "http://a:b", f"http://{'a' * 70}.invalid"],
)
def test_addresses_that_are_none_are_final(url):
    assert not failure(url).retryable


@pytest.mark.parametrize(
    "body",
    [b"<html>", b"", b"[]", b"{}", b'{"outputs": [1]}', b'{"predictions": []}', b"[" * 100_000],
)
def test_answers_that_are_none(body):
    with scripted((200, body)) as server:
        error = failure(server.url)
    assert not error.retryable
    assert "not that of a tagger" in str(error)


def test_an_error_without_a_reason():
    with scripted((500, b"<html>no</html>")) as server:
        assert "error 500, Internal Server Error" in str(failure(server.url))


def test_stray_bytes_do_not_lose_an_answer():
    with scripted((200, b'{"outputs": {"labels": [["B-\xff"]]}}')) as server:
        assert predict(server.url) == {"labels": [["B-\N{REPLACEMENT CHARACTER}"]]}


@pytest.mark.parametrize("code", [307, 308])
def test_a_redirection_that_keeps_the_request_is_followed(code):
    with scripted((200, {"outputs": {"labels": [["O"]]}})) as other:
        headers = {"Location": f"{other.url}/v1/models/m:predict"}
        with scripted((code, {}), headers=headers) as server:
            assert predict(server.url) == {"labels": [["O"]]}
    assert [body for _, body in other.requests] == [body for _, body in server.requests]


def test_a_redirection_in_a_circle_ends():
    with scripted((308, {}), headers={"Location": "/again"}) as server:
        assert "the server is at another address: /again" in str(failure(server.url))
        assert len(server.requests) == 6


@pytest.mark.parametrize("code", [301, 302, 303])
def test_a_server_that_has_moved_is_named(code):
    """The request would be sent on to it without its body."""
    with scripted((code, {}), headers={"Location": "https://elsewhere.invalid/x"}) as server:
        error = failure(server.url)
    assert f"error {code}, the server is at another address: https://elsewhere" in str(error)
    assert (error.status, error.retryable, len(server.requests)) == (code, False, 1)


def test_no_password_in_a_message():
    for url in ("http://me:secret@127.0.0.1:1", "https://me:secret@127.0.0.1:1"):
        assert "secret" not in str(failure(url))


def test_a_proxy_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    error = failure("http://server.invalid:8501")
    assert "no connection through the proxy that the environment names (HTTP_PROXY" in str(error)


def test_certificates_that_are_not_there(monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/no/such/file")
    assert "/no/such/file" in str(failure("https://127.0.0.1:1"))


def test_a_copy_in_another_process():
    with scripted((200, ANSWER)) as server:
        transport = pickle.loads(pickle.dumps(RestTransport(server.url, 30.0)))
        assert transport.predict("m", "draft", {"tokens": [["a"]]}) == ANSWER["outputs"]
        transport.close()
