"""A converted model answers as the tagger that it was made from, with built-in operations alone."""

import functools

import numpy as np
import pytest
import tensorflow as tf

import uanet_lite
import uanet_tf
from tests.exporting.tflite.agreement import (
    assert_agree,
    custom_operations,
    make_model,
    random_words,
    runners,
)
from tests.quick_params import quick_params
from uanet_lite.columns_file import read_corpus
from uanet_tf.errors import InputError
from uanet_tf.exporting.tflite import conversion
from uanet_tf.exporting.tflite.conversion import DYNAMIC, FLOAT32, PRECISIONS, convert
from uanet_tf.exporting.tflite.tflite_export import compare

# Graphs that are soon made; samples differ.
WORDS = {"representation": "words", "encoder": "none", "output_dropout": 0.1}

# Between them: every encoder and decoder, every representation but transformer.
SYSTEMS = {
    "id_cnn_uanet": {
        "encoder": "id_cnn",
        "representation": "word_shape",
        "refiner_states": True,
        "refiner_context": "document",
    },
    "relative_transformer": {
        "encoder": "relative_transformer",
        "decoder": "softmax",
        "representation": "intnet",
    },
    "bigru_uanet": {
        "encoder": "bigru",
        "representation": "words",
        "return_mutual_information": True,
        "label_input": "argmax",
        "refiner_embeddings": "shared",
    },
    "crf": {"decoder": "crf", "encoder": "bilstm", "representation": "char_bilstm"},
    "transformer_crf": {"decoder": "crf", "encoder": "relative_transformer"},
    "lan": {"decoder": "lan", "encoder": "bilstm", "projection_width": 0},
    "seq2biseq": {
        "decoder": "seq2biseq",
        "encoder": "bigru_transformer",
        "representation": "char_gru",
    },
    "seq2seq_without_encoder": {
        "decoder": "seq2seq",
        "encoder": "none",
        "representation": "char_attention",
        "output_dropout": 0.1,
        "beam_width": 3,
    },
}


@pytest.fixture(scope="module")
def corpus(trained_run):
    return read_corpus(trained_run.parent / "data" / "dev.conll")


def test_the_refiner_of_the_trained_run_works(model, corpus):
    """What follows would say little of a model that never refines, or never changes a label."""
    tagged = uanet_tf.tag(model, [sentence.tokens for sentence in corpus])
    labels = np.concatenate([sentence.labels for sentence in corpus])
    draft, given = (
        np.concatenate([getattr(sentence, name) for sentence in tagged])
        for name in ("draft_labels", "labels")
    )
    assert (draft != given).sum() > 30
    assert (given == labels).mean() > (draft == labels).mean() + 0.02


@pytest.mark.parametrize("precision", PRECISIONS)
def test_built_in_operations_only(tflite_files, precision):
    assert not custom_operations(tflite_files[precision].path.read_bytes())


def test_agrees_on_all_lengths_in_one_interpreter(model, tflite_files):
    run, run_draft = runners(tflite_files[FLOAT32].path.read_bytes())
    changed = refined = 0
    for length in (1, 7, 60, *range(1, 61)):
        expected = assert_agree(model, run, run_draft, random_words(model, length, seed=length))
        changed += (expected["labels"] != expected["draft_labels"]).sum()
        refined += expected["refined"].sum()
    assert changed > 50
    assert refined < 1500  # of 1,898


@functools.cache
def converted(name):
    """A system's model, and its file."""
    model = make_model(**SYSTEMS[name])
    return model, convert(model)[FLOAT32]


@pytest.mark.parametrize("size", [(0, 3), (0, 0), (2, 0)])
@pytest.mark.parametrize(
    "system", quick_params(["trained", "transformer_crf", "crf"], ["trained", "crf"])
)
def test_nothing_to_read_does_no_harm(model, tflite_files, system, size):
    """Python neither sets nor gets a tensor of no elements, other languages do."""
    tokens, characters = size
    trained = tflite_files[FLOAT32].path
    content = trained.read_bytes() if system == "trained" else converted(system)[1]
    interpreter = tf.lite.Interpreter(
        model_content=content,
        experimental_op_resolver_type=(
            tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        ),
    )
    for item in interpreter.get_input_details():
        shape = [1, tokens, characters][: len(item["shape"])]
        interpreter.resize_tensor_input(item["index"], shape)
    interpreter.allocate_tensors()
    for item in interpreter.get_input_details():
        if item["shape"].all():
            interpreter.set_tensor(item["index"], np.ones(item["shape"], np.int32))
    interpreter.invoke()
    shapes = [item["shape"].tolist() for item in interpreter.get_output_details()]
    assert shapes == [[1, tokens]] * (6 if system == "trained" else 2)
    if system != "trained":
        return
    run, run_draft = (
        interpreter.get_signature_runner(name) for name in ("serving_default", "draft")
    )
    assert_agree(model, run, run_draft, ["Oslo", "won"])


def test_agrees_on_the_sentences_of_a_file(model, corpus, tflite_files):
    tagger = uanet_lite.Tagger(tflite_files[FLOAT32].path)
    agreement = compare(model, tagger, [sentence.tokens for sentence in corpus], "dev.conll")
    assert agreement.tokens == sum(len(sentence.tokens) for sentence in corpus)
    assert agreement.same == 1.0
    assert agreement.same_where_refined == 1.0
    assert agreement.uncertainty_error < 1e-4
    assert agreement == tflite_files[FLOAT32].agreement


