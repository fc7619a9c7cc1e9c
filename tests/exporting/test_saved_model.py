"""An exported run answers as ``model.predict`` does, in a process that only has TensorFlow."""

import numpy as np
import pytest
import tensorflow as tf

from tests.exporting.conftest import predict
from tests.models.model_contract import assert_same, text
from uanet_tf.exporting.sample_inputs import pad
from uanet_tf.exporting.saved_graph import foreign_operations
from uanet_tf.exporting.saved_model import export
from uanet_tf.exporting.verification import ids_of
from uanet_tf.files.checksums import CHECKSUMS, check_checksums
from uanet_tf.ops import devices
from uanet_tf.serving.rest_api.loaded_model import LoadedModel


def rows(outputs, numbers, width=None):
    return {name: values[numbers, :width] for name, values in outputs.items()}


def ask(loaded, signature, **inputs):
    call = loaded.signatures[signature]
    specs = call.structured_input_signature[1]
    answers = call(**{name: tf.constant(inputs[name], specs[name].dtype) for name in specs})
    return {name: text(tensor.numpy()) for name, tensor in answers.items()}


def test_the_gate_is_in_use(expected, sentences):
    refined = expected["refined"].sum()
    assert 0.2 < refined / sum(map(len, sentences)) < 0.8
    differ = expected["labels"] != expected["draft_labels"]
    assert differ.any()
    assert (expected["labels"] != expected["refined_labels"]).any()


def test_the_same_in_a_fresh_process(core, exported, sentences, expected):
    assert_same(core.ask(exported.path, "serving_default", **pad(sentences)), expected)
    foreign = {"uanet_tf", "tensorflow_text", "tensorflow_addons", "keras_nlp"}
    assert not core.modules & foreign


