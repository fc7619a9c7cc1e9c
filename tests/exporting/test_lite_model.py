"""A TensorFlow Lite file behind the local server answers as the SavedModels of the same run."""

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import requests

from tests.serving.servers import in_thread
from uanet_tf.commands import serve
from uanet_tf.errors import InputError
from uanet_tf.exporting.sample_inputs import pad
from uanet_tf.exporting.tflite.files import export_tflite
from uanet_tf.serving.client import Client
from uanet_tf.serving.errors import ServingError
from uanet_tf.serving.rest_api import lite_model
from uanet_tf.serving.rest_api.lite_model import LiteModel
from uanet_tf.serving.rest_api.loaded_model import LoadedModel
from uanet_tf.serving.rest_api.model_config import ModelSettings
from uanet_tf.serving.rest_api.model_folder import find_models, list_versions, lite_files
from uanet_tf.serving.rest_api.model_manager import ModelManager
from uanet_tf.serving.rest_api.rest_error import RestError

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [
    "Riverton's Aldbridge didn't win 2-1.",
    "  Ωmega жук 😀 e\u0301 ",
    "",
    "Kelton lost, 東京.",
]
GOOD = {"tokens": [["Riverton", "won", ""]], "lengths": [2]}


@pytest.fixture(scope="module")
def path(run_dir, tmp_path_factory):
    """The run's TensorFlow Lite file."""
    folder = tmp_path_factory.mktemp("tflite")
    (written,) = export_tflite(run_dir, folder, name="tiny", refine_all=True)
    return written.path


