import numpy as np
import pytest
import tensorflow as tf

from tests.representation.transformer.written_preset import write_preset
from tests.tiny_encoder import SUBWORDS
from uanet_tf.errors import InputError
from uanet_tf.representation.transformer.keras_nlp_preset import read_keras_nlp
from uanet_tf.representation.transformer.pretrained_encoder import read_pretrained
from uanet_tf.representation.transformer.transformer_encoder import TransformerEncoder


def encoder_of(preset):
    encoder = TransformerEncoder(preset.spec.architecture)
    encoder.fill(preset.weights)
    return encoder


def test_a_folder_gives_the_states_of_keras_nlp(backbone, tmp_path):
    """Its activation is the approximate GELU, and stays so."""
    preset = read_pretrained(str(write_preset(backbone, tmp_path / "preset")))
    rng = np.random.default_rng(2)
    ids = rng.integers(5, len(SUBWORDS), [3, 11]).astype(np.int32)
    mask = np.arange(11) < np.array([[11], [4], [7]])
    inputs = {
        "token_ids": ids,
        "padding_mask": mask.astype(np.int32),
        "segment_ids": np.zeros_like(ids),
    }
    expected = backbone(inputs)["sequence_output"].numpy()[mask]
    assert preset.spec.architecture.activation == "gelu_tanh"
    states = encoder_of(preset)(tf.constant(ids), tf.constant(mask))
    np.testing.assert_allclose(states, expected, atol=1e-5)


def test_what_the_preset_is(backbone, tmp_path):
    spec = read_keras_nlp(str(write_preset(backbone, tmp_path / "preset"))).spec
    assert spec.tokenizer.vocabulary == SUBWORDS
    assert spec.tokenizer.steps == (("clean",), ("chinese",), ("accents",), ("lower",))
    spec = spec.architecture
    assert (spec.width, spec.num_layers, spec.num_heads, spec.max_positions) == (16, 2, 2, 64)
    assert (spec.hidden_dropout, spec.attention_dropout) == (0.2, 0.2)


def test_a_preset_with_capitals_keeps_accents(backbone, tmp_path):
    spec = read_keras_nlp(str(write_preset(backbone, tmp_path / "preset", lowercase=False))).spec
    assert spec.tokenizer.steps == (("clean",), ("chinese",))


@pytest.mark.parametrize("name", ["config.json", "model.weights.h5", "tokenizer.json"])
def test_a_missing_file_is_one_sentence(backbone, tmp_path, name):
    folder = write_preset(backbone, tmp_path / "preset")
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"cannot be loaded by keras_nlp: .*{name}"):
        read_keras_nlp(str(folder))


def test_no_network(monkeypatch):
    from keras_nlp.src.utils import preset_utils

    def fail(preset, path):
        raise OSError(f"no route to the host of {preset}\nand more")

    monkeypatch.setattr(preset_utils, "get_file", fail)
    message = "`pretrained=bert_base_en` cannot be loaded by keras_nlp: no route to the host of"
    with pytest.raises(InputError, match=message) as caught:
        read_keras_nlp("bert_base_en")
    assert "\n" not in str(caught.value)


def test_keras_nlp_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "keras_nlp", None)
    with pytest.raises(InputError, match="`pretrained=bert_base_en` needs the package keras-nlp"):
        read_keras_nlp("bert_base_en")
