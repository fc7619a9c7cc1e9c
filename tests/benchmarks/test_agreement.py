import json

import pytest

from benchmarks.agreement import compare


def write(path, labels, uncertainty, tokens=("a", "b")):
    row = {"tokens": tokens, "labels": labels, "uncertainty": uncertainty, "confidence": [0.5, 1]}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return str(path)


def test_labels_and_numbers(tmp_path):
    one = write(tmp_path / "one", ["O", "O"], [0.1, 0.2])
    other = write(tmp_path / "other", ["O", "B-X"], [0.1, 0.25])
    said = "1 of 2 labels differ, uncertainty differs by at most 5.0e-02, confidence differs"
    assert compare(one, other).startswith(said)
    with pytest.raises(ValueError, match="not of the same tokens"):
        compare(one, write(tmp_path / "third", ["O"], [0.1], ["a"]))
