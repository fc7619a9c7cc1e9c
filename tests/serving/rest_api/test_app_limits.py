"""Sizes, clients that misbehave, models that take their time, and faults of the program."""

import contextlib
import gzip
import json
import socket
import threading
import time
import urllib.parse

import pytest
import requests

from tests.serving.rest_api.http_calls import COLUMN, call, predict
from tests.serving.rest_api.stuck_model import Stuck
from tests.serving.servers import in_thread
from uanet_tf.serving.rest_api.model_config import ModelSettings


class TestSizes:
    def test_a_body_over_the_limit(self, url):
        for size in (1 << 20, 10_000_000):
            body = COLUMN[:-1] + ' , "more": "' + "a" * size + '"}'
            status, content = predict(url, body)
            assert status == 413
            assert "1,048,576 bytes" in content["error"]
        assert predict(url, COLUMN)[0] == 200

    def test_a_body_without_a_length(self, url):
        def chunks(count):
            yield COLUMN.encode()
            for _ in range(count):
                yield b" " * 65536

        address = f"{url}/v1/models/uanet:predict"
        assert requests.post(address, data=chunks(3), timeout=60).status_code == 200
        assert requests.post(address, data=chunks(40), timeout=60).status_code == 413

    def test_gzip(self, url):
        packed = {"Content-Encoding": "gzip"}
        assert predict(url, gzip.compress(COLUMN.encode()), **packed)[0] == 200
        assert predict(url, COLUMN, **packed)[0] == 400
        assert predict(url, gzip.compress(COLUMN.encode())[:-10], **packed)[0] == 400
        bomb = gzip.compress(b" " * 50_000_000)
        assert len(bomb) < 100_000
        assert predict(url, bomb, **packed)[0] == 413

    @pytest.mark.parametrize("sent", [b"nonsense\r\n\r\n", b"\x16\x03\x01\x02\x00", b"\x00" * 100])
    def test_what_is_no_http(self, url, sent):
        address = urllib.parse.urlsplit(url)
        with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1000)
        assert predict(url, COLUMN)[0] == 200


class TestTokens:
    @pytest.mark.parametrize(
        ("model", "inputs", "tokens"),
        [
            ("uanet", {"tokens": [["a"] * 101], "lengths": [1]}, 101),
            ("uanet", {"tokens": [["a"]] * 101, "lengths": [1] * 101}, 101),
            ("uanet", {"tokens": [["a"] * 11] * 10, "lengths": [1] * 10}, 110),
            ("uanet", {"tokens": [[]] * 101, "lengths": [0] * 101}, 101),
            ("uanet_text", ["a " * 101], 101),
            ("uanet_text", ["," * 101], 101),
            ("uanet_text", ["🙂" * 101], 101),
            ("uanet_text", ["\u0301 " * 101], 101),
            ("uanet_text", ["a", "a b c", *["a"] * 40], 126),
        ],
    )
    def test_a_request_over_the_limit_is_refused_in_one_sentence(
        self, small_url, model, inputs, tokens
    ):
        status, content = predict(small_url, json.dumps({"inputs": inputs}), model)
        assert (status, content) == (
            400,
            {
                "error": f"The request has {tokens} tokens, padding included; the limit is 100 "
                "(--max_tokens_per_request)."
            },
        )


@pytest.fixture(scope="module")
def small_url(toy_folder):
    names = ("uanet", "uanet_text")
    models = [ModelSettings(name, str(toy_folder / name)) for name in names]
    with in_thread(models, tokens=100) as url:
        yield url


