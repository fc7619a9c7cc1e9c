"""What strangers might send: nothing of it is executed, and nothing outside of it is read."""

import copy
import json
import os
import re
import sys
import zipfile

import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import make_sentences, make_vocabulary, small
from tests.models.hostile_archives import (
    CONFIGS,
    KINDS,
    MODULE,
    write_archive,
    write_module,
    write_odd_weights,
)
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.models.build import make_tagger
from uanet_tf.models.loading import check_archive, load_model


@pytest.fixture(scope="module")
def tagger():
    model = make_tagger(small(Config()), make_vocabulary(make_sentences("IOB2", 3), "IOB2"))
    model.threshold = 0.125
    return model


@pytest.fixture(scope="module")
def members(tagger, tmp_path_factory):
    """The members of the archive of a tagger."""
    path = tmp_path_factory.mktemp("run") / "model.keras"
    tagger.save(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def marker(tmp_path, monkeypatch):
    """A file that hostile code makes; the attacker's module can be imported."""
    path = tmp_path / "marker"
    write_module(tmp_path, path)
    monkeypatch.syspath_prepend(tmp_path)
    yield path
    sys.modules.pop(MODULE, None)


def assert_refused(folder, says=""):
    with pytest.raises(InputError, match=f"^{folder}/model.keras cannot be loaded as a ") as caught:
        load_model(folder)
    message = str(caught.value)
    assert says in message
    assert "\n" not in message
    assert message.isprintable()
    assert len(message) < 400 + len(str(folder))


@pytest.mark.parametrize("kind", CONFIGS)
def test_nothing_is_executed(members, marker, tmp_path, kind):
    config = json.dumps(CONFIGS[kind](marker)).encode()
    write_archive(tmp_path / "model.keras", {**members, "config.json": config})
    assert_refused(tmp_path)
    assert not marker.exists()
    assert MODULE not in sys.modules


def at(path, value):
    """Sets a value in the saved configuration; the path is of keys with dots between."""

    def change(config):
        *keys, last = path.split(".")
        place = config
        for key in keys:
            place = place[key]
        if value is REMOVED:
            del place[last]
        else:
            place[last] = value

    change.__name__ = f"{path}={str(value)[:30]!r}"
    return change


REMOVED = ("removed",)  # in place of a value: the key goes
INITIALIZER = {"class_name": "Zeros", "module": "keras.initializers", "config": {}}
LAMBDA = {"class_name": "__lambda__", "config": {"value": ["4wEAAAA=", None, None]}}
FOREIGN = [
    at("module", None),
    at("module", ["os"]),
    at("class_name", 3),
    at("registered_name", "os>system"),
    at("registered_name", "uanet_tf>CRFDecoder"),
    at("registered_name", "uanet_tf>TwoStreamRefiner"),
    at("registered_name", "\x1b[31m\n" * 1000),
    at("registered_name", ["uanet_tf>Tagger"]),
    at("registered_name", REMOVED),
    at("shared_object_id", 1),
    at("inbound_nodes", [[["_CONSTANT_VALUE", -1, "text", {}]]]),
    at("compile_config", {"optimizer": "adam", "loss": LAMBDA}),
    at("build_config", {"input_shape": [None, 3]}),
    at("config", []),
    at("config.dtype", "float32"),
    at("config.dtype", {"class_name": "Policy", "module": MODULE, "config": {}}),
    at("config.trainable", LAMBDA),
    at("config.layers", []),
    at("config.name", INITIALIZER),
    at("config.name", "../../name"),
    at("config.name", "n" * 10**6),
    at("config.config", LAMBDA),
    at("config.config.encoder", [400]),
    at("config.config.encoder.hidden_width", True),
    at("config.config.encoder.hidden_width", 10**12),
    at("config.config.encoder.hidden_width", 10**4000),
    at("config.config.encoder.encoder", INITIALIZER),
    at("config.config.encoder.encoder", "os:system"),
    at("config.config.encoder.encoder_layers", 50),
    at("config.config.encoder.kernel_initializer", INITIALIZER),
    at("config.config.decoder.decoder", "crf"),
    at("config.config.inference.num_samples", 10**9),
    at("config.config.inference.threshold", float("nan")),
    at("config.config.inference.threshold", float("inf")),
    at("config.config.data.normalize_digits", 1),
    at("config.config.data.train_path", None),
    at("config.config.training.save_seconds", -1),
    at("config.config.training.__class__", "x"),
    at("config.config.more", {}),
    at("config.inference", REMOVED),
    at("config.vocabulary", "/etc/passwd"),
    at("config.vocabulary.words", "/etc/passwd"),
    at("config.vocabulary.words", ["Oslo", "Oslo", "Ann"]),
    at("config.vocabulary.words", ["Oslo", LAMBDA, "Ann"]),
    at("config.vocabulary.words", ["Oslo", "\ud800", "Ann"]),
    at("config.vocabulary.words", [f"word{k}" for k in range(50)]),
    at("config.vocabulary.word_counts", [1, True, 1]),
    at("config.vocabulary.word_counts", [1, -1, 1]),
    at("config.vocabulary.word_counts", [1, 10**30, 1]),
    at("config.vocabulary.chars", ["ab"] * 9),
    at("config.vocabulary.labels", []),
    at("config.vocabulary.labels", [f"label{k}" for k in range(70_000)]),
    at("config.vocabulary.scheme", "IOB3"),
    at("config.vocabulary.scheme", REMOVED),
    at("config.vocabulary.pretrained", {"vocabulary": "/etc/passwd"}),
    at("config.vocabulary.more", 3),
]


@pytest.mark.parametrize("change", FOREIGN, ids=lambda change: change.__name__)
def test_foreign_settings_are_refused(members, marker, tmp_path, change):
    config = json.loads(members["config.json"])
    change(config)
    data = json.dumps(config).encode()
    write_archive(tmp_path / "model.keras", {**members, "config.json": data})
    assert_refused(tmp_path)
    assert MODULE not in sys.modules


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "Expecting value"),
        (b"null", "is not a JSON object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"config": 1, "config": 2}', "a key appears twice"),
        (b"\xff\xfe", "codec can't decode"),
        (b'{"config": ' + b"9" * 5000 + b"}", "integer string"),
    ],
)
def test_a_configuration_that_is_no_json(members, tmp_path, text, says):
    write_archive(tmp_path / "model.keras", {**members, "config.json": text})
    assert_refused(tmp_path, says)


