"""Every flagfile of configs/, and what no flagfile has, meets the model contract."""

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
    "crf_of_single_labels": (
        {"decoder": "crf", "encoder": "relative_transformer", "representation": "intnet"},
        None,
    ),
    "softmax_of_words_alone": (
        {"decoder": "softmax", "representation": "words", "encoder": "none"},
        "BMEWO",
    ),
    "seq2seq_beam": (
        {
            "representation": "char_attention",
            "encoder": "bigru",
            "decoder": "seq2seq",
            "beam_width": 3,
        },
        "BILOU",
    ),
    "seq2biseq_two_optimizers": ({"decoder": "seq2biseq", "decoder_optimizers": 2}, "BMES"),
    "frozen_encoder": (
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
# Others without a gate and without samples, and on an encoder that reads the sentence itself.
MORE_CHECKS_OF = {
    "bilstm": ("check_ways_of_calling", "check_probabilities", "check_gate"),
    "transformer": ("check_ways_of_calling", "check_fresh_process"),
}
# Flagfiles whose model, made small, is that of another one, or differs from it only in how much is
# dropped, in a softmax in place of a CRF on the same states, or in what two others have.
LIKE = (
    *("quickstart", "ten_epochs", "uanet", "uanet_fast", "uanet_vectors", "transformer_crf"),
    *("bilstm_softmax", "char_attention", "id_cnn", "intnet", "rel_transformer"),
    *("variational_crf", "variational_softmax"),
)
# Systems in which each part stands once. What others combine otherwise, `make test-all` checks.
COVER = (
    FIRST,
    *MORE_CHECKS_OF,
    "crf_of_single_labels",
    "softmax_of_words_alone",
    "seq2seq_beam",
    "bilstm_lan",
    "id_cnn_crf",
    "seq2biseq_transformer",
)
NAMES = [*SYSTEMS, *sorted(set(FLAGFILES) - set(LIKE))]


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
    settings = setting_flags.settings_of([f"--flagfile={path}", vectors])
    return settings.config.replace(word_vectors="")


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
    # `make test` has these kinds of refiner in tests/refiner/.
    of_refiner = {"label_input": {"none"}, "label_residual": {"words"}}
    assert missing(COVER) == elsewhere | of_refiner
    assert {scheme for _, scheme in SYSTEMS.values()} | {"IOB2"} == {*SCHEMES, None}


@pytest.mark.parametrize("name", LIKE)
def test_an_untrained_model_of_the_other_flagfiles_labels_a_sentence(name):
    tokens = make_sentences("IOB2")
    model = make_tagger(small(config_of(name)), make_vocabulary(tokens, "IOB2"))
    outputs = model({name: tf.constant(x) for name, x in pad([list(tokens[1].tokens)]).items()})
    assert set(outputs["labels"].numpy().ravel()) <= {x.encode() for x in model.label_names}


@pytest.mark.parametrize(("name", "check"), CASES)
def test_contract(contract_of, name, check, request):
    needs_process = check == "check_fresh_process"
    arguments = [request.getfixturevalue("process")] if needs_process else []
    getattr(contract_of(name), check)(*arguments)