def test_made_where_a_gpu_is_and_served_where_none_is(
    run_dir, tmp_path, sentences, expected, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(devices, "has_gpu", lambda: True)
        made = export(run_dir, tmp_path, text=False)
    model = LoadedModel(made.path)
    kernels = {operation.type for operation in model._graph.get_operations()}
    functions = model._graph.as_graph_def().library.function
    kernels |= {node.op for function in functions for node in function.node_def}
    assert "CudnnRNNV3" in kernels
    answers = model.predict("serving_default", pad(sentences))
    assert_same({name: text(values) for name, values in answers.items()}, expected)


def test_with_threshold_is_one_gamma_a_sentence(core, exported, model, sentences, expected):
    inputs = pad(sentences)
    gammas = np.array([0.0, 0.9, model.threshold, 100.0])[np.arange(len(sentences)) % 4]
    outputs = core.ask(
        exported.path, "with_threshold", **inputs, threshold=gammas.astype(np.float32)
    )
    threshold = model.threshold
    try:
        for gamma in np.unique(gammas):
            model.threshold = gamma
            chosen = np.flatnonzero(gammas == gamma)
            assert_same(rows(outputs, chosen), rows(predict(model, inputs), chosen))
    finally:
        model.threshold = threshold
    assert (outputs["labels"] != expected["labels"]).any()


def test_draft_is_the_draft(core, exported, sentences, expected):
    outputs = core.ask(exported.path, "draft", **pad(sentences))
    draft = {"labels": expected["draft_labels"], "uncertainty": expected["uncertainty"]}
    assert_same(outputs, draft)


def ids_from_files(folder, sentences):
    """What a client makes of the vocabularies, in plain Python."""
    words = (folder / "words.txt").read_bytes().decode().removesuffix("\n").split("\n")
    chars = [
        chr(int(line.split("\t")[0]))
        for line in (folder / "chars.txt").read_bytes().decode().removesuffix("\n").split("\n")
    ]
    word_ids = {word: number for number, word in enumerate(words, 2)}
    char_ids = {char: number for number, char in enumerate(chars, 2)}
    lengths = [len(sentence) for sentence in sentences]
    shape = len(sentences), max(lengths)
    longest = max(len(token) for sentence in sentences for token in sentence)
    ids = {
        "word_ids": np.full(shape, 77, np.int32),  # anything at padding
        "char_ids": np.zeros([*shape, longest], np.int32),
        "lengths": np.array(lengths, np.int32),
    }
    for row, sentence in enumerate(sentences):
        for column, token in enumerate(sentence):
            token = "".join("0" if char.isdecimal() else char for char in token)
            ids["word_ids"][row, column] = word_ids.get(token, 1)
            spelled = [char_ids.get(char, 1) for char in token]
            ids["char_ids"][row, column, : len(spelled)] = spelled
    return ids


def test_ids_are_tokens_read_through_the_vocabulary_files(core, exported, sentences, expected):
    # Of a word of more than 40 characters a client would have to cut the middle out.
    numbers = [k for k, tokens in enumerate(sentences) if max(map(len, tokens)) <= 40]
    ids = ids_from_files(exported.path / "assets", [sentences[k] for k in numbers])
    assert (ids["word_ids"] > 1).mean() > 0.2
    width = ids["word_ids"].shape[1]
    assert_same(core.ask(exported.path, "ids", **ids), rows(expected, numbers, width))


def test_only_core_operations(exported):
    assert foreign_operations(exported.path) == set()


@pytest.mark.parametrize("signature", ["serving_default", "with_threshold", "draft", "ids"])
@pytest.mark.parametrize(
    ("count", "width"), [(0, 0), (0, 3), (2, 0), (2, 3)], ids=lambda value: str(value)
)
def test_nothing_to_tag(loaded, model, signature, count, width):
    """No sentence, no column, sentences without tokens."""
    inputs = {
        "tokens": np.full([count, width], "zzz", object),
        "lengths": np.zeros([count], np.int32),
        "threshold": np.zeros([count], np.float32),
        "word_ids": np.zeros([count, width], np.int32),
        "char_ids": np.zeros([count, width, 2], np.int32),
    }
    for name, values in ask(loaded, signature, **inputs).items():
        assert values.shape == (count, width)
        assert (values == ("" if "labels" in name else 0)).all()


GOOD = {
    "tokens": [["a", "b"], ["c", "d"]],
    "lengths": [2, 1],
    "threshold": [0.1, 0.2],
    "word_ids": [[1, 2], [3, 4]],
    "char_ids": [[[1, 2], [3, 4]], [[1, 0], [0, 0]]],
}


@pytest.mark.parametrize(
    ("signature", "changes", "said"),
    [
        ("serving_default", {"lengths": [3, 1]}, "A length is beyond the width of tokens"),
        ("serving_default", {"lengths": [-1, 1]}, "A length is negative"),
        ("serving_default", {"lengths": [1]}, "lengths must have one value for each sentence"),
        ("draft", {"lengths": [1]}, "lengths must have one value for each sentence"),
        ("draft", {"lengths": [2, 3]}, "A length is beyond the width of tokens"),
        ("with_threshold", {"threshold": [0.1]}, "threshold must have one value for each sentence"),
        ("with_threshold", {"threshold": [0.1, -1.0]}, "threshold must be a finite number"),
        ("with_threshold", {"threshold": [0.1, np.nan]}, "threshold must be a finite number"),
        ("with_threshold", {"threshold": [0.1, np.inf]}, "threshold must be a finite number"),
        (
            "serving_default",
            {"tokens": ["a", "b"]},
            "[2] is not compatible with expected shape [?,?]",
        ),
        (
            "serving_default",
            {"lengths": [[2], [1]]},
            "[2,1] is not compatible with expected shape [?]",
        ),
        ("serving_default", {"lengths": 2}, "[] is not compatible with expected shape [?]"),
        ("with_threshold", {"threshold": [[0.1, 0.2]]}, "[1,2] is not compatible"),
        ("draft", {"tokens": [[["a", "b"]]]}, "[1,1,2] is not compatible"),
        (
            "ids",
            {"char_ids": [[1, 2], [3, 4]]},
            "[2,2] is not compatible with expected shape [?,?,?]",
        ),
        ("serving_default", {"tokens": [[], []], "lengths": [0, 1]}, "beyond the width of tokens"),
        ("ids", {"lengths": [3, 1]}, "A length is beyond the width of word_ids"),
        ("ids", {"lengths": [2]}, "lengths must have one value for each sentence"),
        ("ids", {"char_ids": [[[1, 2], [3, 4]]]}, "char_ids must be [B, T, W]"),
        ("ids", {"word_ids": [[1, -2], [3, 4]]}, "word_ids must not be negative"),
        ("ids", {"word_ids": [[1, 10**6], [3, 4]]}, "word_ids must be below"),
        ("ids", {"char_ids": [[[1, 2], [3, 4]], [[10**6, 0], [0, 0]]]}, "char_ids must be below"),
    ],
)
def test_wrong_inputs_are_invalid_arguments(loaded, signature, changes, said):
    ask(loaded, signature, **GOOD)
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        ask(loaded, signature, **{**GOOD, **changes})
    assert said in str(error.value)


def test_shapes_stay_open_and_no_name_is_special(loaded):
    names = set()
    for call in loaded.signatures.values():
        specs = {**call.structured_input_signature[1], **call.structured_outputs}
        names |= set(specs)
        assert all(set(spec.shape) == {None} for spec in specs.values())
    assert not [name for name in names if name.endswith("_bytes")]


def test_ids_of_unknown_words_are_taken(loaded, model):
    inputs = pad([["Ωmega", "2024"]])
    assert_same(
        ask(loaded, "ids", **ids_of(model, inputs)), ask(loaded, "serving_default", **inputs)
    )


def test_the_checksums_are_of_all_files(exported):
    for folder in (exported.path, exported.text_path):
        lines = (folder / CHECKSUMS).read_text("utf-8").splitlines()
        files = {path for path in folder.rglob("*") if path.is_file()} - {folder / CHECKSUMS}
        assert {folder / line.split("  ", 1)[1] for line in lines} == files
        check_checksums(folder)
