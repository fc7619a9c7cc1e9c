"""An exported model behind the local server: what clients get is what ``predict`` gives."""

import numpy as np
import pytest
import requests

from uanet_tf.serving.client import Client


@pytest.fixture(scope="module")
def client(url):
    with Client(url, "tiny") as client:
        yield client


def assert_answers(answers, words, expected):
    assert len(answers) == len(words) > 20
    for row, (answer, tokens) in enumerate(zip(answers, words, strict=True)):
        assert answer.tokens == tokens
        for name in ("labels", "draft_labels", "refined_labels", "refined"):
            assert getattr(answer, name) == expected[name][row, : len(tokens)].tolist()
        for name in ("uncertainty", "confidence"):
            np.testing.assert_allclose(
                getattr(answer, name), expected[name][row, : len(tokens)], atol=1e-5
            )


@pytest.fixture(scope="module")
def predicted(expected, sentences):
    rows = [row for row, sentence in enumerate(sentences) if all(sentence)]
    return {name: values[rows] for name, values in expected.items()}


def test_the_client_gets_what_predict_gives(client, words, predicted):
    assert any(predicted["refined"].ravel())
    assert_answers(client.tag(words), words, predicted)


def test_a_threshold_for_each_sentence(client, words, predicted):
    none, every = client.tag([words[0]] * 2, threshold=[1e6, 0.0])
    assert none.labels == none.draft_labels
    assert not any(none.refined)
    assert all(every.refined)
    assert every.labels == predicted["refined_labels"][0, : len(words[0])].tolist()


def test_entities_of_texts_are_the_clients(url, client):
    texts = ["Holmfield, the former goalkeeper, beat Ωmega жук 😀 2-1 in Riverton.", "  ", "don't"]
    request = {"signature_name": "entities", "instances": texts}
    answer = requests.post(f"{url}/v1/models/tiny_text:predict", json=request, timeout=60)
    rows = answer.json()["predictions"]
    for row, expected in zip(rows, client.tag(texts), strict=True):
        count = row.pop("count")
        found = [dict(zip(row, values, strict=True)) for values in zip(*row.values(), strict=True)]
        assert found[:count] == [
            pytest.approx(entity.to_dict(), abs=1e-5) for entity in expected.entities
        ]
        assert not any(entity["text"] for entity in found[count:])
    assert rows[0]["text"][0]
