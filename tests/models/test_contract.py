"""Every flagfile of configs/, and what no flagfile has, meets the model contract."""

import itertools
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from tests.models.contract_setup import (
    STEPS,
    FreshProcess,
    make_sentences,
    make_vocabulary,
    pad,
    small,
)
from tests.models.model_contract import CHECKS, ModelContract
from uanet_lite.tag_schemes import SCHEMES
from uanet_tf.commands import setting_flags
from uanet_tf.config import Config, iter_options
from uanet_tf.models.build import make_tagger
from uanet_tf.training.prepare import with_refiner_context

FLAGFILES = {path.stem: path for path in (Path(__file__).parents[2] / "configs").glob("*.flags")}

# Settings and label schemes that no flagfile has: {name: (settings, scheme of the training file)}.
SYSTEMS: dict[str, tuple[dict[str, Any], str | None]] = {
    "uanet_shared_argmax": (
        {
            "representation": "words",
            "refiner_embeddings": "shared",
            "label_input": "argmax",
            "label_layers": "last",
            "label_residual": "none",
        },
        "IOB1",
    ),
    "crf_of_single_labels": ({"decoder": "crf", "encoder_layers": 2}, None),
    "softmax_of_words_alone": (
        {"decoder": "softmax", "representation": "words", "encoder": "none"},
        "BMEWO",
    ),
    "seq2seq_beam": ({"encoder": "bigru", "decoder": "seq2seq", "beam_width": 3}, "BILOU"),
    "seq2biseq_two_optimizers": ({"decoder": "seq2biseq", "decoder_optimizers": 2}, "BMES"),
    "frozen_bert": (
        {
            "representation": "transformer",
            "pretrained_learning_rate": 0.0,
            "refiner_embeddings": "shared",
        },
        "BIOES",
    ),
}

# Of those that learn their sentences more slowly.
STEPS_OF = {"id_cnn_uanet": 250}

# What can differ with the parts of a system. The other checks are of what all models share.
OF_PARTS = (
    "check_overfits",
    "check_outputs",
    "check_reload",
    "check_one_token",
    "check_batch_row_and_padding",
    "check_batching_of_a_server",
    "check_unknown_words",
    "check_export",
)
# The system of which all checks are made, and of which `make test` makes all but the dearest.
FIRST = "uanet_shared_argmax"
# Others without a gate and without samples, and on a BERT, which reads the sentence itself.
MORE_CHECKS_OF = {
    "bilstm": ("check_ways_of_calling", "check_probabilities", "check_gate"),
    "transformer": ("check_ways_of_calling", "check_fresh_process"),
}
# Flagfiles whose model, made small, is that of another one, or differs from it only in how much is
# dropped, or in a softmax in place of a CRF on the same states.
LIKE = {
    "quickstart": "uanet_fast",
    "ten_epochs": "uanet_fast",
    "uanet_vectors": "uanet_fast",
    "transformer_crf": "transformer",
    "bilstm_softmax": "bilstm",
    "char_attention": "char_attention_crf",
    "id_cnn": "id_cnn_crf",
    "intnet": "intnet_crf",
    "rel_transformer": "rel_transformer_crf",
    "variational_softmax": "variational_crf",
}
# Flagfiles any two settings of which stand together in a system that is checked.
IN_PAIRS = ("uanet", "uanet_fast", "variational_crf")
# Systems in which each part stands once. What others combine otherwise, `make test-all` checks.
COVER = (
    FIRST,
    *MORE_CHECKS_OF,
    "softmax_of_words_alone",
    "seq2seq_beam",
    "bilstm_lan",
    "char_attention_crf",
    "id_cnn_crf",
    "intnet_crf",
    "rel_transformer_crf",
    "seq2biseq_transformer",
    "uanet_states",
)
NAMES = [*SYSTEMS, *sorted(set(FLAGFILES) - set(LIKE) - set(IN_PAIRS))]


def _checks_of(name: str) -> list[str]:
    """In the order of ``CHECKS``."""
    wanted = {*OF_PARTS, *MORE_CHECKS_OF.get(name, ())}
    return [check for check in CHECKS if name == FIRST or check in wanted]


def _is_quick(name: str, check: str) -> bool:
    if name == FIRST:
        return check != "check_setters"
    return name in COVER and check in OF_PARTS


CASES = [
    pytest.param(name, check, marks=() if _is_quick(name, check) else pytest.mark.process)
    for name in NAMES
    for check in _checks_of(name)
]


@pytest.fixture(scope="module")
def process():
    process = FreshProcess()
    yield process
    process.close()


