"""uanet_lite answers as the model that the file was made from; it needs little to do so."""

import json
import os
import pickle
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

import uanet_lite
import uanet_tf
from tests.exporting.tflite.test_tflite_tagger import ODD, repacked
from uanet_lite import interpreter
from uanet_lite.columns_file import read_corpus
from uanet_tf.resources.sample_corpus import write_sample_corpus

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    """Generated sentences that the model has not seen, and odd ones."""
    folder = tmp_path_factory.mktemp("generated")
    paths = write_sample_corpus(
        folder, seed=71, train_sentences=10, dev_sentences=10, test_sentences=300
    )
    corpus = [list(sentence.tokens) for sentence in read_corpus(paths["test"])]
    return [*corpus, ODD, ["a"]]


def assert_same(actual, expected):
    assert len(actual) == len(expected)
    for one, two in zip(actual, expected, strict=True):
        for name in ("tokens", "labels", "draft_labels", "refined_labels", "refined", "scheme"):
            assert getattr(one, name) == getattr(two, name)
        assert one.spans == two.spans
        assert str(one) == str(two)
        np.testing.assert_allclose(one.uncertainty, two.uncertainty, rtol=0, atol=1e-5)
        np.testing.assert_allclose(one.confidence, two.confidence, rtol=0, atol=1e-5)


def test_tags_as_the_model(lite_tagger, model, sentences):
    long = np.random.default_rng(1).choice(model.vocabulary.words, 1200).tolist()
    sentences = [*sentences, long]  # in windows
    tagged = lite_tagger.tag(sentences)
    assert_same(tagged, uanet_tf.tag(model, sentences))
    assert sum(map(sum, (sentence.refined for sentence in tagged))) > 100
    assert lite_tagger.threshold == model.threshold
    assert lite_tagger.label_names == model.label_names
    text = "Riverton's Aldbridge didn't win, U.S. papers say."
    assert lite_tagger.tokenizer.spans(text) == model.vocabulary.tokenizer.spans(text)
    assert lite_tagger.settings["tokenizer"]["kind"] == model.vocabulary.tokenizer.kind


def test_batches_are_tagged_as_sentences(lite_tagger, path, sentences):
    long = [np.random.default_rng(1).choice(sentences[0] + sentences[1], 1200).tolist()]
    expected = lite_tagger.tag(sentences[:50] + long)
    for threads in (1, 3):
        tagger = uanet_lite.Tagger(path, threads=threads)
        assert uanet_tf.tag(tagger, sentences[:50] + long) == expected


def test_threads_change_nothing(lite_tagger, path, sentences):
    sentences = sentences[-80:]
    expected = lite_tagger.tag(sentences)
    assert uanet_lite.Tagger(path, threads=3).tag(sentences) == expected
    # One tagger that several threads use.
    answers = {}

    def tag(part):
        answers[part] = lite_tagger.tag(sentences[part::4])

    threads = [threading.Thread(target=tag, args=[part]) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(answers[part] == expected[part::4] for part in range(4))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_stream_is_read_as_it_is_answered(path, threads):
    read = []

    def endless():
        while True:
            read.append(1)
            yield ["Oslo", "won"]

    stream = uanet_lite.Tagger(path, threads=threads).tag_stream(endless())
    for _ in range(5):
        next(stream)
    assert len(read) <= 5 + 4 * threads * (threads > 1)
    stream.close()


def test_texts_and_their_entities(lite_tagger):
    text = "  In Riverton, 東京 beat\tMarlow's 2-1."
    text_answer, words, nothing, no_words = lite_tagger.tag(
        [text, ["In", "Riverton", ",", "東京"], "", []]
    )
    assert text_answer.source_text == text
    for token, start, end in zip(
        text_answer.tokens, text_answer.starts, text_answer.ends, strict=True
    ):
        assert text[start:end] == token
    assert text_answer.entities
    for entity in text_answer.entities:
        tokens = slice(entity.token_start, entity.token_end)
        assert text[entity.start : entity.end] == entity.text
        assert text_answer.starts[entity.token_start] == entity.start
        assert text_answer.labels[entity.token_start].endswith(entity.type)
        assert entity.confidence == min(text_answer.confidence[tokens])
        assert entity.uncertainty == max(text_answer.uncertainty[tokens])
    assert words.text == "In Riverton , 東京"
    assert words.starts == [0, 3, 12, 14]
    assert len(nothing) == len(no_words) == 0
    assert lite_tagger.tag(text) == [text_answer]


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        (["a", ""], r"sentences\[1\]: word 1 must be a string that is not empty. Received: ''"),
        (["a", 3], r"sentences\[1\]: word 1 must be a string .* Received: 3"),
        (["x" * 1001], r"sentences\[1\]: word 0 has 1,001 characters"),
        (["a\ud800"], r"sentences\[1\]: word 0 is not valid Unicode text"),
        ("a\ud800", r"sentences\[1\] is not valid Unicode text"),
        (7, r"sentences\[1\] must be a text or a list of words. Received: 7"),
        (b"a", r"sentences\[1\] must be a text or a list of words. Received: b'a'"),
    ],
)
def test_what_is_no_sentence(lite_tagger, sentence, said):
    with pytest.raises(uanet_lite.InputError, match=said):
        lite_tagger.tag([["a"], sentence])


