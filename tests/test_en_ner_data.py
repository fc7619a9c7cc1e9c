"""What en_ner is trained on beside its labelled files."""

import numpy as np

import uanet_tf
from tools.en_ner_data import LEVELS, labels, vectors


def test_vectors_are_rounded_to_the_nearest_of_seven_levels(tmp_path):
    source, target = tmp_path / "glove.txt", tmp_path / "rounded.txt"
    source.write_text("a 0.5 -1.5 0.26 1.0\nb 0.1 0 -0.1 0.3\nc 1 1 1 1\n", encoding="utf-8")
    vectors(str(source), str(target), "2")
    rows = [line.split(" ") for line in target.read_text("utf-8").splitlines()]
    assert [row[0] for row in rows] == ["a", "b"]
    first, second = (np.array(row[1:], float) for row in rows)
    np.testing.assert_allclose(first, [0.5, -1.5, 0.5, 1.0])  # a step of 0.5
    step = np.abs(second[second != 0]).min()
    assert (np.abs(second / step).round(4) <= LEVELS).all()
    np.testing.assert_allclose(second, [0.1, 0, -0.1, 0.3], atol=step / 2)


def test_labels_are_those_of_the_mean(tmp_path):
    source, target = tmp_path / "text.txt", tmp_path / "labelled.conll"
    words = ["Ada", "Lovelace", "met", "Charles", "Babbage", "in", "London", "."]
    source.write_text(" ".join(words) + "\nNobody came .\n", encoding="utf-8")
    labels(str(source), str(target), "en_ner=1", "en_ner=0.5")
    first, second = uanet_tf.read(target)
    assert list(first.tokens) == words
    assert list(first.labels) == ["B-PER", "I-PER", "O", "B-PER", "I-PER", "O", "B-LOC", "O"]
    assert list(second.labels) == ["O", "O", "O"]