def test_an_archive_of_other_members(members, tmp_path):
    path = tmp_path / "model.keras"
    for name in ("../model.keras", "/tmp/x", "assets/lookup", "code.py"):
        write_archive(path, {**members, name: b"text"})
        assert_refused(tmp_path, "unknown member")
    bomb = {**members, "metadata.json": bytes(10**7)}
    write_archive(path, bomb, zipfile.ZIP_DEFLATED)
    assert_refused(tmp_path, "too many for the archive")
    write_archive(path, members, zipfile.ZIP_LZMA)
    assert_refused(tmp_path, "in another way than by deflate")
    write_archive(path, members)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("config.json", b"{}")
    assert_refused(tmp_path, "appears twice")
    write_archive(path, members)
    path.write_bytes(path.read_bytes().replace(b'"uanet_tf>Tagger"', b'"uanet_tf>tagger"'))
    assert_refused(tmp_path, "Bad CRC-32")


def test_archives_that_cannot_be_unpacked(members, tmp_path):
    path = tmp_path / "model.keras"
    write_archive(path, members, zipfile.ZIP_DEFLATED)
    whole = path.read_bytes()
    start = whole.index(b"config.json") + len("config.json")
    path.write_bytes(whole[:start] + b"\xff" * 30 + whole[start + 30 :])
    said = "the archive cannot be unpacked: Error -3 while decompressing"
    assert_refused(tmp_path, said)
    with pytest.raises(InputError, match=said):
        check_archive(path)
    write_archive(path, members)
    locked = bytearray(path.read_bytes())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for found in re.finditer(re.escape(signature), bytes(locked)):
            locked[found.start() + place] |= 1
    path.write_bytes(locked)
    assert_refused(tmp_path, "is encrypted")
    with pytest.raises(InputError, match="is encrypted"):
        check_archive(path)


