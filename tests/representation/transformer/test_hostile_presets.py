"""Pretrained BERTs of strangers: read as data, whatever they name."""

import json
import pickle
import sys

import h5py
import numpy as np
import pytest

from tests.models.hostile_archives import (
    LINKS,
    MODULE,
    THING,
    python_call,
    write_module,
    write_odd_weights,
)
from tests.representation.transformer.written_preset import write_preset
from tests.tiny_encoder import write_tiny_encoder
from uanet_tf.errors import InputError
from uanet_tf.representation.transformer.pretrained_encoder import read_pretrained


@pytest.fixture(scope="module")
def preset(backbone, tmp_path_factory):
    return write_preset(backbone, tmp_path_factory.mktemp("keras_nlp") / "preset")


@pytest.fixture
def copied(preset, tmp_path):
    """A copy of the preset that may be changed."""
    for path in preset.rglob("*"):
        if path.is_file():
            target = tmp_path / "preset" / path.relative_to(preset)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return tmp_path / "preset"


@pytest.fixture
def marker(tmp_path, monkeypatch):
    path = tmp_path / "marker"
    write_module(tmp_path, path)
    monkeypatch.syspath_prepend(tmp_path)
    yield path
    sys.modules.pop(MODULE, None)


def rewrite(path, change):
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))


def assert_refused(folder, says):
    with pytest.raises(InputError, match=says) as caught:
        read_pretrained(str(folder))
    message = str(caught.value)
    assert str(folder) in message
    assert message.isprintable()


CALLS = {
    "module": lambda marker: THING,
    "call": lambda marker: python_call("os", "system", f"touch {marker}"),
}


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json"])
@pytest.mark.parametrize("kind", CALLS)
def test_settings_of_compilation_are_not_executed(copied, marker, file, kind):
    """A class that keras_nlp expects, and beside it what Keras makes for ``compile``."""
    loss = {"optimizer": "sgd", "loss": CALLS[kind](marker)}
    rewrite(copied / file, lambda values: values.update(compile_config=loss))
    assert read_pretrained(str(copied)).spec.architecture.width == 16
    assert not marker.exists()
    assert MODULE not in sys.modules


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("file", ["config.json", "tokenizer.json"])
def test_other_objects_are_not_made(copied, marker, file, kind):
    (copied / file).write_text(json.dumps(CALLS[kind](marker)))
    assert_refused(copied, file)
    assert not marker.exists()
    assert MODULE not in sys.modules


CHANGES = [
    ("config.json", "hidden_dim", 10**12),
    ("config.json", "hidden_dim", 9_000_000),
    ("config.json", "hidden_dim", True),
    ("config.json", "hidden_dim", "16"),
    ("config.json", "hidden_dim", THING),
    ("config.json", "num_layers", 900),
    ("config.json", "num_layers", 10**9),
    ("config.json", "num_heads", 0),
    ("config.json", "dropout", 1.5),
    ("config.json", "num_segments", 10**7),
    ("config.json", "kernel_initializer", THING),
    ("tokenizer.json", "vocabulary", "/etc/passwd"),
    ("tokenizer.json", "vocabulary", ["[UNK]"]),
    ("tokenizer.json", "lowercase", "yes"),
    ("tokenizer.json", "oov_token", "[PAD]"),
    ("tokenizer.json", "special_tokens_in_strings", True),
    ("tokenizer.json", "file_assets", ["/etc/passwd"]),
]


@pytest.mark.parametrize(("file", "key", "value"), CHANGES)
def test_foreign_settings_are_refused(copied, file, key, value):
    rewrite(copied / file, lambda values: values["config"].update({key: value}))
    assert_refused(copied, "cannot be loaded by keras_nlp: ")


def test_the_policy_of_newer_versions_is_passed_over(copied):
    policy = {
        "module": "keras",
        "class_name": "DTypePolicy",
        "config": {"name": "float32"},
        "registered_name": None,
    }
    rewrite(copied / "config.json", lambda values: values["config"].update(dtype=policy))
    assert read_pretrained(str(copied)).spec.architecture.width == 16


@pytest.mark.parametrize("kind", [*LINKS, "array of nothing", "half"])
def test_weights_stand_in_the_preset_alone(preset, copied, tmp_path, kind):
    odd = write_odd_weights(kind, preset / "model.weights.h5", tmp_path)
    (copied / "model.weights.h5").write_bytes(odd.read_bytes())
    assert_refused(copied, r"model\.weights\.h5")


def test_fewer_weights_than_the_configuration_asks_for(copied):
    with h5py.File(copied / "model.weights.h5", "w") as file:
        file["layers/vars/0"] = np.zeros(3, np.float32)
    assert_refused(copied, "asks for more weights than are stored with it")


class _Payload:
    def __init__(self, marker):
        self._marker = marker

    def __reduce__(self):
        return open, (str(self._marker), "w")


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.safetensors"])
def test_pickles_are_not_read(tmp_path, name):
    """Hugging Face's old format of weights, by its own name and by that of the new one."""
    folder = write_tiny_encoder(tmp_path / "bert")
    (folder / "model.safetensors").unlink()
    (folder / name).write_bytes(pickle.dumps(_Payload(tmp_path / "marker")))
    says = "pytorch_model.bin is not read" if name == "pytorch_model.bin" else "cannot be read"
    assert_refused(folder, f"{says}.*")
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize(
    ("file", "key", "value"),
    [
        ("config.json", "hidden_size", 10**12),
        ("config.json", "hidden_size", True),
        ("config.json", "hidden_size", "16"),
        ("config.json", "hidden_size", 60_000),
        ("config.json", "num_hidden_layers", 10**9),
        ("config.json", "num_attention_heads", 0),
        ("config.json", "hidden_dropout_prob", 7),
        ("config.json", "layer_norm_eps", [1]),
        ("config.json", "hidden_act", ["gelu"]),
        ("config.json", "model_type", {"module": MODULE}),
        ("tokenizer_config.json", "do_lower_case", "no"),
    ],
)
def test_foreign_settings_of_hugging_face_are_refused(tmp_path, file, key, value):
    folder = write_tiny_encoder(tmp_path / "bert", tokenizer={})
    rewrite(folder / file, lambda values: values.update({key: value}))
    assert_refused(folder, "")
