import json

import numpy as np
import pytest
import tensorflow as tf

from tests.models.model_contract import make_sentences, make_vocabulary, pad, small, text
from uanet_tf.config import Config
from uanet_tf.data.batching import BatchBuilder
from uanet_tf.data.conll import Sentence
from uanet_tf.data.encoded_corpus import encode_corpus
from uanet_tf.errors import InputError
from uanet_tf.models.build import make_tagger
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.dropout import make_seed
from uanet_tf.tagging.sentence_stream import tag, tag_stream
from uanet_tf.training.word_vectors import word_representations

SENTENCES = make_sentences("IOB2", 5)
SEED = make_seed(1, 2)


def make_model(sentences=SENTENCES, scheme="IOB2", **settings):
    tf.keras.utils.set_random_seed(6)
    config = small(Config()).replace(**settings)
    return make_tagger(config, make_vocabulary(sentences, scheme))


@pytest.fixture(scope="module")
def shared():
    """A model that no test changes: its graphs are made once."""
    return make_model()


def make_batch(model, sentences=SENTENCES):
    corpus = encode_corpus(sentences, model.vocabulary, model.lookup)
    return BatchBuilder(corpus)(tf.range(len(sentences), dtype=tf.int64))


def gradients(model, name, seed=SEED):
    """{variable name: gradient or None} of one loss, by group."""
    features, labels = make_batch(model)
    groups = model.variable_groups()
    with tf.GradientTape() as tape:
        loss = model.losses(features, labels, seed)[name]
    found = tape.gradient(loss, groups)
    return {
        group: {
            v.name + str(k): g for k, (v, g) in enumerate(zip(groups[group], parts, strict=True))
        }
        for group, parts in found.items()
    }


def size(gradient):
    return 0.0 if gradient is None else float(tf.reduce_max(tf.abs(tf.convert_to_tensor(gradient))))


SYSTEMS = [
    {},
    {"refiner_embeddings": "shared"},
    {"label_input": "argmax", "label_layers": "last"},
    {"label_input": "none", "representation": "words"},
    {"refiner_states": True, "refiner_embeddings": "shared"},
    {"refiner_states": True, "encoder": "id_cnn"},
    {"encoder": "none", "output_dropout": 0.2},
]


@pytest.mark.parametrize("settings", SYSTEMS)
def test_each_part_learns_from_its_own_loss_only(settings):
    model = make_model(**settings)
    from_draft, from_refined = gradients(model, "draft"), gradients(model, "refined")
    for name, gradient in from_draft["draft"].items():
        assert size(gradient) > 0, f"{name} has no gradient from the draft's loss"
    for name, gradient in from_refined["refined"].items():
        assert size(gradient) > 0, f"{name} has no gradient from the refiner's loss"
    for name, gradient in from_refined["draft"].items():
        assert size(gradient) == 0, f"the refiner's loss reaches {name}"
    for name, gradient in from_draft["refined"].items():
        assert size(gradient) == 0, f"the draft's loss reaches {name}"


@pytest.mark.parametrize("settings", [*SYSTEMS, {"decoder": "softmax"}])
def test_groups_share_nothing_and_leave_nothing_out(settings):
    model = make_model(**settings)
    groups = model.variable_groups()
    assert set(groups) == ({"draft"} if settings.get("decoder") else {"draft", "refined"})
    grouped = [v.ref() for variables in groups.values() for v in variables]
    assert len(set(grouped)) == len(grouped)
    assert set(grouped) == {v.ref() for v in model.trainable_variables}
    # The head of distilled sampling, calibration and target, and Gamma where there is a gate.
    others = len(model.drafter.distilled.weights) if model.drafter.distilled else 0
    others += len(model.calibration.weights) + len(model.acceptance.weights)
    others += 0 if model.gate is None else 1
    assert len(model.variables) == len(grouped) + others


def test_losses_are_summed_cross_entropies_of_one_sample():
    """Without dropout: of what `decide` gives for the same features."""
    rates = ["variational_dropout", "recurrent_dropout", "embedding_dropout"]
    rates += ["refiner_dropout", "attention_dropout"]
    model = make_model(**dict.fromkeys(rates, 0.0))
    features, labels = make_batch(model)
    losses = model.losses(features, labels, SEED)
    drafted = model.draft(features)
    p, mask = drafted.probabilities, drafted.mask
    refined = model.refine(features, drafted)
    for name, probabilities in (("draft", p), ("refined", refined)):
        expected = 0.0
        for row, step in np.argwhere(mask.numpy()):
            expected -= np.log(probabilities[row, step, labels[row, step]].numpy())
        np.testing.assert_allclose(losses[name], expected, rtol=1e-4)


def test_the_seed_decides_the_dropout_of_training(shared):
    features, labels = make_batch(shared)
    one, same, other = (shared.losses(features, labels, make_seed(1, k)) for k in (0, 0, 1))
    for name in ("draft", "refined"):
        assert float(one[name]) == float(same[name]) != float(other[name])