def test_weights_in_numpy_format_are_not_read(members, tmp_path):
    """Keras would read them with ``allow_pickle``."""
    pickled = {name: members[name] for name in ("config.json", "metadata.json")}
    write_archive(tmp_path / "model.keras", {**pickled, "model.weights.npz": b"PK"})
    assert_refused(tmp_path, "unknown member 'model.weights.npz'")


@pytest.mark.parametrize("kind", KINDS)
def test_weights_stand_in_the_archive_alone(members, tmp_path, kind):
    source = tmp_path / "source.h5"
    source.write_bytes(members["model.weights.h5"])
    data = write_odd_weights(kind, source, tmp_path).read_bytes()
    write_archive(tmp_path / "model.keras", {**members, "model.weights.h5": data})
    assert_refused(tmp_path, "model.weights.h5")


def test_weights_that_nobody_asked_for(members, tagger, tmp_path):
    import h5py

    path = tmp_path / "model.weights.h5"
    path.write_bytes(members["model.weights.h5"])
    with h5py.File(path, "r+") as file:
        file["layers/more"] = np.zeros([2, 3], np.float32)
    write_archive(tmp_path / "model.keras", {**members, "model.weights.h5": path.read_bytes()})
    assert_refused(tmp_path, "it holds more weights than its configuration asks for")


def test_weights_that_are_not_there(members, tagger, tmp_path):
    """As where a part of one's own has a weight more than when it was trained."""
    import h5py

    path = tmp_path / "model.weights.h5"
    path.write_bytes(members["model.weights.h5"])
    with h5py.File(path, "r+") as file:
        small = []
        file.visititems(
            lambda name, item: small.append(name) if getattr(item, "size", 99) == 1 else None
        )
        del file[small[0]]
    write_archive(tmp_path / "model.keras", {**members, "model.weights.h5": path.read_bytes()})
    assert_refused(tmp_path, "its configuration asks for more weights than are stored with it")


def test_what_is_not_a_file(tmp_path):
    (tmp_path / "model.keras").mkdir()
    assert_refused(tmp_path, "not a regular file")
    (tmp_path / "model.keras").rmdir()
    os.mkfifo(tmp_path / "model.keras")
    assert_refused(tmp_path, "not a regular file")


def test_a_legitimate_archive_comes_back_exactly(tagger, members, tmp_path):
    write_archive(tmp_path / "model.keras", members)
    loaded = load_model(tmp_path)
    assert type(loaded) is type(tagger)
    assert loaded.get_config() == tagger.get_config()
    assert loaded.threshold == 0.125
    for one, other in zip(loaded.weights, tagger.weights, strict=True):
        assert (one.name, one.dtype) == (other.name, other.dtype)
        np.testing.assert_array_equal(one, other)
    loaded.save(tmp_path / "again.keras")
    with zipfile.ZipFile(tmp_path / "again.keras") as archive:
        assert archive.read("config.json") == members["config.json"]


def test_settings_that_did_not_exist_yet_have_their_defaults(members, tmp_path):
    config = json.loads(members["config.json"])
    older = copy.deepcopy(config)
    del older["config"]["config"]["decoder"]["refiner_states"]
    assert config != older
    data = json.dumps(older).encode()
    write_archive(tmp_path / "model.keras", {**members, "config.json": data})
    assert load_model(tmp_path).get_config() == config["config"]


def test_keras_own_loading_is_strict_about_our_part(members, tmp_path):
    """What it executes before it asks us we cannot help."""
    config = json.loads(members["config.json"])
    config["config"]["config"]["encoder"]["kernel_initializer"] = INITIALIZER
    data = json.dumps(config).encode()
    write_archive(tmp_path / "model.keras", {**members, "config.json": data})
    with pytest.raises(InputError, match="unknown key 'kernel_initializer'"):
        tf.keras.models.load_model(tmp_path / "model.keras")
