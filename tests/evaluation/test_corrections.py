"""The log odds of corrections, compared with plain enumeration."""

import numpy as np
import pytest

from tests.evaluation.test_label_errors import CLASSES, bioes_by_hand
from uanet_lite.tag_schemes import Span, encode_spans
from uanet_tf.evaluation.label_errors import EntityOdds

TYPES = ("LOC", "PER")


def lowest(p, spans):
    """[T] log probabilities of the labels of a whole sentence."""
    labels = bioes_by_hand(encode_spans(spans, len(p), "IOB2"))
    return np.log([p[k][CLASSES.index(label)] for k, label in enumerate(labels)])


def by_hand(p, spans, span):
    """All sentences in which one thing of the entity is changed; where labels differ in the scope
    of the two, the lowest tells."""
    others = [s for s in spans if s != span]
    free = set(range(len(p))) - {k for s in others for k in range(s.start, s.end)}
    changed = [span._replace(type=name) for name in TYPES if name != span.type]
    for start in range(span.start - 1, span.start + 2):
        for end in range(span.end - 1, span.end + 2):
            if abs(start - span.start) + abs(end - span.end) == 1 and start < end:
                changed.append(span._replace(start=start, end=end))
    found = []
    for other in changed:
        if not set(range(other.start, other.end)) <= free:
            continue
        scope = slice(min(span.start, other.start), max(span.end, other.end))
        found.append(lowest(p, [*others, other])[scope].min() - lowest(p, spans)[scope].min())
    scope = slice(span.start, span.end)
    found.append(lowest(p, others)[scope].min() - lowest(p, spans)[scope].min() - 5)
    return max(found)


@pytest.mark.parametrize("seed", range(40))
def test_the_best_correction_of_an_entity(seed):
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.ones(len(CLASSES)), 7)
    spans = [Span("PER", 0, 1), Span("LOC", 2, 4), Span(str(random.choice(TYPES)), 4, 6)]
    odds = EntityOdds(p, CLASSES, spans)
    for span in spans:
        assert odds.of_place([span], []).score == pytest.approx(by_hand(p, spans, span))
    two = max(by_hand(p, spans, span) for span in spans[:2])
    assert odds.of_place(spans[:2], [Span("LOC", 0, 3)]).score == pytest.approx(two)


def test_another_type_comes_before_an_entity_that_is_missed_or_none():
    """The tagger is as sure of each: of a place with no entity most are its own errors."""
    p = np.full([1, len(CLASSES)], 0.01)
    p[0, CLASSES.index("S-LOC")] = 0.9
    odds = EntityOdds(p, CLASSES, [Span("PER", 0, 1)])
    confused = odds.of_place([Span("PER", 0, 1)], [Span("LOC", 0, 1)])
    missed = EntityOdds(p, CLASSES, []).of_place([], [Span("LOC", 0, 1)])
    p[0] = 0.01
    p[0, CLASSES.index("O")] = 0.9
    none = EntityOdds(p, CLASSES, [Span("PER", 0, 1)]).of_place([Span("PER", 0, 1)], [])
    assert [each.kind for each in (confused, missed, none)] == ["mislabelled", "missed", "spurious"]
    scores = [each.score for each in (confused, missed, none)]
    assert scores == pytest.approx([np.log(90), np.log(90) - 5, 0])  # 0: of S-LOC


def test_types_that_the_tagger_lacks():
    p = np.full([2, len(CLASSES)], 0.1)
    odds = EntityOdds(p, CLASSES, [Span("ORG", 0, 2)])
    assert odds.of_place([Span("ORG", 0, 2)], []).score == pytest.approx(np.log(0.1 / 1e-12))
