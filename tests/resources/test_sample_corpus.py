"""The sample corpora: determinism, mixture of names, noise, files."""

import collections
import hashlib
import os
import statistics
import subprocess
import sys

import pytest

from benchmarks.uniform_corpus import generate_uniform
from uanet_lite.columns_file import format_columns, read_corpus
from uanet_lite.tag_schemes import convert, decode_spans, detect_scheme, repair
from uanet_tf.errors import InputError
from uanet_tf.resources.sample_corpus import UNSEEN_NAMES, generate_sentences, write_sample_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    paths = write_sample_corpus(tmp_path_factory.mktemp("sample"))
    return {name: read_corpus(path) for name, path in paths.items()}


def entities(sentences):
    """(tokens, type) of each entity."""
    return [
        (sentence.tokens[span.start : span.end], span.type)
        for sentence in sentences
        for span in decode_spans(sentence.labels, "IOB2")
    ]


def test_sizes_and_lengths(corpus):
    assert {name: len(part) for name, part in corpus.items()} == {
        "train": 1500,
        "dev": 300,
        "test": 300,
    }
    lengths = [len(sentence.tokens) for part in corpus.values() for sentence in part]
    assert min(lengths) >= 4
    assert max(lengths) <= 45
    assert 14 <= statistics.mean(lengths) <= 18.5


def test_labels_are_valid_iob2_of_four_types(corpus):
    for part in corpus.values():
        assert detect_scheme(sentence.labels for sentence in part) == "IOB2"
        assert all(repair(sentence.labels, "IOB2")[1] == 0 for sentence in part)
        counts = collections.Counter(entity_type for _, entity_type in entities(part))
        assert set(counts) == {"PER", "ORG", "LOC", "MISC"}
        assert min(counts.values()) > 0.05 * sum(counts.values())


def test_no_sentence_stands_twice(corpus):
    tokens = [sentence.tokens for part in corpus.values() for sentence in part]
    assert len(set(tokens)) == len(tokens)


@pytest.mark.parametrize("name", ["dev", "test"])
def test_about_a_third_of_the_names_is_unseen(corpus, name):
    seen = {word for tokens, _ in entities(corpus["train"]) for word in tokens}
    names = [tokens for tokens, _ in entities(corpus[name])]
    unseen = sum(any(word not in seen for word in tokens) for tokens in names)
    assert 0.24 <= unseen / len(names) <= 0.38


def test_noise_is_in_train_only(corpus):
    clean = generate_sentences(1500)
    assert [s.tokens for s in corpus["train"]] == [s.tokens for s in clean]
    changed = sum(a.labels != b.labels for a, b in zip(corpus["train"], clean, strict=True))
    assert 40 < changed < 150

    taken = {sentence.tokens for sentence in clean}
    dev = generate_sentences(300, stream="dev", unseen_names=UNSEEN_NAMES, avoid=taken)
    assert corpus["dev"] == dev


def test_no_template_syntax_reaches_the_text(corpus):
    text = " ".join(token for part in corpus.values() for s in part for token in s.tokens)
    assert not set("{}[]()|") & set(text)


def digest(sentences):
    return hashlib.sha256(format_columns(sentences).encode()).hexdigest()


def test_same_seed_same_sentences_in_every_process():
    program = (
        "import hashlib\n"
        "from uanet_lite.columns_file import format_columns\n"
        "from uanet_tf.resources.sample_corpus import *\n"
        "from benchmarks.uniform_corpus import generate_uniform\n"
        "s = generate_sentences(200, seed=4, unseen_names=.3, label_noise=.1)\n"
        "s += generate_uniform(5, 9, 50, seed=4)\n"
        "print(hashlib.sha256(format_columns(s).encode()).hexdigest())\n"
    )
    expected = digest(
        generate_sentences(200, seed=4, unseen_names=0.3, label_noise=0.1)
        + generate_uniform(5, 9, 50, seed=4)
    )
    for hash_seed in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
        )
        assert result.stdout.strip() == expected


def test_writing_again_and_over(tmp_path):
    sizes = {"train_sentences": 20, "dev_sentences": 5, "test_sentences": 6}
    paths = write_sample_corpus(tmp_path / "new" / "sub", **sizes)
    assert sorted(path.name for path in paths["dev"].parent.iterdir()) == [
        "dev.conll",
        "test.conll",
        "train.conll",
    ]
    before = {path: path.read_bytes() for path in paths.values()}
    assert write_sample_corpus(tmp_path / "new" / "sub", **sizes) == paths

    paths["test"].write_text("mine\tO\n")
    paths["dev"].unlink()
    with pytest.raises(InputError, match=r"test\.conll: exists and holds something else"):
        write_sample_corpus(tmp_path / "new" / "sub", **sizes)
    assert paths["test"].read_text() == "mine\tO\n"
    assert not paths["dev"].exists()

    paths["test"].unlink()
    write_sample_corpus(tmp_path / "new" / "sub", **sizes)
    assert {path: path.read_bytes() for path in paths.values()} == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 0}, "count must be at least 1"),
        ({"count": 1, "unseen_names": 1.5}, r"unseen_names must be in \[0, 1\]. Received: 1.5"),
        ({"count": 1, "label_noise": -0.1}, "label_noise"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(InputError, match=message):
        generate_sentences(**options)


@pytest.mark.parametrize(("num_types", "classes"), [(4, 17), (18, 73)])
def test_uniform_sentences(num_types, classes):
    sentences = generate_uniform(num_types, 14, 800, seed=2)
    labels = {label for s in sentences for label in convert(s.labels, "IOB2", "BIOES")}
    assert len(labels) == classes
    lengths = [len(sentence.tokens) for sentence in sentences]
    assert statistics.mean(lengths) == pytest.approx(14, abs=0.8)
    assert min(lengths) >= 1
    assert max(lengths) <= 27
    assert all(repair(sentence.labels, "IOB2")[1] == 0 for sentence in sentences)