# {setting: the loss whose part it acts on first}
RATES = {
    "variational_dropout": "draft",
    "recurrent_dropout": "draft",
    "output_dropout": "draft",
    "embedding_dropout": "draft",
    "refiner_dropout": "refined",
    "attention_dropout": "refined",
}


@pytest.mark.parametrize("rate", RATES)
def test_each_rate_is_read(rate):
    """Alone above 0, it makes two seeds differ; of which loss tells where it acts."""
    model = make_model(**{**dict.fromkeys(RATES, 0.0), rate: 0.5})
    features, labels = make_batch(model)
    one, other = (model.losses(features, labels, make_seed(1, k)) for k in (0, 1))
    assert (float(one["draft"]) != float(other["draft"])) == (RATES[rate] == "draft")
    assert float(one["refined"]) != float(other["refined"])


def test_training_masks_differ_from_sentence_to_sentence():
    model = make_model(embedding_dropout=0.0, variational_dropout=0.5)
    twins = [SENTENCES[1]] * 2
    _, states = model.drafter.losses(*make_batch(model, twins), SEED)
    logits = model.drafter.decoder.logits(states)
    assert np.abs(logits[0] - logits[1]).max() > 1e-4


def test_words_are_represented_once_for_all_samples(monkeypatch):
    model = make_model(decoder="softmax", num_samples=5)
    features, _ = make_batch(model)
    seen = {"words": [], "states": []}

    def spy(layer, key):
        call = layer.call

        def spied(inputs, *args, **kwargs):
            outputs = call(inputs, *args, **kwargs)
            seen[key].append(outputs.shape[0])
            return outputs

        monkeypatch.setattr(layer, "call", spied)

    spy(model.drafter.representation, "words")
    spy(model.drafter.encoder, "states")
    model.decide(features)
    assert seen == {"words": [5], "states": [25]}  # 5 sentences, 5 samples


def test_settings_and_vocabulary_may_be_plain_dictionaries(shared):
    config = json.loads(json.dumps(shared.get_config()))
    copy = Tagger.from_config(config)
    assert copy.get_config() == shared.get_config()
    assert (copy.settings, copy.vocabulary) == (shared.settings, shared.vocabulary)
    copy.set_weights(shared.get_weights())
    inputs = pad([list(SENTENCES[1].tokens)])
    expected, outputs = shared.tag_batch(**inputs), copy.tag_batch(**inputs)
    for name, values in expected.items():
        np.testing.assert_array_equal(outputs[name], values)


def test_probabilities_of_a_batch_on_request():
    model = make_model(representation="words", refiner_layers=1)
    inputs = pad([list(SENTENCES[1].tokens)])
    assert "probabilities" not in model.tag_batch(**inputs)
    model.return_probabilities = True
    tagged = model.tag_batch(**inputs)
    np.testing.assert_allclose(tagged["probabilities"].max(-1), tagged["confidence"], atol=1e-6)
    assert tagged["probabilities"].shape[-1] == len(model.class_names)


def test_settings_that_do_not_fit_together_are_an_input_error():
    """What only shows when the parts are put together."""
    with pytest.raises(InputError, match="do not fit together: `states` must have an even width"):
        make_model(
            decoder="lan", lan_heads=2, encoder="none", representation="words", word_width=13
        )


def test_only_a_refiner_brings_a_gate():
    model = make_model()
    assert model.gate.threshold == model.threshold == model.options.threshold == 0.35
    model = make_model(decoder="softmax")
    assert model.refiner is model.gate is model.threshold is model.refine_all is None
    decided = model.decide(make_batch(model)[0])
    assert decided.refined is decided.refined_label_ids is None
    for name, value in {"threshold": 0.2, "refine_all": False}.items():
        with pytest.raises(InputError, match=f"`{name}` is an option of the gate, and --decoder=s"):
            setattr(model, name, value)
    with pytest.raises(InputError, match="--decoder=softmax has no refiner"):
        model.refine(make_batch(model)[0], decided.draft)


def test_word_representations():
    def names(model):
        return [layer.name for layer in word_representations(model)]

    assert names(make_model()) == ["representation", "refiner_representation"]
    assert names(make_model(refiner_embeddings="shared")) == ["representation"]
    assert names(make_model(decoder="softmax")) == ["representation"]


