"""Every flagfile of configs/, and every kind of part, meets the model contract."""

from pathlib import Path

import pytest
from absl import flags

from tests.models.model_contract import CHECKS, FreshProcess, ModelContract
from uanet_tf.commands.config_flags import config_from_flags, define_config_flags
from uanet_tf.config import Config

FLAGFILES = sorted((Path(__file__).parents[2] / "configs").glob("*.flags"))

# {name: (settings, tag scheme of the training file)}
SYSTEMS = {
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
    "uanet_without_labels_and_encoder": (
        {"encoder": "none", "output_dropout": 0.1, "label_input": "none"},
        "BMES",
    ),
    "softmax": ({"decoder": "softmax", "encoder_layers": 2}, None),
    "softmax_of_words_alone": (
        {"decoder": "softmax", "representation": "words", "encoder": "none"},
        "BIOES",
    ),
    "crf": ({"decoder": "crf", "encoder": "bilstm", "representation": "char_bilstm"}, "IOB2"),
    "lan": ({"decoder": "lan", "encoder": "bilstm"}, "BILOU"),
    "seq2seq": ({"decoder": "seq2seq", "representation": "char_attention"}, "IOB2"),
    "seq2biseq": (
        {"decoder": "seq2biseq", "encoder": "bigru_transformer", "representation": "char_gru"},
        "IOB2",
    ),
    "id_cnn_uanet": ({"encoder": "id_cnn", "representation": "word_shape"}, "IOB2"),
    "relative_transformer": (
        {"encoder": "relative_transformer", "decoder": "softmax", "representation": "intnet"},
        None,
    ),
}


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


@pytest.fixture(scope="module", params=[*SYSTEMS, *(path.name for path in FLAGFILES)])
def contract(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    if request.param.endswith(".flags"):
        path = next(path for path in FLAGFILES if path.name == request.param)
        return ModelContract(flagfile_config(path), folder, "IOB2")
    settings, scheme = SYSTEMS[request.param]
    return ModelContract(Config().replace(**settings), folder, scheme)


def test_there_are_flagfiles():
    assert len(FLAGFILES) >= 3


@pytest.mark.parametrize("check", CHECKS)
def test_contract(contract, check, request):
    needs_process = check == "check_fresh_process"
    arguments = [request.getfixturevalue("process")] if needs_process else []
    getattr(contract, check)(*arguments)
