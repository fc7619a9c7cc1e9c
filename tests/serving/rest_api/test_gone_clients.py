"""Requests whose clients have gone: no model runs for them."""

import json
import socket
import threading
import time
import urllib.parse

import pytest

from tests.serving.rest_api.http_calls import predict
from tests.serving.rest_api.stuck_model import Stuck
from tests.serving.servers import in_thread
from uanet_tf.serving.rest_api.model_config import ModelSettings

VALUES = 6  # of a request, of 10 that run at once


@pytest.fixture
def served(tmp_path):
    """A server with a thread that runs a model, and one that waits for its turn."""
    (tmp_path / "1").mkdir()
    model, settings = Stuck(), [ModelSettings("m", str(tmp_path))]
    with in_thread(settings, load=lambda path, name: model, threads=2, tokens=10) as url:
        first = threading.Thread(target=predict, args=(url, body(), "m"))
        first.start()
        assert model.started.acquire(timeout=30)
        yield url, model
        model.go_on.set()
        first.join()


def body():
    return json.dumps({"inputs": [1.0] * VALUES})


def send(url):
    """A request whose answer is not awaited yet."""
    address = urllib.parse.urlsplit(url)
    connection = socket.create_connection((address.hostname, address.port), timeout=30)
    head = f"POST /v1/models/m:predict HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body())}\r\n"
    connection.sendall(f"{head}\r\n{body()}".encode())
    return connection


def test_those_who_went_away_are_not_computed(served):
    url, model = served
    waiting = [send(url) for _ in range(6)]
    stays = send(url)
    time.sleep(0.2)
    for connection in waiting:
        connection.close()
    time.sleep(0.2)
    model.go_on.set()
    assert stays.recv(12) == b"HTTP/1.1 200"
    assert model.runs == 2  # the first, and the one that stays
    stays.close()


def test_pipelined_requests_are_all_answered(served):
    url, model = served
    model.go_on.set()
    with send(url) as connection:
        head = f"POST /v1/models/m:predict HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body())}"
        connection.sendall(f"{head}\r\n\r\n{body()}".encode() * 9)
        answers = b""
        while answers.count(b"HTTP/1.1 200") < 10:
            answers += connection.recv(1 << 16)
    assert model.runs == 11
