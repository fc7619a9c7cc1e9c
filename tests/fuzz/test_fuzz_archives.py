"""Saved models, exports and TensorFlow Lite files with damage of all kinds."""

import io
import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exporting.tflite.test_model_file import FILES, SETTINGS
from tests.fuzz.inputs import check_said, damaged_bytes, damaged_json, share, to_bytes
from tests.models.contract_setup import make_sentences, make_vocabulary, small
from uanet_lite.model_file import read_model_file
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.models.build import make_tagger
from uanet_tf.models.loading import load_model
from uanet_tf.models.tagger import Tagger

CONFIG, WEIGHTS = "config.json", "model.weights.h5"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The members of a small tagger's archive, and a folder to put others into."""
    folder = tmp_path_factory.mktemp("saved")
    config = small(Config().replace(decoder="softmax", encoder="none", representation="words"))
    tagger = make_tagger(config, make_vocabulary(make_sentences("IOB2"), "IOB2"))
    tagger.save(folder / "model.keras")
    with zipfile.ZipFile(folder / "model.keras") as archive:
        return {name: archive.read(name) for name in archive.namelist()}, folder


def load(folder, content):
    (folder / "model.keras").write_bytes(content)
    try:
        assert isinstance(load_model(folder), Tagger)
    except InputError as error:
        check_said(error)


def packed(members, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


@share(0.08)
@given(data=st.data())
def test_configurations_in_archives(saved, data):
    members, folder = saved
    config = data.draw(damaged_json(json.loads(members[CONFIG])))
    load(folder, packed({**members, CONFIG: to_bytes(config)}))


@share(0.05)
@given(data=st.data())
def test_weights_in_archives(saved, data):
    members, folder = saved
    load(folder, packed({**members, WEIGHTS: data.draw(damaged_bytes(members[WEIGHTS]))}))


@share(0.1)
@given(data=st.data(), name=st.sampled_from(sorted(FILES)))
def test_files_behind_a_tensorflow_lite_graph(tmp_path_factory, data, name):
    content = data.draw(damaged_bytes(FILES[name].encode()))
    if name == "settings.json" and data.draw(st.booleans()):
        content = to_bytes(data.draw(damaged_json(SETTINGS)))
    path = tmp_path_factory.getbasetemp() / "x.tflite"
    whole = b"graph" * 10 + packed({**FILES, name: content})
    path.write_bytes(data.draw(damaged_bytes(whole)) if data.draw(st.booleans()) else whole)
    try:
        read_model_file(path)
    except InputError as error:
        check_said(error)