@pytest.fixture(scope="module")
def folder(exported, path, tmp_path_factory):
    """mine/1 and mine_text/1, SavedModels; mine/2 and lite/7, TensorFlow Lite files."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(exported.path, folder / "mine" / "1")
    shutil.copytree(exported.text_path, folder / "mine_text" / "1")
    for place in ("mine/2", "lite/7"):
        (folder / place).mkdir(parents=True)
        shutil.copy(path, folder / place / "any.tflite")
    (folder / "lite" / "7" / "assets.extra").mkdir()
    watched = "assets.extra/monitoring.json"
    shutil.copy(exported.path / watched, folder / "lite" / "7" / watched)
    return folder


@pytest.fixture(scope="module")
def words(sentences):
    """Sentences without empty tokens, which the file does not take."""
    return [sentence for sentence in sentences if all(sentence)]


@pytest.fixture(scope="module")
def load():
    """Loads a version as the command does."""
    serve.FLAGS(["serve"])
    yield serve._load
    serve.FLAGS.unparse_flags()


@pytest.fixture(scope="module")
def lite(folder):
    loaded = LiteModel(folder / "lite" / "7", threads=2)
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def url(folder, load):
    versions = {"mine": None, "mine_text": None, "lite": 1}
    models = [
        ModelSettings(name, str(folder / name), latest=latest) for name, latest in versions.items()
    ]
    models.append(ModelSettings("lite_text", str(folder / "lite")))
    with in_thread(models, load=load) as url:
        yield url


def ask(url, inputs, model="lite", **more):
    body = {"inputs": inputs, **more}
    answer = requests.post(f"{url}/v1/models/{model}:predict", json=body, timeout=60)
    return answer.status_code, answer.json()


def as_bytes(inputs, more=0):
    rows = [
        [word.encode() for word in [*row, *row[:1] * more]] for row in inputs["tokens"].tolist()
    ]
    return {**inputs, "tokens": np.array(rows, object)}


def assert_same(actual, expected):
    """The outputs of two signatures, padding included."""
    assert list(actual) == list(expected)
    for name, values in expected.items():
        assert (actual[name].dtype, actual[name].shape) == (values.dtype, values.shape), name
        if values.dtype == np.float32:
            np.testing.assert_allclose(actual[name], values, rtol=0, atol=1e-5)
        else:
            assert actual[name].tolist() == values.tolist(), name


def test_answers_as_the_saved_model(lite, folder, words):
    reference = LoadedModel(folder / "mine" / "1")
    refined = 0
    for start in range(0, len(words), 16):
        # Wider than the longest; the padding is the first word.
        inputs = as_bytes(pad([*words[start : start + 16], []]), more=2)
        expected = reference.predict("", inputs)
        assert_same(lite.predict("serving_default", inputs), expected)
        refined += expected["refined"].sum()
    assert refined > 50
    assert lite.gamma == reference.gamma
    for side in ("inputs", "outputs"):
        told, known = (each.metadata["serving_default"][side] for each in (lite, reference))
        assert {name: (about["dtype"], about["tensor_shape"]) for name, about in told.items()} == {
            name: (about["dtype"], about["tensor_shape"]) for name, about in known.items()
        }
    assert lite.input_types("") == reference.input_types("")
    assert lite.method("") == reference.method("")
    reference.close()


def test_texts_as_the_saved_model(folder, words):
    model = LiteModel(folder / "lite" / "7", text=True)
    reference = LoadedModel(folder / "mine_text" / "1")
    for texts in (TEXTS, [" ".join(tokens) for tokens in words], [""], []):
        inputs = {"text": np.array([text.encode() for text in texts], object)}
        assert_same(model.predict("", inputs), reference.predict("", inputs))
    assert model.input_types("") == reference.input_types("") == {"text": "string"}
    reference.close()
    model.close()


def test_no_sentences(lite):
    nothing = lite.predict("", {"tokens": np.empty((0, 3), object), "lengths": np.int32([])})
    assert {values.shape for values in nothing.values()} == {(0, 3)}


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (
            {"tokens": ["a"], "lengths": [1]},
            r"tokens must be [B, T] and lengths [B]. Received: [1]",
        ),
        ({"tokens": [["a"]], "lengths": [1, 1]}, "Received: [1, 1] and [2]"),
        ({"tokens": [["a"]], "lengths": [2]}, "A length is beyond the width of tokens."),
        ({"tokens": [["a"]], "lengths": [-1]}, "A length is negative."),
        ({"tokens": [["a", ""]], "lengths": [2]}, "sentences[0]: word 1 must be a string that is"),
        ({"tokens": [[{"b64": "/w=="}]], "lengths": [1]}, "tokens[0] is not valid UTF-8: b'\\xff'"),
        ({"tokens": [["x" * 1001]], "lengths": [1]}, "a word of 1,001 characters"),
        ({"tokens": [["a"]]}, "Missing named input: lengths"),
    ],
)
def test_wrong_inputs_are_refused_and_do_no_harm(url, inputs, said):
    status, answer = ask(url, inputs)
    assert status == 400
    assert said in answer["error"]
    assert ask(url, GOOD)[0] == 200


def test_what_the_file_cannot_do_is_said(url):
    for signature, more in (("with_threshold", {"threshold": [0.5]}), ("draft", {}), ("ids", {})):
        assert ask(url, GOOD | more, signature_name=signature) == (
            400,
            {
                "error": f'Serving signature name: "{signature}" not found: a TensorFlow Lite file '
                "has serving_default alone, with the Gamma that it was exported with."
            },
        )
    with (
        Client(url, "lite") as client,
        pytest.raises(ServingError, match="with the Gamma that it was exported with"),
    ):
        client.tag([["Oslo"]], threshold=0.5)
    assert ask(url, [["a"]], model="lite_text")[1] == {
        "error": "text must be [B]. Received: [1, 1]"
    }


def test_the_client_gets_what_the_saved_models_answer(url, words):
    with Client(url, "lite") as lite, Client(url, "mine") as mine:
        for given in (words, TEXTS, [*words[:3], *TEXTS]):
            for one, two in zip(lite.tag(given), mine.tag(given), strict=True):
                for name in ("tokens", "labels", "refined", "starts", "ends", "spans"):
                    assert getattr(one, name) == getattr(two, name)
                np.testing.assert_allclose(one.uncertainty, two.uncertainty, rtol=0, atol=1e-5)


def test_other_ways_to_ask(url):
    outputs = ask(url, GOOD)[1]["outputs"]
    rows = requests.post(
        f"{url}/v1/models/lite:predict",
        json={"instances": [{"tokens": GOOD["tokens"][0], "lengths": 2}]},
        timeout=60,
    ).json()["predictions"]
    assert rows == [{name: values[0] for name, values in outputs.items()}]
    tensors = [
        {"name": "tokens", "shape": [1, 3], "datatype": "BYTES", "data": GOOD["tokens"][0]},
        {"name": "lengths", "shape": [1], "datatype": "INT32", "data": [2]},
    ]
    answer = requests.post(
        f"{url}/v2/models/lite/infer", json={"inputs": tensors}, timeout=60
    ).json()
    assert {each["name"]: each["data"] for each in answer["outputs"]} == {
        name: values[0] for name, values in outputs.items()
    }
    about = requests.get(f"{url}/v2/models/lite", timeout=10).json()
    assert about["platform"] == "tensorflow_lite"
    assert {each["name"]: each["datatype"] for each in about["inputs"]} == {
        "tokens": "BYTES",
        "lengths": "INT32",
    }
    models = requests.get(f"{url}/models.json", timeout=10).json()["models"]
    shown = {each["name"]: (each["signatures"], each["gamma"]) for each in models}
    assert shown["lite"] == ({"serving_default": ["lengths", "tokens"]}, shown["mine"][1])
    assert shown["lite_text"] == ({"serving_default": ["text"]}, shown["mine"][1])
    assert shown["mine"][1] > 0
    metadata = requests.get(f"{url}/v1/models/lite/metadata", timeout=10).json()["metadata"]
    assert set(metadata["signature_def"]["signature_def"]) == {"serving_default"}


def test_what_was_asked_is_compared_with_development_data(url, words):
    def seen():
        reports = requests.get(f"{url}/monitoring", timeout=10).json()["models"]
        found = {each["name"]: each["monitoring"] for each in reports}
        return [found[name]["sentences"] for name in ("lite", "lite_text")], found["mine"]

    before, none = seen()
    with Client(url, "lite") as client:
        client.tag([*words, *TEXTS])
    after, _ = seen()
    assert none is None
    assert after[0] == before[0] + len(words)
    assert before[1] < after[1] <= before[1] + len(TEXTS)


def test_a_folder_of_both_kinds(url):
    """Versions 1, a SavedModel, and 2, a file, answer alike; the file is the latest."""
    one, two = (ask(url, GOOD, f"mine/versions/{number}")[1]["outputs"] for number in (1, 2))
    assert one["labels"] == two["labels"]
    np.testing.assert_allclose(one["uncertainty"], two["uncertainty"], rtol=0, atol=1e-5)
    assert ask(url, GOOD, "mine")[1]["outputs"] == two


def test_many_threads(lite, words):
    inputs = as_bytes(pad(words))
    expected, answers = lite.predict("", inputs), []

    def tag():
        answers.append(lite.predict("", inputs))

    threads = [threading.Thread(target=tag) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6
    for answer in answers:
        assert all(np.array_equal(answer[name], expected[name]) for name in expected)


def test_a_request_that_takes_too_long_is_stopped(folder):
    model = LiteModel(folder / "lite" / "7", timeout_ms=1)
    tokens = np.full((400, 8), b"Oslo", object)
    with pytest.raises(RestError, match="took longer than 1 ms") as caught:
        model.predict("", {"tokens": tokens, "lengths": np.full(400, 8, np.int32)})
    assert caught.value.status == 504
    model.close()


# ------------------------------------------------------------------------------- versions


def test_a_damaged_version_leaves_the_older_one(path, tmp_path, load, caplog):
    (tmp_path / "1").mkdir()
    shutil.copy(path, tmp_path / "1" / "a.tflite")
    (tmp_path / "2").mkdir()
    content = path.read_bytes()
    (tmp_path / "2" / "a.tflite").write_bytes(content[: len(content) // 2])
    manager = ModelManager([ModelSettings("m", str(tmp_path))], load, poll_seconds=0)
    manager.start()
    states = dict(manager.states("m"))
    assert states[2].state == "END"
    assert states[2].error.endswith(
        "2/a.tflite is not a TensorFlow Lite model with labels and vocabulary: "
        "name one that export.py --tflite wrote."
    )
    assert "m version 2 is not served" in caplog.text
    assert "Traceback" not in caplog.text
    # Version 1 is not loaded at the start, as with SavedModels: the latest is wanted.
    (tmp_path / "2" / "a.tflite").write_bytes(content)
    manager.poll()
    assert manager.loaded_versions("m") == [2]
    (tmp_path / "3").mkdir()
    (tmp_path / "3" / "a.tflite").write_bytes(b"")
    manager.poll()
    assert manager.loaded_versions("m") == [2]
    assert dict(manager.states("m"))[3].state == "END"
    assert manager.stop()
    assert not [key for key in lite_model._taggers if key[0].startswith(str(tmp_path))]


def test_what_cannot_be_loaded(path, tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"must hold one \.tflite file\. Found: 0"):
        LiteModel(tmp_path)
    shutil.copy(path, tmp_path / "a.tflite")
    shutil.copy(path, tmp_path / "b.tflite")
    with pytest.raises(InputError, match=r"must hold one \.tflite file\. Found: 2"):
        LiteModel(tmp_path)
    (tmp_path / "b.tflite").unlink()
    monkeypatch.setitem(sys.modules, "uanet_lite", None)
    with pytest.raises(InputError, match="needs the package uanet_lite"):
        LiteModel(tmp_path)


def test_a_file_that_is_written_over_changes_nothing(path, tmp_path):
    """A mapped file would end the process."""
    file = tmp_path / "a.tflite"
    shutil.copy(path, file)
    model, texts = LiteModel(tmp_path), LiteModel(tmp_path, text=True)
    assert model._tagger is texts._tagger
    tokens = {"tokens": np.array([[b"Oslo"]], object), "lengths": np.int32([1])}
    expected = model.predict("", tokens)
    file.write_bytes(b"")
    threads = [threading.Thread(target=model.predict, args=("", tokens)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.predict("", tokens)["uncertainty"] == expected["uncertainty"]
    model.close()
    texts.close()


def test_models_of_a_folder(folder, path, tmp_path):
    assert [(each.name, each.lite) for each in find_models(str(folder))] == [
        ("lite", False),
        ("mine", False),
        ("mine_text", False),
        ("lite_text", True),
    ]
    assert lite_files(str(folder / "mine" / "1")) == []
    both = ModelSettings("x_text", str(folder / "mine"), lite=True)
    assert list(list_versions(both)) == [2]
    (tmp_path / "m" / "1").mkdir(parents=True)
    assert [each.name for each in find_models(str(tmp_path))] == ["m"]


# ---------------------------------------------------------------------- without TensorFlow

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

import json
from uanet_tf.commands import serve
from uanet_tf.serving.rest_api.app import make_app
from uanet_tf.serving.rest_api.handler import Handler
from uanet_tf.serving.rest_api.model_manager import ModelManager
from uanet_tf.serving.rest_api.web_server import make_server

serve.FLAGS(["serve", "--export_dir=" + sys.argv[1]])
manager = ModelManager(serve._models(), serve._load, poll_seconds=0)
manager.start()
handler = Handler(manager, serve._limits())
body = json.dumps({"inputs": {"tokens": [["Oslo", "won"]], "lengths": [2]}}).encode()
print(handler.predict("/v1/models/lite:predict", body).status)
body = json.dumps({"inputs": ["Oslo won."]}).encode()
print(handler.predict("/v1/models/lite_text:predict", body).status)
for target in ("/", "/models.json", "/monitoring", "/v1/models/lite/metadata", "/v2/models/lite"):
    print(handler.quick_answer("GET", target).status)
try:
    serve._load(sys.argv[2], "saved")
except Exception as error:
    print(error)
print(manager.stop(), [name for name in BEYOND if name in sys.modules])
"""


def test_tensorflow_is_not_imported(path, tmp_path):
    (tmp_path / "saved").mkdir()
    (tmp_path / "lite" / "1").mkdir(parents=True)
    shutil.copy(path, tmp_path / "lite" / "1")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(tmp_path / "saved")],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *statuses, saved, last = done.stdout.splitlines()
    assert statuses == ["200"] * 7
    assert saved == (
        f"{tmp_path}/saved: is no TensorFlow Lite file, and SavedModels need TensorFlow, which is "
        "not installed."
    )
    assert last == "True []"
