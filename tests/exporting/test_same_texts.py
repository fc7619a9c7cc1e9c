"""Raw text has the same answers in Python, on the command line, of a server, without TensorFlow."""

import json
import random

import numpy as np
import pytest
import requests

import uanet_lite
import uanet_tf
from uanet_tf.commands.runner import exit_code
from uanet_tf.commands.tag_command import tag as tag_command

_NAMES = ["Riverton", "Aldbridge", "Kelton Rovers", "Ωmega", "Mr. Okafor", "U.S.", "Zoë", "東京"]
_SAID = [
    *["{} beat {} 2-1", "{} didn't meet {}", 'In {}, "{}" said no', "{}'s shop (near {}) shut"],
    *["  {} \t{} ", "{}\nor {}", "see https://a.b/{}?x={}", "😀 {} e\u0301 {} 1,000.50"],
]
_NUMBERS = ("uncertainty", "confidence")
# ``uanet tag`` writes all of them; it does not ask for the refined labels of certain tokens.
_KEYS = ("tokens", "starts", "ends", "labels", "draft_labels", "refined")


def _texts(count):
    """Texts of up to three sentences, with what a tokenizer can get wrong; and empty ones."""
    draw = random.Random(5)
    texts = ["", " \n"]
    while len(texts) < count:
        said = [draw.choice(_SAID).format(*draw.choices(_NAMES, k=2)) for _ in range(3)]
        texts.append("".join(f"{each}. " for each in said[: draw.randrange(1, 4)]))
    return texts


@pytest.fixture(scope="module")
def texts():
    return _texts(200)


@pytest.fixture(scope="module")
def expected(model, texts):
    return uanet_tf.tag(model, texts)


def _assert_equal(answers, expected):
    """Dictionaries with the answers for each text are those of Python."""
    assert len(answers) == len(expected)
    for answer, one in zip(answers, expected, strict=True):
        assert {key: answer[key] for key in _KEYS} == {key: getattr(one, key) for key in _KEYS}
        for name in _NUMBERS:
            np.testing.assert_allclose(answer[name], getattr(one, name), rtol=0, atol=1e-5)


def _as_rows(tagged):
    return [{key: getattr(each, key) for key in (*_KEYS, *_NUMBERS)} for each in tagged]


def test_of_a_text_is_one_sentence(expected, texts):
    assert [sentence.source_text for sentence in expected] == texts
    assert any(sentence.tokens.count(".") > 2 for sentence in expected)
    assert sum(len(sentence.entities) for sentence in expected) > 50
    assert {value for each in expected for value in each.refined} == {True, False}


def test_on_the_command_line(run_dir, texts, expected, tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    arguments = [f"--run_dir={run_dir}", f"--input={source}", f"--output={target}"]
    assert exit_code(tag_command, ["tag", *arguments]) == 0
    answers = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    _assert_equal(answers, expected)


def test_of_a_client(url, texts, expected):
    with uanet_tf.Client(url, "tiny") as client:
        answers = client.tag(texts)
    _assert_equal(_as_rows(answers), expected)
    assert [each.spans for each in answers] == [each.spans for each in expected]
    assert answers[-1].refined_labels == expected[-1].refined_labels


def test_of_the_server(url, texts, expected):
    answer = requests.post(
        f"{url}/v1/models/tiny_text:predict", json={"inputs": {"text": texts}}, timeout=60
    )
    outputs = answer.json()["outputs"]
    rows = [
        {key: outputs[key][row][:length] for key in (*_KEYS, *_NUMBERS)}
        for row, length in enumerate(outputs["lengths"])
    ]
    _assert_equal(rows, expected)


def test_without_tensorflow(lite_file, texts, expected):
    _assert_equal(_as_rows(uanet_lite.Tagger(lite_file).tag(texts)), expected)


def test_split_into_sentences(model, url, lite_file, texts):
    expected = uanet_tf.tag(model, texts, split_sentences=True)
    assert sum(map(len, expected)) > len(texts)
    with uanet_tf.Client(url, "tiny") as client:
        for tag in (client.tag, uanet_lite.Tagger(lite_file).tag):
            answers = tag(texts, split_sentences=True)
            assert list(map(len, answers)) == list(map(len, expected))
            for sentences, of_python in zip(answers, expected, strict=True):
                _assert_equal(_as_rows(sentences), of_python)
            assert tag("Riverton won. Kelton lost.", split_sentences=True)[1].starts[0] == 14