class TestTime:
    def address(self, url):
        parts = urllib.parse.urlsplit(url)
        return parts.hostname, parts.port

    @pytest.mark.parametrize(
        "sent", [b"", b"POST /v1/models/uanet:predict HTTP/1.1\r\nX-A: ", b"GET"]
    )
    def test_a_head_that_does_not_come_is_cut(self, hasty_url, sent):
        with socket.create_connection(self.address(hasty_url), timeout=20) as connection:
            connection.sendall(sent)
            start = time.monotonic()
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1000) == b""
            assert 0.3 < time.monotonic() - start < 15

    def test_a_body_in_drops_is_refused(self, hasty_url):
        head = (
            b"POST /v1/models/uanet:predict HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
        )
        with socket.create_connection(self.address(hasty_url), timeout=20) as connection:
            connection.sendall(head)
            for _ in range(5):  # no more: a server that has closed would reset the connection
                connection.sendall(b" ")
                time.sleep(0.05)
            answer = b""
            while more := connection.recv(1000):
                answer += more
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"--read_timeout_seconds" in answer

    def test_an_answer_that_is_not_taken_is_cut(self, hasty_url):
        # Far more than the system keeps for a reader.
        body = json.dumps({"signature_name": "string", "inputs": "a" * (16 << 20)}).encode()
        path = b"/v1/models/types:predict"
        head = b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (path, len(body))
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(20)
            connection.connect(self.address(hasty_url))
            connection.sendall(head + body)
            start = connection.recv(300)
            assert start.startswith(b"HTTP/1.1 200"), start
            time.sleep(1.5)
            taken = 0
            with contextlib.suppress(ConnectionResetError):
                while piece := connection.recv(1 << 20):
                    taken += len(piece)
        assert taken < 16 << 20


@pytest.fixture(scope="module")
def hasty_url(toy_folder, types_folder):
    models = [
        ModelSettings("uanet", str(toy_folder / "uanet")),
        ModelSettings("types", str(types_folder / "types")),
    ]
    with in_thread(models, read_seconds=0.5, body_bytes=32 << 20) as url:
        yield url


def test_connections_beyond_the_limit_are_told(toy_folder):
    models = [ModelSettings("uanet", str(toy_folder / "uanet"))]
    with in_thread(models, connections=3) as url:
        parts = urllib.parse.urlsplit(url)
        held = [socket.create_connection((parts.hostname, parts.port)) for _ in range(3)]
        time.sleep(0.2)
        with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
            answer = connection.recv(1000)
        assert answer.startswith(b"HTTP/1.1 503 ")
        head, _, content = answer.partition(b"\r\n\r\n")
        assert json.loads(content) == {"error": "Too many connections so far"}
        assert b"content-length: %d\r\n" % len(content) in head + b"\r\n"
        for connection in held:
            connection.close()
        time.sleep(0.2)
        assert predict(url, COLUMN)[0] == 200


@pytest.fixture
def stuck(tmp_path):
    (tmp_path / "1").mkdir()
    model = Stuck()
    with in_thread(
        [ModelSettings("m", str(tmp_path))], load=lambda path, name: model, threads=2
    ) as url:
        yield url, model
        model.go_on.set()


def test_the_server_answers_while_models_run_and_bounds_how_many(stuck):
    url, model = stuck
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(predict(url, '{"inputs": [1]}', "m")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for _ in range(2):
        assert model.started.acquire(timeout=30)
    start = time.monotonic()
    assert call(url, "/v1/models/m")[0] == 200
    assert call(url, "/v1/models/other:predict", "{}", "GET")[0] == 400
    assert time.monotonic() - start < 20
    assert results == []
    model.go_on.set()
    for thread in threads:
        thread.join()
    assert results == [(200, {"outputs": [1.0]})] * 8
    assert model.most == 2


def test_no_answer_takes_longer_than_allowed(tmp_path):
    (tmp_path / "1").mkdir()
    model = Stuck()
    settings = [ModelSettings("m", str(tmp_path))]
    with in_thread(settings, load=lambda path, name: model, threads=2, answer_seconds=0.5) as url:
        results = []

        def ask():
            start = time.monotonic()
            results.append((*predict(url, '{"inputs": [1]}', "m"), time.monotonic() - start))

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        message = "The answer took longer than 500 ms (--rest_api_timeout_in_ms)."
        assert [result[:2] for result in results] == [(504, {"error": message})] * 6
        assert all(0.4 < seconds < 10 for *_, seconds in results)
        model.go_on.set()
        assert predict(url, '{"inputs": [1]}', "m")[0] == 200
        assert model.most == 2  # those that waited for a thread never ran
        assert model.runs == 3


def test_a_fault_of_the_program_is_told_in_json(stuck):
    url, model = stuck
    model.go_on.set()
    status, content = predict(url, '{"signature_name": "fault", "inputs": [1]}', "m")
    assert (status, content) == (500, {"error": "Internal error: RuntimeError"})
    assert predict(url, '{"inputs": [1]}', "m")[0] == 200
