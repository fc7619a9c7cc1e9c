"""Versions that are TensorFlow Lite files: found, damaged, written over, without TensorFlow."""

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api.lite_model import LiteModel
from uanet_tf.serving.rest_api.model_config import (
    ModelSettings,
    find_models,
    latest_version,
    lite_files,
)

ROOT = Path(__file__).resolve().parents[2]


def test_what_cannot_be_loaded(lite_file, tmp_path):
    with pytest.raises(InputError, match=r"must hold one \.tflite file\. Found: 0"):
        LiteModel(tmp_path)
    shutil.copy(lite_file, tmp_path / "a.tflite")
    shutil.copy(lite_file, tmp_path / "b.tflite")
    with pytest.raises(InputError, match=r"must hold one \.tflite file\. Found: 2"):
        LiteModel(tmp_path)


def test_a_file_that_is_written_over_changes_nothing(lite_file, tmp_path):
    """A mapped file would end the process."""
    file = tmp_path / "a.tflite"
    shutil.copy(lite_file, file)
    model = LiteModel(tmp_path)
    tokens = {"tokens": np.array([[b"Oslo"]], object), "lengths": np.int32([1])}
    expected = model.predict("", tokens)
    file.write_bytes(b"")
    threads = [threading.Thread(target=model.predict, args=("", tokens)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.predict("", tokens)["uncertainty"] == expected["uncertainty"]


def test_models_of_a_folder(served_folder, tmp_path):
    assert [(each.name, each.lite) for each in find_models(str(served_folder))] == [
        ("lite", False),
        ("mine", False),
        ("mine_text", False),
        ("lite_text", True),
    ]
    assert lite_files(str(served_folder / "mine" / "1")) == []
    both = ModelSettings("x_text", str(served_folder / "mine"), lite=True)
    assert latest_version(both)[0] == 2
    (tmp_path / "m" / "1").mkdir(parents=True)
    assert [each.name for each in find_models(str(tmp_path))] == ["m"]


# The runtime is a stand-in, where ai-edge-litert is not installed.
PROGRAM = """
import sys, types
BEYOND = ("keras", "h5py", "requests", "scipy", "sentencex", "wcwidth")
sys.modules["tensorflow"] = None
try:
    import ai_edge_litert.interpreter
except ImportError:
    import numpy as np
    from uanet_lite import interpreter

    class Interpreter:
        def __init__(self, **arguments):
            assert arguments["model_content"]

        def get_signature_runner(self, name):
            return self

        def get_input_details(self):
            return interpreter.INPUTS

        def get_output_details(self):
            return interpreter.OUTPUTS

        def __call__(self, word_ids, char_ids):
            return {name: np.zeros_like(word_ids) for name in interpreter.OUTPUTS}

    kinds = types.SimpleNamespace(BUILTIN_WITHOUT_DEFAULT_DELEGATES=0)
    interpreter._runtime = lambda: (Interpreter, kinds, None)
    interpreter._check_operations = lambda *_: None

import functools
import json
from uanet_tf.commands import serve_command
from uanet_tf.serving.rest_api.app import make_app
from uanet_tf.serving.rest_api.handler import Handler
from uanet_tf.serving.rest_api.model_manager import ModelManager

how = serve_command.Serving(export_dir=sys.argv[1])
load = functools.partial(serve_command._load, how)
manager = ModelManager(serve_command._models(how), load, poll_seconds=0)
manager.start()
handler = Handler(manager)
body = json.dumps({"inputs": {"tokens": [["Oslo", "won"]], "lengths": [2]}}).encode()
print(handler.predict("/v1/models/lite:predict", body).status)
body = json.dumps({"inputs": ["Oslo won."]}).encode()
print(handler.predict("/v1/models/lite_text:predict", body).status)
for target in ("/", "/models.json", "/v1/models/lite/metadata"):
    print(handler.quick_answer("GET", target).status)
try:
    load(sys.argv[2], "saved")
except Exception as error:
    print(error)
print([name for name in BEYOND if name in sys.modules])
"""


def test_tensorflow_is_not_imported(lite_file, tmp_path):
    (tmp_path / "saved").mkdir()
    (tmp_path / "lite" / "1").mkdir(parents=True)
    shutil.copy(lite_file, tmp_path / "lite" / "1")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(tmp_path / "saved")],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *statuses, saved, last = done.stdout.splitlines()
    assert statuses == ["200"] * 5
    assert saved == (
        f"{tmp_path}/saved: is no TensorFlow Lite file, and SavedModels need TensorFlow, which is "
        "not installed."
    )
    assert last == "[]"
