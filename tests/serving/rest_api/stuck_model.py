"""A model that answers when the test wants it to."""

import threading


class Stuck:
    """A model whose answers wait until they may come; or one that is broken inside."""

    def __init__(self):
        self.started, self.go_on = threading.Semaphore(0), threading.Event()
        self.most, self.running, self.runs, self.lock = 0, 0, 0, threading.Lock()

    def input_types(self, signature):
        del signature
        return {"x": "float32"}

    def predict(self, signature, inputs):
        if signature == "fault":
            raise RuntimeError("a fault of the program")
        with self.lock:
            self.running += 1
            self.runs += 1
            self.most = max(self.most, self.running)
        self.started.release()
        assert self.go_on.wait(60)
        with self.lock:
            self.running -= 1
        return {"y": inputs["x"]}
