import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tests.tiny_encoder import SUBWORDS, write_tiny_encoder
from uanet_tf.errors import InputError
from uanet_tf.representation.transformer.pretrained_encoder import read_hugging_face


def rewrite_weights(folder, change):
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path)


def rewrite_config(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.fixture
def folder(tmp_path):
    return write_tiny_encoder(tmp_path / "bert")


def test_reads_what_the_configuration_says(tmp_path):
    folder = write_tiny_encoder(
        tmp_path / "bert", hidden_dropout_prob=0.3, layer_norm_eps=1e-6, hidden_act="gelu_new"
    )
    spec = read_hugging_face(folder).spec
    assert spec.tokenizer.vocabulary == SUBWORDS
    spec = spec.architecture
    assert (spec.vocabulary_size, spec.width, spec.num_layers) == (len(SUBWORDS), 16, 2)
    assert (spec.num_heads, spec.feedforward_width, spec.max_positions) == (2, 24, 64)
    assert (spec.hidden_dropout, spec.attention_dropout) == (0.3, 0.1)
    assert (spec.activation, spec.epsilon) == ("gelu_tanh", 1e-6)


def test_every_weight_finds_its_place(folder):
    """Kernels are transposed; queries, keys and values stand side by side."""
    there = load_file(folder / "model.safetensors")
    here = read_hugging_face(folder).weights
    layer = "encoder.layer.1."
    np.testing.assert_array_equal(
        here["layer_1/inner_kernel"], there[f"{layer}intermediate.dense.weight"].T
    )
    np.testing.assert_array_equal(
        here["layer_1/attention_kernel"][:, 16:32], there[f"{layer}attention.self.key.weight"].T
    )
    np.testing.assert_array_equal(
        here["layer_1/attention_bias"][32:], there[f"{layer}attention.self.value.bias"]
    )
    # Of all weights but the pooler's and the segments', each number is used once.
    left_out = ("pooler", "token_type")
    used = [w.size for name, w in there.items() if not any(part in name for part in left_out)]
    assert sum(weight.size for weight in here.values()) == sum(used)
    positions = there["embeddings.position_embeddings.weight"]
    segment = there["embeddings.token_type_embeddings.weight"][0]
    np.testing.assert_array_equal(here["embeddings/position_embeddings"], positions + segment)


@pytest.mark.parametrize("prefix", ["bert.", ""])
def test_models_with_and_without_a_head(tmp_path, folder, prefix):
    other = write_tiny_encoder(tmp_path / "other", prefix=prefix)
    rewrite_weights(other, lambda w: {**w, "cls.predictions.bias": np.ones(3, np.float32)})
    assert_same_weights(read_hugging_face(other), read_hugging_face(folder))


def test_old_names_of_normalisations(tmp_path, folder):
    def old(name):
        name = name.replace("LayerNorm.weight", "LayerNorm.gamma")
        return name.replace("LayerNorm.bias", "LayerNorm.beta")

    other = write_tiny_encoder(tmp_path / "other")
    rewrite_weights(other, lambda weights: {old(name): value for name, value in weights.items()})
    assert_same_weights(read_hugging_face(other), read_hugging_face(folder))


def test_half_precision(tmp_path, folder):
    other = write_tiny_encoder(tmp_path / "other")
    rewrite_weights(other, lambda weights: {n: w.astype(np.float16) for n, w in weights.items()})
    assert_same_weights(read_hugging_face(other), read_hugging_face(folder), tolerance=2e-3)


def test_bfloat16(folder):
    """NumPy has none: its bits are the upper half of a float32's."""
    header, data = {}, b""
    for name, value in load_file(folder / "model.safetensors").items():
        part = (np.ascontiguousarray(value).view(np.uint32) >> 16).astype("<u2").tobytes()
        offsets = [len(data), len(data) + len(part)]
        header[name] = {"dtype": "BF16", "shape": list(value.shape), "data_offsets": offsets}
        data += part
    expected = read_hugging_face(folder)
    text = json.dumps(header).encode()
    path = folder / "model.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    assert_same_weights(read_hugging_face(folder), expected, tolerance=1e-2)


def assert_same_weights(actual, expected, tolerance=0.0):
    assert set(actual.weights) == set(expected.weights)
    for name, weight in expected.weights.items():
        assert actual.weights[name].dtype == np.float32
        np.testing.assert_allclose(actual.weights[name], weight, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("tokenizer", "lowercase", "strip_accents", "split_chinese"),
    [
        (None, True, True, True),
        ({}, True, True, True),
        ({"do_lower_case": True, "strip_accents": None}, True, True, True),
        ({"do_lower_case": True, "strip_accents": False}, True, False, True),
        ({"do_lower_case": False}, False, False, True),
        ({"do_lower_case": False, "strip_accents": True}, False, True, True),
        ({"tokenize_chinese_chars": False}, True, True, False),
    ],
)
def test_options_of_the_tokenizer(tmp_path, tokenizer, lowercase, strip_accents, split_chinese):
    spec = read_hugging_face(write_tiny_encoder(tmp_path / "bert", tokenizer=tokenizer)).spec
    done = {"lower": lowercase, "accents": strip_accents, "chinese": split_chinese}
    assert {name: (name,) in spec.tokenizer.steps for name in done} == done


def test_a_vocabulary_with_capitals_is_read_with_capitals(tmp_path):
    folder = write_tiny_encoder(tmp_path / "bert", vocabulary=[*SUBWORDS, "Oslo"])
    assert read_hugging_face(folder).spec.tokenizer.steps == (("clean",), ("chinese",))


def test_the_vocabulary_is_split_at_line_feeds_alone(tmp_path):
    odd = [*SUBWORDS, "\x85", "\u2028", "é"]
    assert read_hugging_face(
        write_tiny_encoder(tmp_path / "bert", vocabulary=odd)
    ).spec.tokenizer.vocabulary == (*odd,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"model_type": "gpt2"},
            "config.json is of a model of type 'gpt2'; read are bert, distilbert, roberta, "
            "xlm-roberta, camembert, electra, albert, deberta-v2, modernbert",
        ),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type='relative_key'"),
        ({"hidden_act": "silu"}, "hidden_act='silu' in config.json is not supported"),
        ({"hidden_size": "wide"}, "config.json is not of a pretrained encoder: .*wide"),
        ({"num_attention_heads": 3}, "the width 16 is not a multiple of its 3 attention heads"),
        ({"vocab_size": 20}, r"the vocabulary has \d+ sub-words, but the embedding table 20 rows"),
        ({"intermediate_size": 25}, r"inner_kernel has the shape \(16, 24\), but .* \(16, 25\)"),
        ({"num_hidden_layers": 3}, "model.safetensors lacks encoder.layer.2.attention.self.query"),
        ({"max_position_embeddings": 2}, "no room for words in 2 positions"),
    ],
)
def test_what_does_not_fit_is_said(folder, changes, message):
    rewrite_config(folder, **changes)
    with pytest.raises(InputError, match=message) as caught:
        read_hugging_face(folder)
    assert str(caught.value).startswith(f"{folder}: ")


