"""Sizes, clients that misbehave, models that take their time, and faults of the program."""

import gzip
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
