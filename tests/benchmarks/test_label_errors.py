"""The arithmetic of ``benchmarks.label_errors``."""

import numpy as np
import pytest

from benchmarks.label_errors import Place, corrupt, shares
from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import decode_spans, is_valid_transition

LABELS = ("B-PER", "I-PER", "O", "B-LOC", "B-ORG", "I-ORG", "O", "O")
SENTENCES = [Sentence(tuple("abcdefgh"), LABELS, 1 + 9 * k, False) for k in range(60)]


def test_entities_are_put_in_wrongly():
    changed, done = corrupt(SENTENCES, 0.2, 1)
    assert len(done) == round(0.2 * 3 * 60)
    left = {(k, span) for k, s in enumerate(changed) for span in decode_spans(s.labels, "IOB2")}
    before = {(k, span) for k, s in enumerate(SENTENCES) for span in decode_spans(s.labels, "IOB2")}
    assert before - left == {(each.sentence, each.true) for each in done}
    assert left - before == {(each.sentence, each.given) for each in done}
    kinds = []
    for each in done:
        moved = each.true[1:] != each.given[1:]
        kinds.append(moved)
        assert moved != (each.true.type != each.given.type)
        edges = np.abs(np.array(each.true[1:]) - np.array(each.given[1:]))
        assert edges.sum() == moved
    assert 0.2 < np.mean(kinds) < 0.8
    for sentence in changed:
        pairs = zip([None, *sentence.labels], [*sentence.labels, None], strict=True)
        assert all(is_valid_transition(a, b, "IOB2") for a, b in pairs)
    assert corrupt(SENTENCES, 0.2, 1)[1] == done
    assert corrupt(SENTENCES, 0.2, 2)[1] != done


def test_share_found_among_the_first():
    found = [
        Place(np.array([0.5, 0.01]), np.array([0.5, 0.9]), 1, ("A", "B"), 5.0),
        Place(np.array([0.03, 0.02]), np.array([0.6, 0.6]), 0, ("A", ""), 3.0),
        Place(np.array([0.025, 0.2]), np.array([0.1, 0.1]), 1, ("A", "B"), 4.0),
    ]
    result = shares(found, 2)
    assert result["correction"] == pytest.approx(100)
    assert result["lowest given, and kind"] == pytest.approx(50)
    assert result["lowest given"] == pytest.approx(50)
    assert result["mean given"] == pytest.approx(50)
    assert result["product of given"] == pytest.approx(50)
    assert result["lowest predicted"] == pytest.approx(50)
    assert result["each token by itself"] == pytest.approx(50)
    assert shares(found, 3)["each token by itself"] == pytest.approx(200 / 3)
