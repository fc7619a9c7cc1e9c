"""A file on a server on this machine, which may be cut off, changed or refused."""

import hashlib
import http.server

CONTENT = bytes(range(256)) * 1_000
SUM = hashlib.sha256(CONTENT).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves the server's content; its plan says how many bytes each answer may have."""

    def do_GET(self):
        server = self.server
        server.asked.append(self.headers.get("Range"))
        server.asked_if.append(self.headers.get("If-Range"))
        if server.status != 200:
            self.send_error(server.status)
            return
        start = 0
        unchanged = self.headers.get("If-Range") in (None, *server.marks.values())
        if server.resumes and unchanged and (wanted := self.headers.get("Range")):
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
        if start >= len(server.content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(server.content)}")
            self.end_headers()
            return
        body = server.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        for name, value in server.marks.items():
            self.send_header(name, value)
        self.end_headers()
        most = server.plan.pop(0) if server.plan else len(body)
        self.wfile.write(body[:most])

    def log_message(self, *_):
        pass
