"""The head learns what samples say, and nothing else moves."""

import dataclasses

import numpy as np
import pytest

from tests.models.contract_setup import make_sentences, make_vocabulary, small, train
from uanet_tf.config import Config
from uanet_tf.data.batching import encode_corpus
from uanet_tf.models.build import make_tagger
from uanet_tf.models.nearness import compare_with_samples, nearness_text
from uanet_tf.tagging.streams import tag
from uanet_tf.training import distillation
from uanet_tf.training.distillation import choose_sentences, distill, distillation_data


@pytest.fixture(scope="module")
def trained():
    sentences = make_sentences("IOB2", count=40)
    config = small(Config()).replace(representation="words", encoder="none", output_dropout=0.4)
    tagger = make_tagger(config, make_vocabulary(sentences, "IOB2"))
    train(tagger, sentences, steps=40)
    return tagger, sentences, encode_corpus(sentences, tagger.vocabulary, tagger.lookup)


def test_the_data_are_what_samples_say(trained):
    tagger, _, corpus = trained
    data = distillation_data(tagger.drafter, corpus, num_samples=4, seed=1)
    tokens = len(corpus.form_index)
    assert {part.shape[0] for part in data} == {tokens}
    np.testing.assert_allclose(data.probabilities.sum(-1), 1.0, atol=1e-5)
    p = data.probabilities
    total = -(p * np.log(np.maximum(p, 1e-12))).sum(-1)
    assert (data.mutual_information >= 0).all()
    assert (data.mutual_information <= total + 1e-5).all()
    assert data.mutual_information.max() > 1e-3
    again = distillation_data(tagger.drafter, corpus, num_samples=4, seed=1)
    other = distillation_data(tagger.drafter, corpus, num_samples=4, seed=2)
    np.testing.assert_array_equal(again.probabilities, data.probabilities)
    assert sorted(other.probabilities[:, 0]) != sorted(data.probabilities[:, 0])


def test_it_reads_no_more_than_it_may(trained):
    tagger, _, corpus = trained
    for most in (30, 1):
        data = distillation_data(tagger.drafter, corpus, num_samples=2, seed=1, most=most)
        assert 0 < len(data.states) <= max(most, corpus.lengths.min())


def test_the_head_comes_nearer_and_all_else_stays(trained):
    tagger, sentences, corpus = trained
    head = tagger.drafter.distilled
    others = [v for v in tagger.variables if not any(v is w for w in head.weights)]
    before = [v.numpy() for v in others]
    head.was_trained.assign(1.0)
    untrained = compare_with_samples(tagger, sentences, most=500)
    assert untrained["kl"] == pytest.approx(untrained["kl_of_one_pass"], rel=1e-5)
    distill(tagger.drafter, [corpus], num_samples=16, seed=1)
    for value, variable in zip(before, others, strict=True):
        np.testing.assert_array_equal(value, variable.numpy())
    learnt = compare_with_samples(tagger, sentences, most=500)
    assert learnt["kl"] < 0.7 * untrained["kl"]
    assert learnt["kl_of_samples"] == untrained["kl_of_samples"] > 0
    assert learnt["kl_of_one_pass"] == untrained["kl_of_one_pass"]
    assert 0.8 < learnt["same_labels_not_o"] <= 1.0
    assert 0.0 <= learnt["same_gate"] <= 1.0
    assert "% of labels that are not O as sampled" in nearness_text(learnt)
    weights = head.get_weights()
    distill(tagger.drafter, [corpus], num_samples=16, seed=1)
    assert any(np.any(a != b) for a, b in zip(weights, head.get_weights(), strict=True))


@pytest.mark.parametrize(
    ("length", "expected"), [(5, 30_000), (99_000, 30_000), (200_000, 60_000), (10**6, 100_000)]
)
def test_long_training_teaches_of_more_tokens(trained, length, expected):
    corpus = dataclasses.replace(trained[2], form_index=np.zeros(length, np.int32))
    assert distillation.tokens_to_draft(corpus) == expected