def flagfile_config(path):
    vectors = "--word_vectors=-"  # without it the recipe of vectors is refused
    return setting_flags.config_of([f"--flagfile={path}", vectors]).replace(word_vectors="")


@pytest.fixture(scope="module")
def contract_of(tmp_path_factory):
    """A function from the name of a system to its contract; keeps that of the last name."""
    made: dict[str, ModelContract] = {}

    def contract_of(name: str) -> ModelContract:
        if name not in made:
            made.clear()
            made[name] = make_contract(name, tmp_path_factory.mktemp("run"))
        return made[name]

    return contract_of


def config_of(name):
    """The settings; the contract's sentences are of no documents."""
    if name in FLAGFILES:
        return with_refiner_context(flagfile_config(FLAGFILES[name]), {"train": []})
    return Config().replace(**SYSTEMS[name][0])


def make_contract(name: str, folder: Path) -> ModelContract:
    scheme = "IOB2" if name in FLAGFILES else SYSTEMS[name][1]
    return ModelContract(config_of(name), folder, scheme, STEPS_OF.get(name, STEPS))


def test_names():
    assert len(FLAGFILES) > 20
    assert not set(SYSTEMS) & set(FLAGFILES)
    assert set(OF_PARTS).union(*MORE_CHECKS_OF.values()) < set(CHECKS)
    assert set(COVER) <= set(NAMES)


def missing(names) -> dict[str, set[str]]:
    """By setting of a model, the choices that none of these systems has."""
    configs = [config_of(name) for name in names]
    found = {}
    for group, field, _ in iter_options(Config()):
        seen = {getattr(getattr(config, group), field.name) for config in configs}
        choices = set(field.metadata["choices"] or ()) - seen
        if choices and group in ("representation", "encoder", "decoder", "inference"):
            found[field.name] = choices
    return found


def test_each_part_and_each_choice_is_in_the_cover():
    elsewhere = {
        # The head of one pass has to be trained: tests/training/test_distillation.py.
        "sampling": {"distilled"},
        # Documents: tests/models/test_refiner_context.py, tests/training/test_refiner_context.py.
        "refiner_context": {"document", "auto"},
        # tests/representation/transformer/.
        "subword_pooling": {"mean"},
    }
    assert missing(NAMES) == elsewhere
    # `make test` has the refiner without labels in tests/refiner/.
    assert missing(COVER) == elsewhere | {"label_input": {"none"}}
    assert {scheme for _, scheme in SYSTEMS.values()} | {"IOB2"} == {*SCHEMES, None}


def model_settings(name: str) -> dict[str, Any]:
    """{setting: value} of a system's parts, made small; without what is dropped in training."""
    groups = small(config_of(name)).to_dict()
    if groups["decoder"]["decoder"] != "uanet":
        del groups["decoder"]["label_input"]  # of the refiner
    return {
        f"{group}.{setting}": value
        for group in ("representation", "encoder", "decoder", "inference")
        for setting, value in groups[group].items()
        if "dropout" not in setting
    }


def assert_tags(name: str) -> None:
    """An untrained model of the flagfile labels a sentence."""
    tokens = make_sentences("IOB2")
    model = make_tagger(small(config_of(name)), make_vocabulary(tokens, "IOB2"))
    outputs = model({name: tf.constant(x) for name, x in pad([list(tokens[1].tokens)]).items()})
    assert set(outputs["labels"].numpy().ravel()) <= {x.encode() for x in model.label_names}


@pytest.mark.parametrize(("name", "other"), LIKE.items())
def test_one_of_two_like_models_is_enough(name, other):
    one, two = model_settings(name), model_settings(other)
    assert {setting for setting in one if one[setting] != two[setting]} <= {"decoder.decoder"}
    assert {one["decoder.decoder"], two["decoder.decoder"]} in ({"crf", "softmax"}, {"uanet"})
    assert other not in LIKE
    assert_tags(name)


@pytest.mark.parametrize("name", IN_PAIRS)
def test_any_two_settings_stand_together_in_a_system_that_is_checked(name):
    def pairs(name):
        return set(itertools.combinations(sorted(map(repr, model_settings(name).items())), 2))

    assert pairs(name) <= set().union(*map(pairs, NAMES))
    assert_tags(name)


@pytest.mark.parametrize(("name", "check"), CASES)
def test_contract(contract_of, name, check, request):
    needs_process = check == "check_fresh_process"
    arguments = [request.getfixturevalue("process")] if needs_process else []
    getattr(contract_of(name), check)(*arguments)