def test_what_a_model_says_of_itself():
    model = make_model(threshold=0.125, max_tokens=99)
    assert model.threshold == 0.125
    assert model.max_tokens == 99
    assert (model.label_scheme, model.vocabulary.internal_scheme) == ("IOB2", "BIOES")
    assert model.class_names[:2] == ["O", "B-LOC"]
    assert set(model.label_names) == {"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}
    sentences = make_sentences(None, 5)
    model = make_model(sentences, None)
    assert (model.label_scheme, model.vocabulary.internal_scheme) == (None, None)
    assert model.class_names == model.label_names


def test_chunks_without_types():
    sentences = [Sentence(("a", "b", "c"), ("B", "I", "O"), 1, True)]
    model = make_model(sentences, "IOB2")
    _, labels = make_batch(model, sentences)
    assert [model.class_names[k] for k in labels.numpy()[0]] == ["B", "E", "O"]
    assert set(model.label_names) == {"O", "B", "I"}
    model.drafter.decoder.bias.assign([9.0 if name == "I" else 0.0 for name in model.class_names])
    outputs = model.predict(pad([["a", "b", "c"]]), verbose=0)
    assert text(outputs["draft_labels"]).tolist() == [["B", "I", "I"]]


def test_the_graph_of_predict_is_made_without_autograph(monkeypatch):
    """Converting the code of every layer takes longer than all else, and warns."""
    model = make_model(decoder="softmax", encoder="none", representation="words")
    statuses, features = [], model.features

    def spied(inputs):
        statuses.append(tf.__internal__.autograph.control_status_ctx().status.name)
        return features(inputs)

    monkeypatch.setattr(model, "features", spied)
    model.predict(pad([["Ann"]]), verbose=0)
    assert statuses == ["DISABLED"]


def test_a_sentence_of_too_many_tokens_is_refused_unread(shared):
    inputs = {"tokens": tf.fill([1, 4_097], "a"), "lengths": tf.constant([4_097])}
    with pytest.raises(tf.errors.InvalidArgumentError, match="More than 4096 tokens in a sentence"):
        shared(inputs)
    with pytest.raises(tf.errors.InvalidArgumentError, match="More than 4096 tokens in a sentence"):
        shared.predict(inputs, verbose=0)
    assert shared.tag_batch(np.array([["a"]], object), np.array([1], np.int32))["labels"].size == 1


def test_a_length_beyond_the_tokens_is_an_error(shared):
    inputs = {"tokens": np.array([["a", "b"]], object), "lengths": np.array([3], np.int32)}
    for call in (
        lambda: shared.tag_batch(**inputs),
        lambda: shared.predict(inputs, verbose=0),
        lambda: shared(inputs),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="beyond the width of tokens"):
            call()


@pytest.mark.parametrize("decoder", ["uanet", "softmax"])
def test_nothing_to_tag(decoder, shared):
    model = shared if decoder == "uanet" else make_model(decoder=decoder)
    for shape in ((0, 4), (0, 1), (3, 2)):
        outputs = model.tag_batch(np.full(shape, "", object), np.zeros(shape[:1], np.int32))
        assert {values.shape for values in outputs.values()} == {shape}


def test_a_sentence_without_tokens_beside_others(shared):
    tokens = np.array([["Ann", "saw"], ["x", "x"]], object)
    outputs = shared.tag_batch(tokens, np.array([2, 0], np.int32))
    assert np.isfinite(outputs["uncertainty"]).all()
    alone = shared.tag_batch(tokens[:1], np.array([2], np.int32))
    np.testing.assert_allclose(outputs["uncertainty"][0], alone["uncertainty"][0], atol=1e-6)


@pytest.mark.parametrize("value", [-0.1, float("nan")])
def test_bad_thresholds(value, shared):
    with pytest.raises(InputError, match=r"`threshold` must be (at least 0|a finite number)"):
        shared.threshold = value
    assert shared.threshold == 0.35


def test_bad_sampling():
    model = make_model(decoder="softmax")
    with pytest.raises(ValueError, match=r"`num_samples` must be at least 0. Received: -1"):
        model.num_samples = -1
    with pytest.raises(ValueError, match=r"`mc_seed` must be at most 2147483647. Rec"):
        model.mc_seed = 2**31
    assert (model.num_samples, model.mc_seed) == (3, 1)


def test_a_threshold_for_each_sentence(shared):
    features, _ = make_batch(shared)
    gammas = tf.constant([0.0, 1e9, 0.0, 1e9, 0.0])
    decided = shared.decide(features, gammas)
    expected = decided.draft.mask.numpy() & (gammas.numpy() == 0)[:, None]
    np.testing.assert_array_equal(decided.refined, expected)


def test_refining_only_where_asked_gives_the_same_labels():
    """Half of the sentences are left to the draft; nothing but their refined labels may change."""
    model = make_model()
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


def test_filled_batches_give_the_same_bits_in_any_company():
    """Also of refined tokens: the gate opens for about half of them."""
    model = make_model(refiner_head_width=20)
    sentences = [sentence.tokens for sentence in make_sentences("IOB2", 40)]
    u = np.concatenate([answer.uncertainty for answer in tag(model, sentences)])
    model.threshold, model.refine_all = float(np.median(u)), False

    def tag_parts(size, **options):
        parts = (sentences[k : k + size] for k in range(0, len(sentences), size))
        return [answer for part in parts for answer in tag_stream(model, part, **options)]

    whole = tag_parts(40, fill_rows=True)
    assert any(any(answer.refined) for answer in whole)
    for size, batch_size in ((1, 256), (7, 256), (40, 5)):
        assert tag_parts(size, batch_size=batch_size, fill_rows=True) == whole


def test_refining_nothing_is_possible():
    model = make_model()
    model.refine_all = False
    model.threshold = 100.0
    tagged = model.tag_batch(**pad([sentence.tokens for sentence in SENTENCES]))
    assert not tagged["refined"].any()
    np.testing.assert_array_equal(tagged["labels"], tagged["draft_labels"])
