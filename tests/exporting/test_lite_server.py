"""The local server with TensorFlow Lite files: REST, the client, both kinds at once."""

import numpy as np
import pytest
import requests

from uanet_tf.serving.client import Client
from uanet_tf.serving.retrying import ServingError

GOOD = {"tokens": [["Riverton", "won", ""]], "lengths": [2]}


def ask(url, inputs, model="lite", **more):
    body = {"inputs": inputs, **more}
    answer = requests.post(f"{url}/v1/models/{model}:predict", json=body, timeout=60)
    return answer.status_code, answer.json()


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (
            {"tokens": ["a"], "lengths": [1]},
            r"tokens must be [B, T] and lengths [B]. Received: [1]",
        ),
        ({"tokens": [["a"]], "lengths": [1, 1]}, "Received: [1, 1] and [2]"),
        ({"tokens": [["a"]], "lengths": [2]}, "A length is beyond the width of tokens."),
        ({"tokens": [["a"]], "lengths": [-1]}, "A length is negative."),
        ({"tokens": [["a", ""]], "lengths": [2]}, "sentences[0]: word 1 must be a string that is"),
        ({"tokens": [[{"b64": "/w=="}]], "lengths": [1]}, "tokens[0] is not valid UTF-8: b'\\xff'"),
        ({"tokens": [["x" * 1001]], "lengths": [1]}, "word 0 has 1,001 characters"),
        ({"tokens": [["a"]]}, "Missing named input: lengths"),
    ],
)
def test_wrong_inputs_are_refused_and_do_no_harm(url, inputs, said):
    status, answer = ask(url, inputs)
    assert status == 400
    assert said in answer["error"]
    assert ask(url, GOOD)[0] == 200


def test_what_the_file_cannot_do_is_said(url):
    for signature, more in (("with_threshold", {"threshold": [0.5]}), ("draft", {}), ("ids", {})):
        assert ask(url, GOOD | more, signature_name=signature) == (
            400,
            {
                "error": f'Serving signature name: "{signature}" not found: a TensorFlow Lite file '
                "has serving_default alone, with the Gamma that it was exported with."
            },
        )
    with (
        Client(url, "lite") as client,
        pytest.raises(ServingError, match="with the Gamma that it was exported with"),
    ):
        client.tag([["Oslo"]], threshold=0.5)
    assert ask(url, [["a"]], model="lite_text")[1] == {
        "error": "text must be [B]. Received: [1, 1]"
    }


def test_a_folder_of_both_kinds(url):
    """Of versions 1, a SavedModel, and 2, a file, the file is served: it is the latest."""
    one, two = (ask(url, GOOD, model)[1]["outputs"] for model in ("tiny", "both"))
    assert one["labels"] == two["labels"]
    np.testing.assert_allclose(one["uncertainty"], two["uncertainty"], rtol=0, atol=1e-5)
    assert ask(url, GOOD, "both/versions/2")[1]["outputs"] == two
    assert ask(url, GOOD, "both/versions/1")[0] == 404
