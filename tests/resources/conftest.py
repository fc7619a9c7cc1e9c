"""A server to download from."""

import http.server
import threading

import pytest

from tests.resources.served_file import CONTENT, Handler


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked, server.plan, server.status, server.resumes = [], [], 200, True
        server.asked_if, server.marks, server.content = [], {}, CONTENT
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        server.url = f"http://127.0.0.1:{server.server_port}/file.conll"
        yield server
        server.shutdown()
        thread.join()
