"""The refiner as a whole: contract, label inputs, gradient flow, positions, learning."""

import re

import numpy as np
import pytest
import tensorflow as tf

from tests.layer_contract import check_layer
from tests.layers.transcription import randomise, reference_stream
from tests.quick_params import quick_params
from uanet_tf.layers.relative_attention import QueryTokens
from uanet_tf.ops.graphs import graph_function
from uanet_tf.refiner.two_stream_refiner import TwoStreamRefiner

CLASSES = 4


def make_refiner(**kwargs) -> TwoStreamRefiner:
    options = {"num_layers": 2, "num_heads": 3, "head_width": 5, "label_width": 6, **kwargs}
    return TwoStreamRefiner(CLASSES, **options)


def make_inputs(lengths=(6, 2, 4), length: int = 6, width: int = 7) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    scores = rng.standard_normal([len(lengths), length, CLASSES])
    return {
        "words": rng.standard_normal([len(lengths), length, width]).astype(np.float32),
        "draft_probabilities": tf.nn.softmax(scores).numpy().astype(np.float32),
        "mask": np.arange(length) < np.array(lengths)[:, np.newaxis],
    }


def reference_logits(refiner, words, draft, mask) -> np.ndarray:
    """Eq. 8 and the layers around it in plain NumPy."""
    weights = {w.name.split("/", 1)[1][:-2]: w.numpy().astype(float) for w in refiner.weights}
    states = words @ weights["word_kernel"] + weights["word_bias"]
    labels = draft @ weights["label_embedding"] @ weights["label_kernel"] + weights["label_bias"]
    first = {"labels": labels, "words": states, "none": np.zeros_like(states)}
    label_states = first[refiner.label_residual]
    for block in refiner.blocks:
        w_kr = block.position_kernel.numpy().astype(float)
        label_states = reference_stream(
            block.label_attention, w_kr, states, labels, label_states, mask
        )
        states = reference_stream(block.word_attention, w_kr, states, states, states, mask)
    both = np.concatenate([states, label_states], axis=-1)
    return both @ weights["logit_kernel"] + weights["logit_bias"]


@pytest.mark.parametrize("label_residual", ["labels", "words", "none"])
def test_equals_transcription(label_residual):
    refiner = make_refiner(label_width=None, label_residual=label_residual)
    inputs = make_inputs(lengths=(6, 1, 4))
    refiner(**inputs)
    randomise(refiner)
    expected = reference_logits(refiner, *inputs.values())
    mask = inputs["mask"]
    np.testing.assert_allclose(refiner(**inputs).numpy()[mask], expected[mask], atol=1e-3)


@pytest.mark.parametrize("label_residual", ["labels", "words", "none"])
def test_a_token_sees_all_draft_labels(label_residual):
    refiner = make_refiner(label_residual=label_residual)
    words, draft, mask = make_inputs(lengths=(6,)).values()
    logits = refiner(words, draft, mask=mask).numpy()
    other = draft.copy()
    other[:, 2] = np.roll(other[:, 2], 1, axis=-1)
    changes = np.abs(refiner(words, other, mask=mask).numpy() - logits)[0].max(axis=-1)
    assert (changes > 1e-4).all()


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, marks=pytest.mark.process),
        {"label_layers": "last", "label_input": "argmax", "label_residual": "words"},
        pytest.param({"label_input": "none"}, marks=pytest.mark.process),
    ],
)
def test_contract(options):
    check_layer(
        lambda **kwargs: make_refiner(**options, **kwargs),
        make_inputs,
        make_layer_without_dropout=lambda: make_refiner(
            **options, dropout=0.0, attention_dropout=0.0
        ),
    )


@pytest.mark.parametrize("label_input", ["expected", "argmax", "none"])
@pytest.mark.parametrize("label_layers", ["all", "last"])
def test_no_gradient_reaches_the_draft(label_layers, label_input):
    refiner = make_refiner(label_layers=label_layers, label_input=label_input)
    inputs = {name: tf.constant(value) for name, value in make_inputs().items()}
    with tf.GradientTape() as tape:
        tape.watch([inputs["words"], inputs["draft_probabilities"]])
        loss = tf.reduce_sum(tf.square(refiner(**inputs)))
    words, draft = tape.gradient(loss, [inputs["words"], inputs["draft_probabilities"]])
    assert draft is None
    assert np.abs(words).max() > 0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"label_layers": "last"},
        {"label_residual": "words"},
        {"label_residual": "none", "num_heads": 1},
    ],
)
def test_some_query_tokens_get_the_logits_that_they_get_among_all(options):
    refiner, inputs = make_refiner(**options), make_inputs()
    wanted = np.array([[1, 0, 1, 0, 0, 1], [0, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0]], bool)
    some = refiner(**inputs, query_tokens=QueryTokens.of_mask(tf.constant(wanted)))
    expected = refiner(**inputs).numpy()
    np.testing.assert_allclose(some, expected[wanted], atol=1e-5)
    for row in range(3):
        one = {name: values[row : row + 1] for name, values in inputs.items()}
        tokens = QueryTokens.of_sentence(tf.constant(wanted[row : row + 1]))
        alone = refiner(**one, query_tokens=tokens)
        np.testing.assert_allclose(alone, expected[row][wanted[row]], atol=1e-5)


