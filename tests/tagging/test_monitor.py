"""False alarms and alarms on sentences drawn from known distributions."""

from math import comb

import numpy as np
import pytest

from uanet_tf.errors import InputError
from uanet_tf.tagging.monitor import (
    LABEL,
    Reference,
    SentenceFacts,
    StreamMonitor,
    Trait,
    fisher_exact,
    make_reference,
    sentence_facts,
)


def draw(generator, count, scale=0.2, unknown=0.1, person=0.3):
    return [
        SentenceFacts(u, k / 10, frozenset({"PER"} if p else ()))
        for u, k, p in zip(
            generator.gamma(1.0, scale, count),
            generator.binomial(10, unknown, count),
            generator.random(count) < person,
            strict=True,
        )
    ]


def test_false_alarms_are_as_rare_as_was_said():
    # Reference and stream are drawn anew each time; eight looks each; a rate that can be counted.
    generator = np.random.default_rng(1)
    alarms = 0
    for seed in range(60):
        monitor = StreamMonitor(
            make_reference(draw(generator, 200), seed), false_alarms=0.2, block=30
        )
        for facts in draw(generator, 240):
            monitor.add(facts)
        alarms += bool(monitor.shifts)
    # Without the correction for traits and looks nearly every stream gave one.
    assert alarms <= 0.2 * 60 + 2 * (0.2 * 0.8 * 60) ** 0.5


@pytest.mark.parametrize(
    ("shift", "told"),
    [
        ({"scale": 0.4}, "mean uncertainty above"),
        ({"unknown": 0.35}, "unknown words"),
        ({"person": 0.8}, "sentences with PER"),
    ],
)
def test_a_shift_is_found_and_named_even_late(shift, told):
    generator = np.random.default_rng(2)
    monitor = StreamMonitor(make_reference(draw(generator, 1000)))
    for facts in draw(generator, 1000):
        assert not monitor.add(facts)
    found = [monitor.add(facts) for facts in draw(generator, 300, **shift)]
    (alarm,) = [each for each in found if each]
    assert told in str(alarm[0])
    assert alarm[0].seen in (1100, 1200, 1300)
    assert monitor.seen == 1300
    assert monitor.shifts == alarm


def test_a_reference_survives_json_and_is_checked():
    reference = make_reference(draw(np.random.default_rng(3), 50))
    assert Reference.from_dict(reference.to_dict()) == reference
    assert reference.size == 25
    assert Trait(LABEL, 0, name="PER").name in {trait.name for trait in reference.traits}
    for wrong in (None, {}, {"size": 0, "traits": []}, {"size": 3, "traits": [{"kind": "x"}]}):
        with pytest.raises(InputError, match="no reference"):
            Reference.from_dict(wrong)
    assert make_reference([]) is None


def test_facts_of_a_sentence():
    facts = sentence_facts(
        ["a", "b"], ["B-PER", "O"], [0.2, 0.4], chunks=True, known=lambda word: word == "a"
    )
    assert facts == (pytest.approx(0.3), 0.5, frozenset({"PER"}))
    assert sentence_facts(["a"], ["NN"], [0.0], chunks=False, known=None).labels == {"NN"}
    assert sentence_facts([], [], [], chunks=True, known=None) is None


def by_hand(a, n, b, m):
    """Plain sums of binomial coefficients."""
    total = a + b
    chances = {
        k: comb(n, k) * comb(m, total - k) for k in range(max(0, total - m), min(n, total) + 1)
    }
    return sum(c for c in chances.values() if c <= chances[a]) / sum(chances.values())


@pytest.mark.parametrize(
    "table", [(3, 10, 9, 12), (0, 5, 0, 7), (5, 5, 7, 7), (0, 40, 12, 30), (8, 10, 1, 3)]
)
def test_equals_the_sum_over_all_tables(table):
    assert fisher_exact(*table) == pytest.approx(by_hand(*table), rel=1e-9)


def test_of_a_large_stream():
    assert fisher_exact(100, 1000, 1_000_000, 10_000_000) == pytest.approx(1.0, abs=0.05)
    assert fisher_exact(100, 1000, 2_000_000, 10_000_000) < 1e-15
