"""Speed of a server over REST: requests per second and latency, by signature and batch size.

    python -m benchmarks.serving [--run_dir=RUN] [--seconds=5]
    python -m benchmarks.serving --url=http://host:8501 [--model_name=uanet]

Without --url the run (or an untrained model of the sizes of configs/uanet_fast.flags) is exported
with M = 1 and M = 8 and served by the local server on this machine. Every client sends its next
request when it has its answer; clients run in this process, so on one machine they and the server
share the cores.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence

import numpy as np
import requests

from benchmarks.command_line import make_parser

BATCH_SIZES = (1, 8, 32)
SAMPLES = (1, 8)
SIGNATURES = ("serving_default", "with_threshold", "draft", "ids", "text")
_UNKNOWN_ID = 1
TYPES, LENGTH, SENTENCES = 4, 13, 256
_ROOT = pathlib.Path(__file__).resolve().parent.parent
_WARM_UP_REQUESTS = 5
_START_SECONDS = 300


@dataclasses.dataclass
class Load:
    """Measurements of one kind of request.

    Attributes:
      seconds: latency of each request.
      elapsed: seconds from the first request to the last answer.
      failed: requests that were not answered with 200.
    """

    seconds: list[float]
    elapsed: float
    failed: int


def table(
    url: str,
    models: dict[str, str],
    sentences: Sequence[Sequence[str]],
    *,
    clients: int = 2,
    seconds: float = 5.0,
) -> str:
    """Requests per second and latencies, as a Markdown table.

    Args:
      url: of the server.
      models: {its name in the table: its name on the server}; raw text goes to "NAME_text".
      sentences: tokenised, to make requests of.
      clients: that send requests at once.
      seconds: how long each row is measured, after a few requests that do not count.

    Raises:
      RuntimeError: a request failed.
    """
    lines = [
        "| M | signature | sentences per request | requests/s | sentences/s | p50 ms | p95 ms "
        "| p99 ms |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for label, model in models.items():
        for signature in SIGNATURES:
            for size in BATCH_SIZES:
                name = f"{model}_text" if signature == "text" else model
                address = f"{url}/v1/models/{name}:predict"
                bodies = request_bodies(signature, sentences, size)
                load = measure_load(address, bodies, clients=clients, seconds=seconds)
                if load.failed:
                    raise RuntimeError(f"{load.failed} requests to {address} failed.")
                rate = len(load.seconds) / load.elapsed
                p50, p95, p99 = 1000.0 * np.percentile(load.seconds, (50, 95, 99))
                lines.append(
                    f"| {label} | {signature} | {size} | {rate:,.0f} | {rate * size:,.0f} "
                    f"| {p50:.1f} | {p95:.1f} | {p99:.1f} |"
                )
    return "\n".join(lines)


def request_bodies(signature: str, sentences: Sequence[Sequence[str]], size: int) -> list[bytes]:
    """Requests in columnar form, of ``size`` sentences each, as they come."""
    bodies = []
    for start in range(0, len(sentences) - size + 1, size):
        batch = sentences[start : start + size]
        if signature == "text":
            body: dict = {"inputs": [" ".join(tokens) for tokens in batch]}
        else:
            body = {"signature_name": signature, "inputs": _inputs(signature, batch)}
        bodies.append(json.dumps(body).encode())
    return bodies


def _inputs(signature: str, batch: Sequence[Sequence[str]]) -> dict[str, list]:
    """The padded tensors of a request. All ids are the unknown one's, which costs the same."""
    width = max(map(len, batch))
    padded = [[*tokens, *[""] * (width - len(tokens))] for tokens in batch]
    lengths = {"lengths": [len(tokens) for tokens in batch]}
    if signature == "ids":
        longest = max(len(token) for tokens in batch for token in tokens)
        characters = [
            [[_UNKNOWN_ID] * len(token) + [0] * (longest - len(token)) for token in row]
            for row in padded
        ]
        words = [[_UNKNOWN_ID if token else 0 for token in row] for row in padded]
        return {"word_ids": words, "char_ids": characters, **lengths}
    if signature == "with_threshold":
        return {"tokens": padded, "threshold": [0.35] * len(batch), **lengths}
    return {"tokens": padded, **lengths}


