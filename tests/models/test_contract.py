"""Every kind of model meets the model contract."""

import pytest

from tests.models.model_contract import CHECKS, FreshProcess, ModelContract
from uanet_tf.config import Config

# {name: (settings, tag scheme of the training file)}
SYSTEMS = {
    "uanet": ({}, "IOB2"),
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


@pytest.fixture(scope="module", params=SYSTEMS)
def contract(request, tmp_path_factory):
    settings, scheme = SYSTEMS[request.param]
    return ModelContract(Config().replace(**settings), tmp_path_factory.mktemp("run"), scheme)


@pytest.mark.parametrize("check", CHECKS)
def test_contract(contract, check, request):
    needs_process = check == "check_fresh_process"
    arguments = [request.getfixturevalue("process")] if needs_process else []
    getattr(contract, check)(*arguments)