@pytest.mark.process
def test_of_two_corpora_each_is_half(trained, monkeypatch):
    tagger, sentences, corpus = trained
    drafted = []

    def remember(drafter, corpus, **options):
        drafted.append((corpus, options))
        return distillation_data(drafter, corpus, **options)

    monkeypatch.setattr(distillation, "distillation_data", remember)
    for name in ("LEAST_TOKENS", "MOST_TOKENS"):
        monkeypatch.setattr(distillation, name, 60)
    bare = [dataclasses.replace(sentence, labels=()) for sentence in sentences[:9]]
    further = encode_corpus(bare, tagger.vocabulary, tagger.lookup)
    assert set(further.label_ids) == {-1}
    distill(tagger.drafter, [corpus, further], num_samples=2, seed=1)
    assert [part for part, _ in drafted] == [corpus, further]
    assert {options["most"] for _, options in drafted} == {30}
    masks = [
        distillation_data(
            tagger.drafter, further, num_samples=2, seed=1, number=number
        ).probabilities
        for number in (0, 1)
    ]
    assert np.abs(masks[0] - masks[1]).max() > 1e-4


@pytest.mark.process
def test_gates_are_compared(trained):
    tagger, sentences, corpus = trained
    distill(tagger.drafter, [corpus], num_samples=4, seed=1)
    before = tagger.options
    try:
        tagger.sampling = "exact"
        answers = tag(tagger, [sentence.tokens for sentence in sentences])
        tagger.threshold = float(np.median(np.concatenate([a.uncertainty for a in answers])))
        found = compare_with_samples(tagger, sentences, most=500)
        opens = []
        for sampling in ("exact", "distilled"):
            tagger.sampling = sampling
            answers = tag(tagger, [sentence.tokens for sentence in sentences])
            opens.append(np.concatenate([answer.refined for answer in answers]))
    finally:
        tagger.set_options(**dataclasses.asdict(before))
    either, both = opens[0] | opens[1], opens[0] & opens[1]
    assert 0 < both.sum() < either.sum()
    assert found["same_gate"] == pytest.approx(both.sum() / either.sum())


@pytest.fixture(scope="module")
def drafted():
    """A drafter, a corpus, and the mean entropy of each sentence, as tagging gives it."""
    sentences = make_sentences("IOB2", count=40)
    config = small(Config()).replace(representation="words", encoder="none")
    tagger = make_tagger(config, make_vocabulary(sentences, "IOB2"))
    train(tagger, sentences, steps=20)
    tagger.set_options(num_samples=0)
    answers = tag(tagger, [sentence.tokens for sentence in sentences])
    entropies = np.array([np.mean(answer.uncertainty) for answer in answers])
    return tagger.drafter, encode_corpus(sentences, tagger.vocabulary, tagger.lookup), entropies


def choose(drafted, most, seed=1):
    drafter, corpus, _ = drafted
    return choose_sentences(drafter, corpus, most, np.random.default_rng(seed))


def test_most_tokens_are_of_the_most_uncertain_sentences(drafted, monkeypatch):
    _, corpus, entropies = drafted
    monkeypatch.setattr(distillation, "_POOL", 100)  # of the whole corpus
    most = corpus.lengths.sum() // 2
    chosen = choose(drafted, most)
    assert len(set(chosen)) == len(chosen)
    assert most - corpus.lengths.max() < corpus.lengths[chosen].sum() <= most
    ranked = np.argsort(-entropies)
    surely = ranked[np.cumsum(corpus.lengths[ranked]) <= 0.8 * most]
    assert set(surely) <= set(chosen)
    others = set(chosen) - set(surely)
    assert others
    assert others != set(ranked[len(surely) :][: len(others)])  # they are drawn
    assert others != set(choose(drafted, most, seed=2)) - set(surely)


def test_a_part_of_a_large_corpus_is_looked_at(drafted, monkeypatch):
    _, corpus, _ = drafted
    seen = []
    real = distillation._mean_entropy
    monkeypatch.setattr(
        distillation,
        "_mean_entropy",
        lambda drafter, corpus, numbers: seen.append(numbers) or real(drafter, corpus, numbers),
    )
    most = corpus.lengths.sum() // 6
    assert set(choose(drafted, most)) <= set(seen[0])
    assert corpus.lengths[seen[0]].sum() <= 3 * most


def test_a_small_corpus_is_taken_whole(drafted):
    _, corpus, _ = drafted
    assert sorted(choose(drafted, corpus.lengths.sum())) == list(range(len(corpus.lengths)))


def test_one_sentence_at_least(drafted):
    _, corpus, _ = drafted
    (only,) = choose(drafted, 1)
    assert corpus.lengths[only] == corpus.lengths.min()