def test_one_hot_drafts_make_expected_and_argmax_equal():
    expected, argmax = make_refiner(), make_refiner(label_input="argmax")
    inputs = make_inputs()
    labels = inputs["draft_probabilities"].argmax(axis=-1)
    one_hot = np.eye(CLASSES, dtype=np.float32)[labels]
    expected(inputs["words"], one_hot), argmax(inputs["words"], one_hot)
    argmax.set_weights(expected.get_weights())
    np.testing.assert_allclose(
        expected(inputs["words"], one_hot), argmax(inputs["words"], one_hot), atol=1e-5
    )
    soft = inputs["draft_probabilities"]
    np.testing.assert_allclose(
        argmax(inputs["words"], soft), argmax(inputs["words"], one_hot), atol=1e-5
    )
    assert np.abs(expected(inputs["words"], soft) - argmax(inputs["words"], soft)).max() > 1e-3


def test_labels_matter_unless_they_are_left_out():
    inputs = make_inputs()
    other = np.roll(inputs["draft_probabilities"], 1, axis=-1)
    for label_input, matters in (("expected", True), ("argmax", True), ("none", False)):
        refiner = make_refiner(label_input=label_input)
        logits = refiner(**inputs)
        changed = refiner(inputs["words"], other, mask=inputs["mask"])
        assert (np.abs(logits - changed).max() > 1e-3) == matters
    np.testing.assert_array_equal(refiner(inputs["words"], mask=inputs["mask"]), logits)


def test_with_one_block_all_and_last_are_the_same():
    every, last = make_refiner(num_layers=1), make_refiner(num_layers=1, label_layers="last")
    inputs = make_inputs()
    logits = every(**inputs)
    last(**inputs)
    last.set_weights(every.get_weights())
    np.testing.assert_array_equal(last(**inputs), logits)


def test_order_of_words_matters():
    """Without positions a permutation of the words would only permute the outputs."""
    refiner, inputs = make_refiner(), make_inputs(lengths=(6,))
    order = np.array([3, 0, 5, 1, 4, 2])
    logits = refiner(inputs["words"], inputs["draft_probabilities"]).numpy()
    shuffled = refiner(inputs["words"][:, order], inputs["draft_probabilities"][:, order])
    assert np.abs(shuffled - logits[:, order]).max() > 1e-2


@pytest.mark.parametrize("label_layers", quick_params(["all", "last"], ["all"]))
def test_overfits_one_batch(label_layers):
    """With dropout off, the refiner corrects drafts that are wrong at every token."""
    refiner = make_refiner(label_layers=label_layers, num_layers=1)
    inputs = make_inputs(lengths=(6, 3, 5, 4))
    words, draft, mask = (tf.constant(value) for value in inputs.values())
    labels = tf.constant(np.random.default_rng(2).integers(0, CLASSES, mask.shape))
    optimizer = tf.keras.optimizers.Adam(0.01)
    refiner(words, draft)
    optimizer.build(refiner.trainable_weights)

    @graph_function()
    def step():
        with tf.GradientTape() as tape:
            logits = tf.boolean_mask(refiner(words, draft, mask=mask), mask)
            targets = tf.boolean_mask(labels, mask)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
            loss = tf.reduce_mean(losses)
        weights = refiner.trainable_weights
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    losses = [float(step()) for _ in range(80)]
    assert losses[-1] < 0.02 < losses[0]
    predicted = tf.argmax(refiner(words, draft, mask=mask), axis=-1)
    assert (predicted.numpy() == labels.numpy())[mask.numpy()].all()


def test_first_signals_have_the_same_size():
    """Neither stream drowns the other at the start."""
    refiner = TwoStreamRefiner(9, num_heads=4, head_width=16)
    inputs = make_inputs(width=64)
    words, draft = inputs["words"], np.eye(9, dtype=np.float32)[[[1, 2, 3, 4, 5, 6]] * 3]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(refiner(words, draft)))
    gradients = dict(
        zip(
            (weight.name.split("/", 1)[1] for weight in refiner.trainable_weights),
            tape.gradient(loss, refiner.trainable_weights),
            strict=True,
        )
    )
    for block in ("block_0", "block_1"):
        word, label = (
            np.linalg.norm(gradients[f"{block}/{stream}_attention/output_kernel:0"])
            for stream in ("word", "label")
        )
        assert 0.1 < word / label < 10


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "float16", "float64"])
def test_other_dtypes(policy):
    refiner, inputs = make_refiner(dtype=policy), make_inputs(lengths=(6, 0, 4))
    logits = refiner(**inputs)
    assert logits.dtype == refiner.compute_dtype
    assert np.isfinite(tf.cast(logits, tf.float32)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_layers": "first"}, '`label_layers` must be one of "all", "last". Received: '),
        (
            {"label_residual": "x"},
            '`label_residual` must be one of "labels", "words", "none". Received: ',
        ),
        ({"label_input": None}, '`label_input` must be one of "expected", "argmax", "none".'),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_refiner(**options)
