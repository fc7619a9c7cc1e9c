"""An exported run answers as ``model.predict`` does, in a process that only has TensorFlow."""

import numpy as np
import pytest
import tensorflow as tf

from tests.exporting.conftest import predict
from tests.models.model_contract import assert_same, text
from uanet_tf.exporting.sample_inputs import pad
from uanet_tf.exporting.saved_graph import foreign_operations
from uanet_tf.files.checksums import CHECKSUMS, check_checksums


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


def test_only_core_operations(exported):
    assert foreign_operations(exported.path) == set()


@pytest.mark.parametrize("signature", ["serving_default", "with_threshold", "draft"])
@pytest.mark.parametrize(
    ("count", "width"), [(0, 0), (0, 3), (2, 0), (2, 3)], ids=lambda value: str(value)
)
def test_nothing_to_tag(loaded, model, signature, count, width):
    """No sentence, no column, sentences without tokens."""
    inputs = {
        "tokens": np.full([count, width], "zzz", object),
        "lengths": np.zeros([count], np.int32),
        "threshold": np.zeros([count], np.float32),
    }
    for name, values in ask(loaded, signature, **inputs).items():
        assert values.shape == (count, width)
        assert (values == ("" if "labels" in name else 0)).all()


GOOD = {
    "tokens": [["a", "b"], ["c", "d"]],
    "lengths": [2, 1],
    "threshold": [0.1, 0.2],
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
        ("serving_default", {"tokens": [[], []], "lengths": [0, 1]}, "beyond the width of tokens"),
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


def test_the_checksums_are_of_all_files(exported):
    for folder in (exported.path, exported.text_path):
        lines = (folder / CHECKSUMS).read_text("utf-8").splitlines()
        files = {path for path in folder.rglob("*") if path.is_file()} - {folder / CHECKSUMS}
        assert {folder / line.split("  ", 1)[1] for line in lines} == files
        check_checksums(folder)
