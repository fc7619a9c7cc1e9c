import json

import pytest

from benchmarks.serving import measure_load, request_bodies, table
from tests.serving.fake_server import scripted

SENTENCES = [["The", "Club"] * length for length in (1, 2, 3, 1)] * 16


def test_bodies_hold_a_number_of_sentences_each():
    bodies = [json.loads(body) for body in request_bodies("draft", SENTENCES[:5], 2)]
    assert [body["inputs"]["lengths"] for body in bodies] == [[2, 4], [6, 2]]
    assert bodies[0]["inputs"]["tokens"][0] == ["The", "Club", "", ""]
    assert bodies[0]["signature_name"] == "draft"
    (body,) = request_bodies("with_threshold", SENTENCES[:2], 2)
    assert set(json.loads(body)["inputs"]) == {"tokens", "lengths", "threshold"}
    (body,) = request_bodies("ids", SENTENCES[:2], 2)
    assert json.loads(body)["inputs"]["word_ids"] == [[1, 1, 0, 0], [1, 1, 1, 1]]
    characters = json.loads(body)["inputs"]["char_ids"][0]
    assert characters == [[1, 1, 1, 0], [1, 1, 1, 1], [0] * 4, [0] * 4]
    (body,) = request_bodies("text", SENTENCES[:2], 2)
    assert json.loads(body) == {"inputs": ["The Club", "The Club The Club"]}


def test_a_row_for_each_signature_and_size():
    with scripted((200, {"outputs": {}})) as server:
        lines = table(server.url, {"8": "a"}, SENTENCES, clients=2, seconds=0.05).splitlines()
    assert len(lines) == 2 + 15
    cells = [line.strip("| ").split(" | ") for line in lines[2:]]
    assert [row[:3] for row in cells[:3]] == [["8", "serving_default", n] for n in ("1", "8", "32")]
    for row in cells:
        requests, sentences, p50, p95, p99 = (float(cell.replace(",", "")) for cell in row[3:])
        assert sentences == pytest.approx(requests * int(row[2]), rel=0.2, abs=40)
        assert 0 < p50 <= p95 <= p99
    asked = {path for path, _ in server.requests}
    assert asked == {"/v1/models/a:predict", "/v1/models/a_text:predict"}


def test_failures_are_not_counted_as_speed():
    with scripted((400, {})) as server:
        load = measure_load(server.url, [b"{}"], clients=2, seconds=0.05)
        assert load.failed == len(load.seconds) > 0
        with pytest.raises(RuntimeError, match="failed"):
            table(server.url, {"8": "a"}, SENTENCES, seconds=0.05)
