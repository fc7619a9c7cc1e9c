"""Sizes, clients that misbehave, models that take their time, and faults of the program."""

import gzip
import socket
import threading
import time
import urllib.parse

import pytest
import requests

from tests.serving.rest_api.http_calls import COLUMN, call, predict
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

    def test_a_client_that_goes_away(self, url):
        address = urllib.parse.urlsplit(url)
        for sent in (
            b"",
            b"POST /v1/models/uanet:predict HTTP/1.1\r\nContent-Length: 100\r\n\r\n{",
        ):
            with socket.create_connection((address.hostname, address.port)) as connection:
                connection.sendall(sent)
        assert predict(url, COLUMN)[0] == 200

    @pytest.mark.parametrize("sent", [b"nonsense\r\n\r\n", b"\x16\x03\x01\x02\x00", b"\x00" * 100])
    def test_what_is_no_http(self, url, sent):
        address = urllib.parse.urlsplit(url)
        with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1000)
        assert predict(url, COLUMN)[0] == 200


class Stuck:
    """A model whose answers wait until they may come; or one that is broken inside."""

    def __init__(self):
        self.started, self.go_on = threading.Semaphore(0), threading.Event()
        self.most, self.running, self.lock = 0, 0, threading.Lock()

    def input_types(self, signature):
        del signature
        import tensorflow as tf

        return {"x": tf.float32}

    def predict(self, signature, inputs):
        if signature == "fault":
            raise RuntimeError("a fault of the program")
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.started.release()
        assert self.go_on.wait(60)
        with self.lock:
            self.running -= 1
        return {"y": inputs["x"]}

    def close(self):
        pass


@pytest.fixture
def stuck(tmp_path):
    (tmp_path / "1").mkdir()
    model = Stuck()
    with in_thread([ModelSettings("m", str(tmp_path))], load=lambda path: model, threads=2) as url:
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


def test_a_fault_of_the_program_is_told_in_json(stuck):
    url, model = stuck
    model.go_on.set()
    status, content = predict(url, '{"signature_name": "fault", "inputs": [1]}', "m")
    assert (status, content) == (500, {"error": "Internal error: RuntimeError"})
    assert predict(url, '{"inputs": [1]}', "m")[0] == 200
