"""The local server on a TensorFlow Lite file beside the SavedModels of the same run.

    python -m benchmarks.lite_server --run_dir=RUN --python=ENVIRONMENT/bin/python [--starts=5]

ENVIRONMENT has no TensorFlow: ``uanet_lite``, absl-py, protobuf, starlette and uvicorn. Both
servers take tokens and texts, are started in turn, and answer each sentence in turn, so that ratios
compare calls under the same load. In the end both tag generated sentences with the Python client,
32 in a request, and the answers are compared. Linux only.
"""

import contextlib
import http.client
import json
import operator
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.command_line import make_parser
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.serving.client import Client

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMES = ("SavedModel", "TensorFlow Lite")
_SERVING = re.compile(r"Served at http://([\w.:]+)/")
_REQUESTS = 100


class Server:
    """A server in a process of its own, and what it took until its first answer.

    Args:
      python: that runs it.
      folder: of its models.
      body: a request for the model "uanet".

    Attributes:
      seconds: of the clock, from the start of the process to the first answer.
      processor_seconds: of all its threads, in that time.
    """

    def __init__(self, python: str, folder: pathlib.Path, body: bytes) -> None:
        start = time.perf_counter()
        command = [
            python,
            "-m",
            "uanet_tf.commands.uanet",
            "serve",
            f"--export_dir={folder}",
            "--rest_api_port=0",
        ]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            command, env=environment, stderr=subprocess.PIPE, text=True, cwd=folder
        )
        assert self.process.stderr is not None
        said = []
        for line in self.process.stderr:
            said.append(line)
            if found := _SERVING.search(line):
                break
        else:
            sys.exit(f"{python} does not serve: {''.join(said)[-500:]}")
        self._connection = http.client.HTTPConnection(found.group(1))
        self._body = body
        self.ask()
        # It opens again: a server ends a connection that rests while the other server starts.
        self._connection.close()
        self.seconds = time.perf_counter() - start
        times = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2]
        ticks = sum(map(int, times.split()[11:13]))
        self.processor_seconds = ticks / os.sysconf("SC_CLK_TCK")

    def ask(self) -> float:
        """Seconds to an answer."""
        start = time.perf_counter()
        self._connection.request("POST", "/v1/models/uanet:predict", self._body)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != http.HTTPStatus.OK:
            sys.exit(content.decode("utf-8", "replace"))
        return time.perf_counter() - start

    def tag(self, sentences: Sequence[Sequence[str]]) -> tuple[list[TaggedSentence], float]:
        """The answers of the client, and the seconds that they took."""
        url = f"http://{self._connection.host}:{self._connection.port}"
        with Client(url, scheme=None) as client:
            start = time.perf_counter()
            tagged: Any = client.tag(sentences)
            return tagged, time.perf_counter() - start

    def memory(self) -> float:
        """Resident memory, MB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0]) * 1024 / 1e6

    def stop(self) -> None:
        """Ends the process."""
        self.process.terminate()
        self.process.communicate()


def table(
    run_dir: str, python: str, *, tokens: int = 20, starts: int = 5, sentences: int = 1_000
) -> str:
    """Start, memory, latency and sentences a second of both servers, and how far they agree.

    Args:
      run_dir: a trained run.
      python: of an environment without TensorFlow.
      tokens: of the sentence.
      starts: of each server.
      sentences: that both tag in the end.

    Returns:
      A Markdown table, and a sentence.
    """
    from uanet_tf.resources.sample_corpus import generate_sentences

    given = [list(sentence.tokens) for sentence in generate_sentences(sentences, seed=9)]
    first: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}
    memory: dict[str, list[float]] = {name: [] for name in NAMES}
    seconds: dict[str, list[float]] = {name: [] for name in NAMES}
    with _exported(run_dir, tokens) as (folders, body):
        for _ in range(starts):
            servers = {}
            try:
                for name, folder in folders.items():
                    chosen = sys.executable if name == NAMES[0] else python
                    servers[name] = Server(chosen, folder, body)
                for _ in range(_REQUESTS):
                    for name, server in servers.items():
                        seconds[name].append(server.ask())
                for name, server in servers.items():
                    first[name].append((server.seconds, server.processor_seconds))
                    memory[name].append(server.memory())
                tagged = {name: server.tag(given) for name, server in servers.items()}
            finally:
                for server in servers.values():
                    server.stop()
    lines = [
        "| server on | first answer after, s | processor, s | resident, MB | p50, ms | "
        "sentences/s, 32 a request |",
        "| --- " * 6 + "|",
    ]
    for name in NAMES:
        clock, processor = (min(each) for each in zip(*first[name], strict=True))
        half = 1000 * statistics.median(seconds[name])
        most = max(memory[name])
        rate = sentences / tagged[name][1]
        lines.append(
            f"| {name} | {clock:.1f} | {processor:.1f} | {most:.0f} | {half:.1f} | {rate:.0f} |"
        )
    one, two = (tagged[name][0] for name in NAMES)
    return "\n".join(lines) + f"\n\n{_agreement(one, two)}"


def _agreement(one: Sequence[TaggedSentence], two: Sequence[TaggedSentence]) -> str:
    labels = [[label for each in tagged for label in each.labels] for tagged in (one, two)]
    nats = [[value for each in tagged for value in each.uncertainty] for tagged in (one, two)]
    same = sum(map(operator.eq, *labels))
    error = max(map(abs, map(operator.sub, *nats)))
    return (
        f"{same:,} of {len(labels[0]):,} labels are the same, uncertainty within {error:.1g} nats."
    )


@contextlib.contextmanager
def _exported(run_dir: str, tokens: int) -> Iterator[tuple[dict[str, pathlib.Path], bytes]]:
    """The models' folders by server, and a request."""
    import uanet_tf
    from uanet_tf.exporting.sample_inputs import sample_sentences
    from uanet_tf.exporting.saved_model import export
    from uanet_tf.exporting.tflite.tflite_export import export_tflite

    vocabulary = uanet_tf.load_model(run_dir).vocabulary
    (words,) = ([word or "." for word in each] for each in sample_sentences(vocabulary, [tokens]))
    body = json.dumps({"inputs": {"tokens": [words], "lengths": [tokens]}}).encode()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        export(run_dir, folder / "saved")
        (written,) = export_tflite(run_dir, folder)
        version = folder / "lite" / "uanet" / "1"
        version.mkdir(parents=True)
        shutil.move(written.path, version)
        yield dict(zip(NAMES, (folder / "saved", folder / "lite"), strict=True)), body


def main() -> None:
    """Prints the table."""
    parser = make_parser("lite_server", __doc__)
    parser.add_argument("--run_dir", required=True)
    parser.add_argument("--python", required=True, metavar="FILE")
    parser.add_argument("--tokens", type=int, default=20)
    parser.add_argument("--starts", type=int, default=5)
    given = parser.parse_args()
    text = table(given.run_dir, given.python, tokens=given.tokens, starts=given.starts)
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
