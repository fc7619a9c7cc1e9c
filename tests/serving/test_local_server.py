"""The server as a process of its own: many clients, memory, signals, wrong arguments."""

import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
import requests

from tests.serving.servers import ROOT, ServerProcess

psutil = pytest.importorskip("psutil")
pytestmark = pytest.mark.process

CLIENTS = 200
GOOD = '{"inputs": {"tokens": [["the", "Chelsea"]], "lengths": [2]}}'
BAD = (
    "{",
    '{"instances": []}',
    '{"signature_name": "nope", "inputs": 1}',
    '{"inputs": {"tokens": [["a"]], "lengths": [9]}}',
    '{"inputs": {"tokens": [["a"], []], "lengths": [1, 0]}}',
    '{"inputs": {"tokens": ["a"], "lengths": [1]}}',
)


def ask(url, body=GOOD, session=requests):
    return session.post(f"{url}/v1/models/uanet:predict", data=body, timeout=100)


@pytest.fixture(scope="module")
def server(toy_folder, types_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    (folder / "uanet").symlink_to(toy_folder / "uanet")
    (folder / "types").symlink_to(types_folder / "types")
    with ServerProcess(f"--export_dir={folder}") as process:
        process.url = process.wait_until_ready()
        yield process


def test_the_log_says_served_when_the_server_listens(server):
    """What waits for that word then gets an answer; before it models are loaded."""
    said = [index for index, line in enumerate(server.lines) if "served" in line.lower()]
    loaded = [index for index, line in enumerate(server.lines) if " is loaded from " in line]
    assert len(loaded) == 2
    assert said[0] > loaded[-1]
    assert f"Served at {server.url}/" in server.lines[said[0]]


def test_the_log_does_not_say_served_of_nothing(tmp_path):
    (tmp_path / "uanet").mkdir()
    with ServerProcess(f"--model_base_path={tmp_path}/uanet") as process:
        url = process.wait_until_ready()
        assert f"Nothing to serve yet, waiting for it, at {url}/v1/models/default" in process.log
        assert process.stop() == 0


def test_two_hundred_clients_at_once(server):
    barrier = threading.Barrier(CLIENTS)
    answers = [None] * CLIENTS

    def client(number):
        words = ["The", f"Club{number}"] * (1 + number % 5)
        body = {"inputs": {"tokens": [words], "lengths": [len(words)]}}
        barrier.wait()
        response = requests.post(f"{server.url}/v1/models/uanet:predict", json=body, timeout=100)
        answers[number] = (response.status_code, response.json())

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, (status, answer) in enumerate(answers):
        assert status == 200
        (labels,) = answer["outputs"]["labels"]
        assert len(labels) == 2 * (1 + number % 5)
        assert labels[0] == "B-PER"
        assert answer["outputs"]["uncertainty"][0][1] == pytest.approx(len(f"Club{number}") / 10)


def test_memory_is_steady(server):
    process = psutil.Process(server.process.pid)
    large = '{"inputs": "' + "a" * 10_000_000 + '"}'
    session = requests.Session()

    def many():
        for number in range(200):
            assert ask(server.url, session=session).status_code == 200
            assert ask(server.url, BAD[number % len(BAD)], session).status_code == 400
        for _ in range(5):
            assert ask(server.url, large).status_code == 413

    many()
    before = process.memory_info().rss
    for _ in range(3):
        many()
    grown = (process.memory_info().rss - before) / 2**20
    assert grown < 20, f"{grown:.0f} MB more after 1,200 requests"


def test_a_signal_lets_a_request_end_that_has_begun(server):
    """The last test of this server."""
    results = []

    def slow(steps):
        body = f'{{"signature_name": "slow", "inputs": [{steps:.1f}]}}'
        return requests.post(f"{server.url}/v1/models/types:predict", data=body, timeout=100)

    steps, seconds = 1_000, 0.0
    while seconds < 2.0:  # long enough to be going on when the signal comes
        steps *= 4
        start = time.monotonic()
        assert slow(steps).status_code == 200
        seconds = time.monotonic() - start
    thread = threading.Thread(target=lambda: results.append(slow(steps)))
    thread.start()
    time.sleep(0.3)
    assert server.stop(signal.SIGTERM) == 0
    thread.join()
    assert [response.status_code for response in results] == [200]
    assert "Traceback" not in server.log


def run(*arguments):
    command = [sys.executable, "-m", "serving.local_server", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name the models by one of --export_dir and --model_base_path"),
        (["--model_base_path=a", "--export_dir=b"], "Name the models by one of"),
        (["--export_dir=no/such"], "no/such: cannot be read"),
        (["--export_dir=docs"], "docs: holds no model"),
        (["--model_base_path=no/such"], "no/such: the base path of default is no directory"),
        (["--rest_api_port=70000"], "rest_api_port"),
        (["--host=no.such.host.invalid", "--model_base_path=."], "cannot listen there"),
        (["more"], "Arguments must be flags"),
    ],
)
def test_wrong_arguments_are_told_in_one_sentence(arguments, message):
    code, error = run(*arguments)
    assert code == 2
    assert message in error
    assert len(error.splitlines()) == 1


def test_a_port_that_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, error = run(f"--model_base_path={tmp_path}", f"--rest_api_port={port}")
    assert code == 2
    assert f"--rest_api_port={port}: cannot listen there" in error
    assert len(error.splitlines()) == 1


def test_a_model_that_cannot_be_loaded(tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "saved_model.pb").write_bytes(b"\xff\xff")
    once = "--file_system_poll_wait_seconds=0"
    code, error = run(f"--model_base_path={tmp_path}", "--rest_api_port=0", once)
    assert code == 2
    assert "is not a SavedModel" in error.splitlines()[-1]
    assert "Traceback" not in error


def test_a_start_that_never_looks_again_needs_a_version(tmp_path):
    """Such as with a version's folder for the model's."""
    once = "--file_system_poll_wait_seconds=0"
    code, error = run(f"--model_base_path={tmp_path}", "--rest_api_port=0", once)
    assert code == 2
    assert f"{tmp_path}: holds no version to serve" in error.splitlines()[-1]