def measure_load(url: str, bodies: Sequence[bytes], *, clients: int, seconds: float) -> Load:
    """Sends requests from ``clients`` threads for some seconds.

    Args:
      url: where to.
      bodies: requests, sent in turn.
      clients: threads; each waits for its answer before it sends the next.
      seconds: how long.
    """
    latencies: list[list[float]] = [[] for _ in range(clients)]
    failures = [0] * clients
    ready = threading.Barrier(clients + 1)

    def client(number: int) -> None:
        with requests.Session() as session:
            for body in bodies[:_WARM_UP_REQUESTS]:
                session.post(url, data=body, timeout=100)
            ready.wait()
            end = time.perf_counter() + seconds
            position = number
            while (start := time.perf_counter()) < end:
                answer = session.post(url, data=bodies[position % len(bodies)], timeout=100)
                latencies[number].append(time.perf_counter() - start)
                failures[number] += answer.status_code != 200
                position += clients

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    ready.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - start
    return Load([value for part in latencies for value in part], elapsed, sum(failures))


@contextlib.contextmanager
def served(run_dir: str | None) -> Iterator[tuple[str, dict[str, str]]]:
    """Exports with each M and serves; gives the URL and the models."""
    from uanet_tf.exporting.saved_model import export

    with tempfile.TemporaryDirectory(prefix="uanet_tf_") as folder:
        if run_dir is None:
            run_dir = os.path.join(folder, "run")
            _write_untrained_run(pathlib.Path(run_dir))
        names = {str(samples): f"m{samples}" for samples in SAMPLES}
        for samples, name in names.items():
            export(run_dir, folder, name=name, num_samples=int(samples))
        with _server(pathlib.Path(folder)) as url:
            yield url, names


def _write_untrained_run(folder: pathlib.Path) -> None:
    from benchmarks.systems import recipe, sentences_like, tagger_for

    config = recipe("uanet_fast")
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config.to_dict()))
    tagger_for(config, sentences_like(TYPES, LENGTH, 2000)).save(folder / "model.keras")


@contextlib.contextmanager
def _server(folder: pathlib.Path) -> Iterator[str]:
    """The local server of all models below a folder, on a free port."""
    command = [sys.executable, "-m", "serving.local_server", "--rest_api_port=0"]
    log = folder / "server.log"
    with log.open("w") as stream:
        process = subprocess.Popen([*command, f"--export_dir={folder}"], cwd=_ROOT, stderr=stream)
    try:
        end = time.monotonic() + _START_SECONDS
        while not (found := re.search(r"Served at (http://[^/]+)", log.read_text())):
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"The server does not start:\n{log.read_text()}")
            time.sleep(0.1)
        yield found.group(1)
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Measures and prints the table."""
    parser = make_parser("serving", __doc__)
    parser.add_argument("--url", help="a server that runs already")
    parser.add_argument("--model_name", default="uanet", help="with --url: its model")
    parser.add_argument("--run_dir", help="without --url: a trained run")
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5.0, help="seconds per row")
    parser.add_argument("--out", help="file to write the table to")
    arguments = parser.parse_args()
    from benchmarks import measure
    from benchmarks.systems import sentences_like

    sentences = [sentence.tokens for sentence in sentences_like(TYPES, LENGTH, SENTENCES)]
    options = {"clients": arguments.clients, "seconds": arguments.seconds}
    before = measure.matmul_rate()
    if arguments.url:
        models = {"as exported": arguments.model_name}
        rows = table(arguments.url.rstrip("/"), models, sentences, **options)
        where = f"{arguments.url}; clients on {measure.device_name()}"
    else:
        with served(arguments.run_dir) as (url, models):
            rows = table(url, models, sentences, **options)
        where = f"local server and clients on {measure.device_name()}"
    weights = f"run {arguments.run_dir}" if arguments.run_dir else "untrained weights"
    head = (
        f"{where}; {arguments.clients} clients; {weights if not arguments.url else 'its model'}; "
        f"{np.mean([len(tokens) for tokens in sentences]):.1f} tokens per sentence; "
        f"{arguments.seconds:g} s a row. Large float32 matrix product on the clients' machine: "
        f"{before / 1e9:.0f} GFLOP/s before, {measure.matmul_rate() / 1e9:.0f} after."
    )
    text = f"{head}\n\n{rows}\n"
    if arguments.out:
        pathlib.Path(arguments.out).write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
