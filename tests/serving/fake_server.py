"""An HTTP server that answers as it is told, one answer after another."""

import contextlib
import http.server
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator


class Reset:
    """In place of an answer: the connection is torn down."""


class Silence:
    """In place of an answer: none within the client's time."""


Answer = tuple[int, object] | type[Reset] | type[Silence]


class Script:
    """What to answer, and what was asked.

    Attributes:
      answers: (status, body) or Reset or Silence, taken from the front; the last one stays.
      requests: (path, parsed body) of each request.
    """

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[tuple[str, dict]] = []
        self.url = ""


@contextlib.contextmanager
def scripted(*answers: Answer, headers: dict[str, str] | None = None) -> Iterator[Script]:
    script = Script(*answers)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            script.requests.append((self.path, json.loads(body)))
            answer = script.answers[0] if len(script.answers) == 1 else script.answers.pop(0)
            if answer is Reset:
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
                self.close_connection = True
                return
            if answer is Silence:
                time.sleep(1.0)
                self.close_connection = True
                return
            status, content = answer
            content = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *arguments: None
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