@pytest.mark.parametrize("name", ["config.json", "vocab.txt", "model.safetensors"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(InputError, match=name):
        read_hugging_face(folder)


def test_a_tokenizer_without_vocab_txt(folder):
    (folder / "vocab.txt").unlink()
    with pytest.raises(InputError) as told:
        read_hugging_face(folder)
    assert str(told.value) == (
        f"{folder}: there is no vocab.txt or tokenizer.json; `save_pretrained` of its tokenizer in "
        "the package transformers writes it."
    )


@pytest.mark.parametrize(
    "name", ["config.json", "vocab.txt", "model.safetensors", "tokenizer_config.json"]
)
def test_a_damaged_file_is_named(folder, name):
    (folder / name).write_bytes(b"\xff\xfe damaged")
    with pytest.raises(InputError, match=name):
        read_hugging_face(folder)


def test_a_key_is_missing(folder):
    path = folder / "config.json"
    config = json.loads(path.read_text())
    del config["hidden_size"]
    path.write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"config\.json lacks 'hidden_size'"):
        read_hugging_face(folder)


def test_the_special_words_are_missed(tmp_path):
    words = [word for word in SUBWORDS if word not in ("[UNK]", "[SEP]")]
    folder = write_tiny_encoder(tmp_path / "bert", vocabulary=words)
    with pytest.raises(InputError, match=r"the vocabulary lacks \[SEP\], \[UNK\]\."):
        read_hugging_face(folder)


def test_weights_that_are_not_numbers(folder):
    def spoil(weights):
        weights["embeddings.LayerNorm.bias"][3] = np.nan
        return weights

    rewrite_weights(folder, spoil)
    with pytest.raises(InputError, match="the weight for embeddings/norm_offset is not finite"):
        read_hugging_face(folder)
