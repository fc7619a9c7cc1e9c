"""A process that imports TensorFlow, perhaps tensorflow-text, and nothing else."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.models.model_contract import text

SCRIPT = """
import sys
import numpy as np
import tensorflow as tf
if sys.argv[1] == "text":
    import tensorflow_text
loaded = {}
print("started", flush=True)
for line in sys.stdin:
    path, signature, inputs, outputs = line.rstrip("\\n").split("\\t")
    if path not in loaded:
        try:
            loaded[path] = tf.saved_model.load(path)
        except Exception as error:
            print("failed", repr(error), flush=True)
            continue
    arrays = np.load(inputs, allow_pickle=True)
    tensors = {name: tf.constant(arrays[name]) for name in arrays.files}
    answers = loaded[path].signatures[signature](**tensors)
    np.savez(outputs, **{name: tensor.numpy() for name, tensor in answers.items()})
    print(*sys.modules, flush=True)
"""


class CannotBeLoaded(Exception):
    """With what TensorFlow says."""


class FreshProcess:
    """Calls signatures of SavedModels.

    Args:
      folder: for its files.
      text: import tensorflow-text too.
    """

    def __init__(self, folder: Path, *, text: bool):
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", SCRIPT, "text" if text else "core"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.modules: set[str] = set()

    def ask(self, path: Path, signature: str, **inputs: Any) -> dict[str, np.ndarray]:
        files = (self._folder / "inputs.npz", self._folder / "outputs.npz")
        np.savez(files[0], **inputs)
        line = "\t".join(map(str, (path, signature, *files)))
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().split()
        if answer == ["started"]:
            answer = self._process.stdout.readline().split()
        if answer[0] == "failed":
            raise CannotBeLoaded(" ".join(answer))
        self.modules = {name.split(".")[0] for name in answer}
        arrays = np.load(files[1], allow_pickle=True)
        return {name: text(arrays[name]) for name in arrays.files}

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=120)
        self._process.stdout.close()
