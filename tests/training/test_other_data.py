"""A run that goes on checks that its data are those it was begun with."""

import gzip
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.tiny_encoder import SUBWORDS, write_tiny_encoder
from tests.training.tiny_run import LIGHT, Corpus, tiny_config
from uanet_lite.columns_file import read_corpus
from uanet_lite.sentence import Sentence
from uanet_tf.errors import InputError
from uanet_tf.training.fit import fit
from uanet_tf.training.prepare import prepare
from uanet_tf.training.run_directory import RunDirectory, hash_json, hash_sentences


@pytest.fixture(scope="module")
def config(corpus, tmp_path_factory):
    """Of a run on a copy of the corpus that may be changed, with pretrained vectors."""
    folder = tmp_path_factory.mktemp("own")
    copied = Corpus(*(shutil.copy(path, folder) for path in corpus))
    vectors = folder / "vectors.txt"
    lines = Path(copied.train).read_text(encoding="utf-8").split("\n")
    words = {line.split()[0] for line in lines if line.strip()}
    rng = np.random.default_rng(1)
    rows = [f"{word} {' '.join(map(str, rng.normal(size=8).round(3)))}" for word in sorted(words)]
    vectors.write_text("\n".join(rows) + "\n", encoding="utf-8")
    further = folder / "further.txt"
    further.write_text("Anna met Bo .\nBo ran\n")
    settings = LIGHT | {"output_dropout": 0.25, "distill_samples": 4, "distill_path": str(further)}
    return tiny_config(copied, word_vectors=str(vectors), **settings)


@pytest.fixture(scope="module")
def hashes(config):
    return prepare(config).hashes


@pytest.fixture
def run_dir(config, hashes, tmp_path):
    """A run that was begun, and saved a state."""
    run = RunDirectory(tmp_path / "run")
    assert not run.claim(config, hashes)
    run.release()
    (run.state / "ckpt-1.index").touch()
    return run.path


@pytest.fixture
def changed():
    """Changes a file for the time of a test."""
    before = {}

    def change(path, function):
        with open(path, encoding="utf-8") as file:
            before[path] = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(function(before[path]))

    yield change
    for path, text in before.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def rename_a_word(text):
    lines = text.split("\n")
    lines[0] = "Xyz" + lines[0]
    return "\n".join(lines)


FILES = ["train_path", "dev_path", "test_path", "word_vectors", "distill_path"]
ARGUMENTS = {name: name.replace("_path", "") for name in FILES[:3]} | {n: n for n in FILES[3:]}


@pytest.mark.parametrize("name", FILES)
def test_other_data_are_refused(config, run_dir, changed, name):
    path = getattr(config.data, name)
    kept = {p: p.read_bytes() for p in run_dir.rglob("*") if p.is_file()}
    changed(path, rename_a_word if name != "word_vectors" else lambda text: text.replace("1", "2"))
    with pytest.raises(InputError) as caught:
        fit(config, run_dir)
    assert str(caught.value) == (
        f"`{ARGUMENTS[name]}={path}` is not what the run in {run_dir} was begun with: its content "
        "has changed. Bring the old content back, or name another `run_dir`."
    )
    assert kept == {p: p.read_bytes() for p in run_dir.rglob("*") if p.is_file()}


@pytest.mark.parametrize("name", FILES[:3])
def test_a_complete_run_is_not_given_for_other_data(config, run_dir, changed, monkeypatch, name):
    monkeypatch.setattr(RunDirectory, "finished_metrics", lambda _: {"dev": {}})
    path = getattr(config.data, name)
    assert fit(config, run_dir) == {"dev": {}}
    changed(path, rename_a_word)
    with pytest.raises(InputError, match=f"`{ARGUMENTS[name]}={path}` is not what the run in"):
        fit(config, run_dir)
    os.rename(path, f"{path}.away")  # what it was made of may be gone
    assert fit(config, run_dir) == {"dev": {}}
    os.rename(f"{path}.away", path)


def test_the_same_data_are_taken(config, hashes, run_dir, changed):
    """Line ends are nothing that training reads."""
    assert set(hashes) == set(FILES)
    changed(config.data.train_path, lambda text: text.replace("\n", "\r\n"))
    assert prepare(config).hashes == hashes
    assert RunDirectory(run_dir).claim(config, hashes)


def test_another_encoder_is_refused(tmp_path, corpus):
    settings = {"representation": "transformer", "refiner_embeddings": "shared", "encoder": "none"}
    found = []
    for name, more in (("one", []), ("two", ["oslo2"])):
        folder = write_tiny_encoder(tmp_path / name, vocabulary=[*SUBWORDS, *more])
        config = tiny_config(corpus, pretrained=str(folder), **settings)
        found.append(prepare(config).hashes["pretrained"])
    assert found[0] != found[1]


def test_without_a_state_there_is_nothing_to_go_on_with(config, hashes, run_dir):
    (run_dir / "checkpoints" / "ckpt-1.index").unlink()
    others = {**hashes, "dev_path": "another"}
    assert RunDirectory(run_dir).claim(config, others)
    assert json.loads((run_dir / "data_hashes.json").read_text()) == others


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"train_path": 3}', "\xff"])
def test_damaged_hashes_are_a_sentence(config, hashes, run_dir, text):
    (run_dir / "data_hashes.json").write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=r"data_hashes\.json cannot be read: [^\n]+$"):
        RunDirectory(run_dir).claim(config, hashes)


def sentence(tokens, labels, new_document=False):
    return Sentence(tuple(tokens), tuple(labels), 1, new_document)


def test_hashes_tell_apart():
    first = [sentence("ab", "XY"), sentence("c", "X")]
    others = [
        [sentence("abc", "XYX")],
        [sentence("ab", "YX"), sentence("c", "X")],
        [sentence("c", "X"), sentence("ab", "XY")],
        [sentence("ab", "XY", True), sentence("c", "X")],
        [sentence(["a", "bc"], "XY"), sentence("", "")],
        [],
    ]
    hashes = {hash_sentences(each) for each in [first, *others]}
    assert len(hashes) == 7
    assert hash_sentences(iter(first)) == hash_sentences(first)
    assert hash_json({"a": 1, "b": [2]}) == hash_json({"b": [2], "a": 1}) != hash_json({"a": 1})


def test_gzip_is_the_same_file(corpus, tmp_path):
    packed = tmp_path / "train.conll.gz"
    with open(corpus.train, "rb") as file:
        packed.write_bytes(gzip.compress(file.read()))
    assert hash_sentences(read_corpus(packed)) == hash_sentences(read_corpus(corpus.train))
