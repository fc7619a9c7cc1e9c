"""New, broken and removed versions of a model that is being served by a process of its own."""

import os
import shutil
import threading
import time

import pytest
import requests

from tests.serving import toy_models
from tests.serving.servers import ServerProcess, wait_for_version

psutil = pytest.importorskip("psutil")

SENTENCE = '{"inputs": {"tokens": [["the", "Chelsea"]], "lengths": [2]}}'


def ask(url, session=requests):
    """1 over the version that answers, which is what the toy's confidence is."""
    response = session.post(f"{url}/v1/models/uanet:predict", data=SENTENCE, timeout=100)
    assert response.status_code == 200, response.text
    return response.json()["outputs"]["confidence"][0][0]


@pytest.fixture(scope="module")
def folder(toy_folder, tmp_path_factory):
    return shutil.copytree(toy_folder / "uanet", tmp_path_factory.mktemp("served") / "uanet")


@pytest.fixture(scope="module")
def server(folder):
    with ServerProcess(
        "--model_name=uanet", f"--model_base_path={folder}", "--file_system_poll_wait_seconds=0.2"
    ) as process:
        process.url = process.wait_until_ready()
        yield process


@pytest.mark.process
def test_a_new_version_takes_over_without_a_failed_request(server, folder):
    seen: list[list[float]] = [[] for _ in range(8)]
    stop = threading.Event()
    old = max(int(path.name) for path in folder.iterdir())

    def client(confidences):
        session = requests.Session()
        while not stop.is_set():
            confidences.append(ask(server.url, session))

    threads = [threading.Thread(target=client, args=(values,)) for values in seen]
    for thread in threads:
        thread.start()
    try:
        # Written elsewhere and renamed into place, as an export does.
        made = toy_models.write_token_model(folder.parent / "made", old + 1)
        os.rename(made, folder / str(old + 1))
        wait_for_version(server.url, "uanet", old + 1)
        wait_for_version(server.url, "uanet", old, "END")
        counts = [len(values) for values in seen]
        end = time.monotonic() + 60
        while any(map(int.__le__, map(len, seen), counts)) and time.monotonic() < end:
            time.sleep(0.05)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    for values in seen:
        assert values[0] == pytest.approx(1 / old)
        assert values[-1] == pytest.approx(1 / (old + 1))
        assert values == sorted(values, reverse=True)  # never back to the old one
    address = f"{server.url}/v1/models/uanet/versions/{old}:predict"
    assert requests.post(address, data=SENTENCE, timeout=60).status_code == 404
