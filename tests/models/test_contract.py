"""Every flagfile of configs/, and what no flagfile has, meets the model contract."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from absl import flags

from tests.models.contract_setup import FreshProcess
from tests.models.model_contract import CHECKS, ModelContract, text
from uanet_tf.commands.config_flags import config_from_flags, define_config_flags
from uanet_tf.config import Config

FLAGFILES = {path.stem: path for path in (Path(__file__).parents[2] / "configs").glob("*.flags")}

# Settings and label schemes that no flagfile has: {name: (settings, scheme of the training file)}.
SYSTEMS: dict[str, tuple[dict[str, Any], str | None]] = {
    "uanet_shared_argmax_mutual_information": (
        {
            "representation": "words",
            "refiner_embeddings": "shared",
            "label_input": "argmax",
            "label_layers": "last",
            "uncertainty": "mutual_information",
        },
        "IOB1",
    ),
    "uanet_of_single_labels": ({}, None),
    "crf_of_single_labels": ({"decoder": "crf", "crf_constraints": False}, None),
    "softmax_of_words_alone": (
        {"decoder": "softmax", "representation": "words", "encoder": "none"},
        "BIOES",
    ),
    "seq2seq_beam": ({"decoder": "seq2seq", "beam_width": 3, "encoder_layers": 2}, "BILOU"),
    "seq2biseq_two_optimizers": ({"decoder": "seq2biseq", "decoder_optimizers": 2}, "BMES"),
    "frozen_bert": (
        {"representation": "bert", "bert_learning_rate": 0.0, "refiner_embeddings": "shared"},
        "BIOES",
    ),
}

# What can differ with the parts of a system. The other checks are of what all models share, and are
# made of one of each kind.
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
ALL_CHECKS_OF = ("uanet", "uanet_shared_argmax_mutual_information", "bilstm_crf", "bert_softmax")
CASES = [
    (name, check)
    for name in [*SYSTEMS, *sorted(FLAGFILES)]
    for check in (CHECKS if name in ALL_CHECKS_OF else OF_PARTS)
]


class OneGraph(ModelContract):
    """The contract of a model whose settings stay: it answers from one graph for all shapes.

    ``predict`` of Keras makes a new graph for each width that it sees first, which is most of the
    time that the checks take.
    """

    def predict(self, inputs=None, model=None):
        model = model or self.model
        if not hasattr(model, "contract_graph"):
            signature = {
                "tokens": tf.TensorSpec([None, None], tf.string),
                "lengths": tf.TensorSpec([None], tf.int32),
            }
            model.contract_graph = tf.function(
                model.call, input_signature=[signature], autograph=False
            )
        inputs = {name: tf.constant(x) for name, x in (inputs or self.inputs).items()}
        return {name: text(x.numpy()) for name, x in model.contract_graph(inputs).items()}


@pytest.fixture(scope="module")
def process():
    process = FreshProcess()
    yield process
    process.close()


def flagfile_config(path):
    values = flags.FlagValues()
    define_config_flags(values)
    values(["test", f"--flagfile={path}"])
    return config_from_flags(values)


@pytest.fixture(scope="module")
def contract(request, tmp_path_factory):
    name = request.param
    kind = ModelContract if name in ALL_CHECKS_OF else OneGraph
    folder = tmp_path_factory.mktemp("run")
    if name in FLAGFILES:
        return kind(flagfile_config(FLAGFILES[name]), folder, "IOB2")
    settings, scheme = SYSTEMS[name]
    return kind(Config().replace(**settings), folder, scheme)


def test_names():
    assert len(FLAGFILES) > 20
    assert not set(SYSTEMS) & set(FLAGFILES)
    assert set(OF_PARTS) < set(CHECKS)
    assert set(ALL_CHECKS_OF) <= {*SYSTEMS, *FLAGFILES}


# The scope keeps one model for all checks of a system.
@pytest.mark.parametrize(
    ("contract", "check"), CASES, indirect=["contract"], scope="module", ids=lambda value: value
)
def test_contract(contract, check, request):
    needs_process = check == "check_fresh_process"
    arguments = [request.getfixturevalue("process")] if needs_process else []
    getattr(contract, check)(*arguments)


@pytest.mark.parametrize("contract", ["uanet"], indirect=True)
def test_one_graph_answers_as_predict(contract):
    """So what is shown of the one holds of the other."""
    one, other = OneGraph.predict(contract), ModelContract.predict(contract)
    assert set(one) == set(other)
    for name, values in one.items():
        same = np.array_equal if values.dtype == object else np.allclose
        assert same(values, other[name]), name
