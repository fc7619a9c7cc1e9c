"""Saved models, exports and TensorFlow Lite files with damage of all kinds."""

import io
import json
import shutil
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exporting.tflite.test_model_file import FILES, SETTINGS
from tests.fuzz.inputs import check_said, damaged_bytes, damaged_json, share, to_bytes
from tests.models.contract_setup import make_sentences, make_vocabulary, small
from tests.serving import toy_models
from uanet_lite.model_file import read_model_file
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.files.checksums import CHECKSUMS, check_checksums, write_checksums
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


@share(0.03)
@given(data=st.data(), compression=st.sampled_from((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
def test_bytes_of_archives(saved, data, compression):
    members, folder = saved
    load(folder, data.draw(damaged_bytes(packed(members, compression))))


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


@pytest.fixture(scope="module")
def version(tmp_path_factory):
    path = tmp_path_factory.mktemp("exported") / "1"
    toy_models.write_token_model(path)
    (path / "assets.extra").mkdir(exist_ok=True)
    write_checksums(path)
    yield path
    shutil.rmtree(path)


@share(0.05)
@given(data=st.data())
def test_every_change_of_an_export_is_found(version, data):
    names = [line.split("  ", 1)[1] for line in (version / CHECKSUMS).read_text().splitlines()]
    path = version / data.draw(st.sampled_from([*names, CHECKSUMS]))
    whole = path.read_bytes()
    changed = data.draw(damaged_bytes(whole))
    path.write_bytes(changed)
    try:
        check_checksums(version)
    except InputError:
        assert changed != whole
    else:
        # A list that is shorter lists less.
        assert changed == whole or path == version / CHECKSUMS
    finally:
        path.write_bytes(whole)
