"""Labels that a tagger doubts, compared with plain loops.

The reference is cleanlab's published score of token classification (Wang and Mueller, 2022,
"Detecting Label Errors in Token Classification Data"): a token's is the probability of the label
given, a sentence's the lowest of its tokens. It is written out here, since cleanlab's licence
(AGPL) does not permit to depend on it.
"""

import json

import numpy as np
import pytest

from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import Span, decode_spans, encode_spans
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.evaluation.label_errors import differing, doubts_of, surest_first

CLASSES = ["O", *(f"{letter}-{name}" for name in ("LOC", "PER") for letter in "BIES")]


def answer(labels, probabilities, scheme="IOB2"):
    n = len(labels)
    tokens = [f"w{k}" for k in range(n)]
    return TaggedSentence(
        tokens, labels, labels, labels, [0.1] * n, [0.5] * n, [False] * n, scheme,
        probabilities=probabilities,
    )  # fmt: skip


def drawn(random, length):
    """A random valid IOB2 sequence."""
    spans, end = [], 0
    while end < length:
        start = end + int(random.integers(0, 3))
        end = start + int(random.integers(1, 4))
        if end <= length:
            spans.append(Span(str(random.choice(["LOC", "PER"])), start, end))
    return encode_spans(spans, length, "IOB2")


def case(seed):
    random = np.random.default_rng(seed)
    length = int(random.integers(1, 12))
    labels, predicted = drawn(random, length), drawn(random, length)
    p = random.dirichlet(np.ones(len(CLASSES)), length)
    tokens = tuple(f"w{k}" for k in range(length))
    return Sentence(tokens, tuple(labels), 1, True), answer(predicted, p)


def bioes_by_hand(labels):
    """IOB2 to BIOES, label by label."""
    found = []
    for k, label in enumerate(labels):
        goes_on = k + 1 < len(labels) and labels[k + 1][:1] == "I"
        letter = {"B": "BS", "I": "IE"}.get(label[0])
        found.append(label if letter is None else letter[not goes_on] + label[1:])
    return found


def token_scores(labels, p):
    """Of the published method: the probability of each label given."""
    return [p[k][CLASSES.index(label)] for k, label in enumerate(bioes_by_hand(labels))]


@pytest.mark.parametrize("seed", range(40))
def test_scores_are_the_published_ones_of_the_tokens_of_a_place(seed):
    sentence, tagged = case(seed)
    scores = token_scores(sentence.labels, tagged.probabilities)
    covered = np.zeros(len(scores), bool)
    for doubt in doubts_of(sentence, tagged, CLASSES, "IOB2"):
        here = scores[doubt.start : doubt.end]
        assert doubt.given_probability == pytest.approx(min(here))
        ours = token_scores(tagged.labels, tagged.probabilities)[doubt.start : doubt.end]
        assert doubt.predicted_probability == pytest.approx(min(ours))
        assert not covered[doubt.start : doubt.end].any()
        covered[doubt.start : doubt.end] = True
    pair = zip(bioes_by_hand(sentence.labels), bioes_by_hand(tagged.labels), strict=True)
    assert all(covered[k] for k, (a, b) in enumerate(pair) if a != b)
    doubts = surest_first(doubts_of(sentence, tagged, CLASSES, "IOB2"))
    if covered.all():  # the sentence's score, if every token is in doubt
        assert min(doubt.given_probability for doubt in doubts) == pytest.approx(min(scores))


@pytest.mark.parametrize("seed", range(40))
def test_a_place_is_a_stretch_of_spans_that_overlap(seed):
    sentence, tagged = case(seed)
    pair = [decode_spans(labels, "IOB2") for labels in (sentence.labels, tagged.labels)]
    places = list(differing(*pair))
    for side in (0, 1):
        shown = [span for place in places for span in place[2 + side]]
        assert shown == [span for span in pair[side] if span not in pair[1 - side]]
    for start, end, *sides in places:
        spans = [*sides[0], *sides[1]]
        assert (min(s.start for s in spans), max(s.end for s in spans)) == (start, end)
        inner = range(start + 1, end)  # no boundary inside at which nothing overlaps
        assert all(any(s.start < k < s.end for s in spans) for k in inner)


def test_one_wrong_boundary_is_one_place():
    sentence = Sentence(tuple("abcd"), ("B-PER", "I-PER", "O", "O"), 7, True)
    p = np.full([4, len(CLASSES)], 0.01)
    places = list(
        doubts_of(sentence, answer(["B-PER", "I-PER", "I-PER", "O"], p), CLASSES, "IOB2", 3)
    )
    assert [(d.start, d.end, d.fold) for d in places] == [(0, 3, 3)]
    record = json.loads(json.dumps(places[0].to_dict()))
    assert record["line"] == 7
    assert record["given"] == [{"type": "PER", "start": 0, "end": 2}]
    assert record["predicted"] == [{"type": "PER", "start": 0, "end": 3}]
    assert record["given_probability"] == 0.01


def test_labels_of_single_tokens_and_labels_that_the_tagger_lacks():
    sentence = Sentence(("a", "b", "c"), ("NN", "XX", "VB"), 1, True)
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    doubts = surest_first(
        doubts_of(sentence, answer(["NN", "VB", "NN"], p, None), ["NN", "VB"], None)
    )
    assert [(d.start, d.given_probability) for d in doubts] == [(1, 0.0), (2, 0.3)]
    assert [d.score for d in doubts] == pytest.approx([np.log(0.8 / 1e-12), np.log(0.7 / 0.3)])