def test_quantised_files_are_smaller_and_nearly_agree(tflite_files):
    sizes = {name: file.path.stat().st_size for name, file in tflite_files.items()}
    assert sizes["float16"] < 0.65 * sizes["float32"]
    assert sizes["dynamic"] < 0.5 * sizes["float32"]
    agreements = {name: file.agreement for name, file in tflite_files.items()}
    assert agreements["float16"].same > 0.999
    assert agreements["float16"].same_where_refined > 0.99
    assert agreements["float16"].uncertainty_error < 0.01
    assert agreements["dynamic"].same > 0.98
    assert agreements["dynamic"].same_where_refined > 0.95
    # Each is what it says: the coarser the weights, the farther off.
    errors = [agreements[name].uncertainty_error for name in PRECISIONS]
    assert errors == sorted(errors)
    assert len(set(errors)) == 3


@pytest.mark.process
def test_distances_that_no_table_has_are_computed(monkeypatch):
    model = make_model(**WORDS)
    with_table = convert(model)[FLOAT32]
    monkeypatch.setattr(conversion, "_LONGEST_TABLE", model.max_tokens - 1)
    without = convert(model)[FLOAT32]
    assert with_table != without
    for content in (with_table, without):
        assert_agree(model, *runners(content), random_words(model, 30))


@pytest.mark.parametrize("name", quick_params(SYSTEMS, ["crf"]))
def test_every_system_converts(name):
    model, content = converted(name)
    assert not custom_operations(content)
    run, run_draft = runners(content)
    refined = total = 0
    for length in (3, 1, 2, 16, 17, 40, 33, 1):
        expected = assert_agree(model, run, run_draft, random_words(model, length))
        refined, total = refined + expected["refined"].sum(), total + length
    if model.settings.decoder.decoder == "uanet":
        assert 0 < refined < total


def distilled_model(**settings):
    """One pass and an untrained head that changes the answer."""
    model = make_model(representation="words", **settings)
    head = model.drafter.distilled
    head.output_kernel.assign(tf.random.stateless_normal(head.output_kernel.shape, [1, 2]))
    head.was_trained.assign(1.0)
    model.sampling = "distilled"
    return model


@pytest.mark.process
def test_the_runtime_s_own_lstm_reads_sentences_one_after_another():
    """In the 8-bit file of one pass only; it keeps a state, which no answer may show."""
    model = distilled_model()
    content = convert(model, [DYNAMIC])[DYNAMIC]
    one_after_another, _ = runners(content)
    for length in (12, 1, 40, 3):
        tokens = random_words(model, length)
        ids = {
            name: values.numpy()[np.newaxis]
            for name, values in zip(
                ("word_ids", "char_ids"), model.lookup(tf.constant(tokens)), strict=True
            )
        }
        found, alone = one_after_another(**ids), runners(content)[0](**ids)
        for name, values in alone.items():
            np.testing.assert_array_equal(found[name], values, name)
        expected = model.tag_batch(np.array([tokens], object), np.array([length]))
        np.testing.assert_allclose(found["uncertainty"], expected["uncertainty"], atol=0.05)


def test_the_head_of_one_pass_is_converted():
    model = distilled_model(encoder="none", output_dropout=0.1)
    tokens = random_words(model, 12)
    model.sampling = "exact"
    exact = model({"tokens": tf.constant([tokens]), "lengths": tf.constant([12])})["uncertainty"]
    model.sampling = "distilled"
    content = convert(model)[FLOAT32]
    assert not custom_operations(content)
    expected = assert_agree(model, *runners(content), tokens)
    assert np.abs(expected["uncertainty"] - exact).max() > 1e-2
    assert_agree(model, *runners(content), random_words(model, 40))


def test_a_pretrained_encoder_is_refused():
    model = make_model(representation="transformer", encoder="none", decoder="softmax")
    with pytest.raises(
        InputError, match=r"representation 'transformer' reads more: export it as a Saved"
    ):
        convert(model)


def test_new_masks_at_each_call_are_refused():
    model = make_model(**WORDS, decoder="softmax")
    model.mc_seed = -1
    with pytest.raises(InputError, match=r"the seed -1 draws new ones at each call"):
        convert(model)
    model.num_samples = 0  # no masks
    assert set(convert(model)) == {FLOAT32}


def test_probabilities_are_no_output():
    """Whatever the model returns elsewhere: a file describes its outputs."""
    model = make_model(**WORDS, decoder="softmax")
    model.return_probabilities = True
    run, run_draft = runners(convert(model)[FLOAT32])
    assert_agree(model, run, run_draft, random_words(model, 9))


def test_an_operation_that_tensorflow_lite_does_not_have_is_named(monkeypatch, capfd):
    model = make_model(representation="words", decoder="softmax")
    positions = model.answers.positions

    def unusual(decision, options):
        tagged = positions(decision, options)
        return {**tagged, "confidence": tf.math.igamma(tagged["confidence"], 1.0)}

    monkeypatch.setattr(model.answers, "positions", unusual)
    with pytest.raises(InputError, match=r"no operation for tf\.Igamma as used here\. Export"):
        convert(model)
    assert not capfd.readouterr().err  # no pages of the converter's own
