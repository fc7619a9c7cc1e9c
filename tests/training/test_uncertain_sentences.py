"""The head learns mostly from sentences that the pass without dropout is not certain of."""

import numpy as np
import pytest

from tests.models.contract_setup import make_sentences, make_vocabulary, small, train
from uanet_tf.config import Config
from uanet_tf.data.batching import encode_corpus
from uanet_tf.models.build import make_tagger
from uanet_tf.tagging.streams import tag
from uanet_tf.training import distillation
from uanet_tf.training.distillation import choose_sentences


@pytest.fixture(scope="module")
def drafted():
    """A drafter, a corpus, and the mean entropy of each sentence, as tagging gives it."""
    sentences = make_sentences("IOB2", count=40)
    tagger = make_tagger(small(Config()), make_vocabulary(sentences, "IOB2"))
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
