"""The gate of a tagger, and refining only where it is asked for."""

import numpy as np
import pytest
import tensorflow as tf

from tests import last_bits
from tests.models.contract_setup import make_sentences, pad
from tests.models.tagger_setup import (
    SENTENCES,
    assert_refiner_reads,
    assert_some_are_refined_as_all,
    make_batch,
    make_model,
)
from uanet_tf.errors import InputError
from uanet_tf.models.sampling import sample_states, sampling_seed
from uanet_tf.tagging.streams import tag, tag_stream

# Graphs that are soon made; samples differ.
WORDS = {"encoder": "none", "representation": "words", "output_dropout": 0.1}


def test_only_a_refiner_brings_a_gate():
    model = make_model()
    assert model.gate.threshold == model.threshold == model.options.threshold == 0.35
    model = make_model(decoder="softmax")
    assert model.refiner is model.gate is model.threshold is model.refine_all is None
    decided = model.decide(make_batch(model)[0])
    assert decided.refined is decided.refined_label_ids is None
    for name, value in {"threshold": 0.2, "refine_all": False}.items():
        with pytest.raises(InputError, match=f"`{name}` is an option of the gate, and `decoder=s"):
            setattr(model, name, value)
    with pytest.raises(InputError, match="`decoder=softmax` has no refiner"):
        model.refine(make_batch(model)[0], decided.draft)


def test_refining_only_where_asked_gives_the_same_labels():
    """Half of the sentences are left to the draft; nothing but their refined labels may change."""
    model = make_model(representation="words", refine_all=True)
    batch = pad([sentence.tokens for sentence in SENTENCES])
    every = model.tag_batch(**batch)
    peaks = every["uncertainty"].max(axis=1)
    model.threshold = float(np.sort(peaks)[len(peaks) // 2])
    every = model.tag_batch(**batch)
    model.refine_all = False
    some = model.tag_batch(**batch)
    for name in ("labels", "draft_labels", "refined"):
        np.testing.assert_array_equal(some[name], every[name])
    for name in ("uncertainty", "confidence"):
        np.testing.assert_allclose(some[name], every[name], atol=1e-6)
    assert 0 < every["refined"].any(axis=1).sum() < len(every["refined"])
    # Certain tokens keep their draft, so what the refiner says is then what the gate gives.
    np.testing.assert_array_equal(some["refined_labels"], some["labels"])


@pytest.mark.parametrize("embeddings", ["own", "shared"])
def test_a_sentence_by_itself_is_refined_as_in_a_batch(embeddings):
    """TensorFlow Lite knows that there is one; the batch has the distinct words of all."""
    model = make_model(refiner_embeddings=embeddings, **WORDS)
    features = model.features(pad([sentence.tokens for sentence in SENTENCES]))
    draft = model.draft(features)
    wanted = draft.uncertainty > float(np.median(draft.uncertainty.numpy()[draft.mask]))
    refined = model.refine(features, draft, wanted).numpy()
    assert not np.allclose(refined[wanted], draft.probabilities.numpy()[wanted], atol=1e-3)
    for row, sentence in enumerate(SENTENCES):
        one = model.features(pad([sentence.tokens]))
        length = len(sentence.tokens)
        alone = model.refine(one, model.draft(one), wanted[row : row + 1, :length])
        np.testing.assert_allclose(alone[0], refined[row, :length], atol=1e-5)


def test_filled_batches_give_the_same_bits_in_any_company():
    """Also of refined tokens: the gate opens for about half of them."""
    model = make_model(refiner_head_width=20)
    sentences = [sentence.tokens for sentence in make_sentences("IOB2", 40)]
    u = np.concatenate([answer.uncertainty for answer in tag(model, sentences)])
    model.threshold = float(np.median(u))

    def tag_parts(size, **options):
        parts = (sentences[k : k + size] for k in range(0, len(sentences), size))
        return [answer for part in parts for answer in tag_stream(model, part, **options)]

    whole = tag_parts(40, fill_rows=True)
    assert any(any(answer.refined) for answer in whole)
    for size, batch_size in ((1, 256), (7, 256), (40, 5)):
        parts = tag_parts(size, batch_size=batch_size, fill_rows=True)
        last_bits.assert_same(list(map(vars, parts)), list(map(vars, whole)))


def test_refining_nothing_is_possible():
    model = make_model(**WORDS)
    model.threshold = 100.0
    tagged = model.tag_batch(**pad([sentence.tokens for sentence in SENTENCES]))
    assert not tagged["refined"].any()
    np.testing.assert_array_equal(tagged["labels"], tagged["draft_labels"])


def test_the_refiner_reads_the_mean_of_the_sampled_states():
    """Beside its words, and only with `refiner_states`."""
    plain, model = make_model(), make_model(refiner_states=True)
    width = model.settings.encoder.hidden_width
    assert (
        model.refiner.stack.word_kernel.shape[0] == plain.refiner.stack.word_kernel.shape[0] + width
    )
    features, _ = make_batch(model)
    assert plain.draft(features).states is None
    drafted = model.draft(features)
    words, mask, seed = (
        model.drafter.representation(features),
        drafted.mask,
        sampling_seed(model.mc_seed),
    )
    states = sample_states(
        model.drafter.encoder, words, mask, num_samples=model.num_samples, seed=seed
    )
    mean = tf.reduce_mean(states, axis=0)
    np.testing.assert_allclose(drafted.states, mean, atol=1e-6)
    assert_refiner_reads(model, features, drafted, mean)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_states_are_refined_alike_for_some_tokens_and_for_all(share):
    model = make_model(refiner_states=True)
    assert_some_are_refined_as_all(model, make_batch(model)[0], share)