@pytest.mark.parametrize("mapped", [True, False])
def test_a_tagger_can_be_sent_to_another_process(lite_tagger, path, sentences, mapped):
    content = None if mapped else Path(path).read_bytes()
    tagger = uanet_lite.Tagger(path, threads=2, content=content)
    sent = pickle.loads(pickle.dumps(tagger))
    assert (sent.threads, sent.settings) == (2, tagger.settings)
    assert sent.tag(sentences[:5]) == lite_tagger.tag(sentences[:5])


# ------------------------------------------------------------------------------- files


def test_files_that_are_no_model(path, tmp_path):
    with pytest.raises(
        uanet_lite.InputError, match=r"no/such\.tflite cannot be read: No such file"
    ):
        uanet_lite.Tagger("no/such.tflite")
    with pytest.raises(uanet_lite.InputError, match=r"README\.md is not a TensorFlow Lite model"):
        uanet_lite.Tagger(ROOT / "README.md")
    with zipfile.ZipFile(path) as source:
        files = {name: source.read(name) for name in source.namelist()}
    for name, packing in (("stored", zipfile.ZIP_STORED), ("packed", zipfile.ZIP_DEFLATED)):
        other = tmp_path / name
        with zipfile.ZipFile(other, "w", packing) as archive:
            for key, content in files.items():
                archive.writestr(key, content)
        with pytest.raises(uanet_lite.InputError, match=f"{name} is not a TensorFlow Lite model"):
            uanet_lite.Tagger(other)
    with pytest.raises(uanet_lite.InputError, match=r"`threads` must be at least 1\. Received: 0"):
        uanet_lite.Tagger(path, threads=0)


def test_a_vocabulary_that_does_not_fit(path, tmp_path):
    words = "".join(f"{'x' * n}{'y' * m}\n" for n in range(1, 100) for m in range(100))
    tagger = uanet_lite.Tagger(repacked(path, tmp_path / "x.tflite", **{"words.txt": words}))
    with pytest.raises(uanet_lite.InputError, match="does not fit its own vocabulary"):
        tagger.tag([["x" * 99 + "y" * 99]])
    assert tagger.tag([["x"]])[0].tokens == ["x"]


def test_without_any_runtime(path, monkeypatch):
    for name in ("ai_edge_litert", "ai_edge_litert.interpreter", "tensorflow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(uanet_lite.InputError, match="needs the package ai-edge-litert"):
        interpreter.make_runner(path)


# ------------------------------------------------------------------------ environments

FIRST_LABEL = """
import time
start = time.perf_counter()
import uanet_lite
tagger = uanet_lite.Tagger({path!r})
labels = tagger.tag(["Riverton beat Marlow."])[0].labels
seconds = time.perf_counter() - start
import sys
print(seconds, labels, "tensorflow" in sys.modules, uanet_lite.__file__)
"""


@pytest.mark.process
def test_an_environment_of_its_own(path, lite_tagger, tmp_path):
    """``pip install ./uanet_lite``: little to install, and quickly there."""
    venv, source = tmp_path / "venv", tmp_path / "source"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    python = venv / "bin" / "python"
    # From a copy, since the build leaves its own files beside the sources.
    subprocess.run(["cp", "-r", ROOT / "uanet_lite", source], check=True)
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    install += ["--no-input", "--no-compile", source]
    done = subprocess.run(install, capture_output=True, text=True, check=False, cwd=tmp_path)
    if done.returncode and "No matching distribution found for" in done.stderr:
        pytest.skip("no package index is reached")
    assert done.returncode == 0, done.stderr[-1000:]
    size = sum(file.lstat().st_size for file in venv.rglob("*"))
    assert size <= 200e6
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    code = FIRST_LABEL.format(path=str(path))
    # The first one compiles the sources.
    starts = [run_python(python, code, outside, tmp_path) for _ in range(3)]
    assert min(float(said.split()[0]) for said in starts) <= 1.5
    labels = lite_tagger.tag(["Riverton beat Marlow."])[0].labels
    assert all(f"{labels} False {venv}" in said for said in starts)
    started = time.perf_counter()
    out = subprocess.run(
        [venv / "bin" / "uanet-lite", f"--model={path}", "--threads=2"],
        input="Riverton beat Marlow.\n" * 3,
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=outside,
    ).stdout
    assert time.perf_counter() - started < 30
    assert [json.loads(line)["labels"] for line in out.splitlines()] == [labels] * 3


def run_python(python, code, environment, folder):
    command_line = [python, "-c", code]
    done = subprocess.run(
        command_line, capture_output=True, text=True, check=True, cwd=folder, env=environment
    )
    return done.stdout
