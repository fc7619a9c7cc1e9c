"""Every type that is read, against transformers: make_encoder_files.py made the archive."""

import dataclasses
import json
import shutil

import numpy as np
import pytest
import tensorflow as tf

from tests.layer_contract import check_layer
from tests.tiny_encoder import encoders_of_all_types
from uanet_tf.data.subword_lookup import SubwordLookup
from uanet_tf.errors import InputError
from uanet_tf.ops.dropout import make_seed
from uanet_tf.representation.transformer.encoder_types import TYPES
from uanet_tf.representation.transformer.pretrained_encoder import (
    read_hugging_face,
    read_pretrained,
)
from uanet_tf.representation.transformer.transformer_encoder import TransformerEncoder

LEGACY = {"bert": "vocab.txt", "xlm-roberta": "sentencepiece.bpe.model", "albert": "spiece.model"}


@pytest.fixture(scope="module")
def folders():
    return encoders_of_all_types()


def filled(preset, **changes):
    encoder = TransformerEncoder(dataclasses.replace(preset.spec.architecture, **changes))
    encoder.fill(preset.weights)
    return encoder


def rows_of(reference):
    mask = np.arange(reference["ids"].shape[1]) < reference["lengths"][:, None]
    return tf.constant(reference["ids"]), tf.constant(mask)


@pytest.mark.parametrize("kind", TYPES)
def test_states_and_ids_are_those_of_transformers(folders, kind):
    preset = read_hugging_face(folders / kind)
    reference = np.load(folders / kind / "reference.npz")
    ids, mask = rows_of(reference)
    states = filled(preset)(ids, mask)
    np.testing.assert_allclose(states, reference["states"][mask.numpy()], atol=1e-5)

    tokenizer = preset.spec.tokenizer
    assert [tokenizer.first, tokenizer.last] == reference["row"][[0, -1]].tolist()
    assert_ids(tokenizer, folders, reference)


def assert_ids(tokenizer, folders, reference):
    words = [word for text in json.loads((folders / "texts.json").read_text()) for word in text]
    found = SubwordLookup(tokenizer, max_subwords=99)(tf.constant(words)).numpy() - 1
    ends = np.cumsum(reference["word_sizes"])
    expected = np.split(reference["word_ids"], ends[:-1])
    wrong = [
        (word, row[row >= 0].tolist(), ids.tolist())
        for word, row, ids in zip(words, found, expected, strict=True)
        # Where theirs has none, ours has an unknown one.
        if row[row >= 0].tolist() != (ids.tolist() or [tokenizer.unknown])
    ]
    assert len(words) > 800
    assert not wrong, wrong[:9]


@pytest.mark.parametrize("kind", [*LEGACY, "roberta"])
def test_files_of_vocabularies_are_read_as_tokenizer_json_is(folders, tmp_path, kind):
    folder = shutil.copytree(folders / kind, tmp_path / kind)
    (folder / "tokenizer.json").unlink()
    for path in folder.glob("legacy-*"):
        path.rename(folder / path.name.removeprefix("legacy-"))
    tokenizer = read_hugging_face(folder).spec.tokenizer
    assert_ids(tokenizer, folders, np.load(folder / "reference.npz"))


def test_a_model_of_sentencepiece_alone(folders, tmp_path):
    """DeBERTa's: its own map of characters then holds, as in the first version of the type."""
    folder = shutil.copytree(folders / "deberta-v2", tmp_path / "deberta")
    (folder / "tokenizer.json").unlink()
    (folder / "legacy-spm.model").rename(folder / "spm.model")
    tokenizer = read_hugging_face(folder).spec.tokenizer
    lookup = SubwordLookup(tokenizer)
    ids = lookup(tf.constant(["ﬁ", "fi", "Ａ", "A"])).numpy()
    np.testing.assert_array_equal(ids[[0, 2]], ids[[1, 3]])
    (folder / "spm.model").write_bytes((folder / "spm.model").read_bytes()[:-9])
    with pytest.raises(InputError, match=r"spm.model cannot be read: it is .*cut off\.$"):
        read_hugging_face(folder)


@pytest.mark.process
@pytest.mark.parametrize("kind", ["albert", "deberta-v2", "modernbert"])
def test_contract(folders, kind):
    """Gradients, padding, reloading: of the architectures unlike BERT's."""
    preset = read_hugging_face(folders / kind)

    def make(rate):
        rates = {"hidden_dropout": rate, "attention_dropout": rate}
        own = dataclasses.replace(preset.spec.architecture, **rates)
        return lambda **kwargs: TransformerEncoder(own, **kwargs)

    def padded(layer, inputs, seed):
        states = layer(inputs["ids"], inputs["mask"], dropout_seed=seed)
        shape = tf.concat([tf.shape(inputs["mask"], tf.int64), [16]], axis=0)
        return tf.scatter_nd(tf.where(inputs["mask"]), states, shape)

    rng = np.random.default_rng(1)
    mask = np.arange(5) < np.array([5, 3, 1])[:, None]
    ids = rng.integers(0, 20, mask.shape).astype(np.int32)
    check_layer(
        make(0.3),
        lambda: {"ids": ids, "mask": mask},
        call=padded,
        make_layer_without_dropout=make(0.0),
        skip=["keras_file"],  # `tf.where` above does not come back; every tagger's file does
    )


@pytest.mark.parametrize("kind", TYPES)
def test_frozen_layers_get_no_gradient(folders, kind):
    preset = read_hugging_face(folders / kind)
    if kind == "albert":
        with pytest.raises(InputError, match="more than the 2 layers that share weights"):
            TransformerEncoder(preset.spec.architecture, freeze_layers=1)
        return
    encoder = TransformerEncoder(preset.spec.architecture, freeze_layers=1)
    encoder.fill(preset.weights)
    ids, mask = rows_of(np.load(folders / kind / "reference.npz"))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(encoder(ids, mask, dropout_seed=make_seed(1)) ** 2)
    names = [weight.name for weight in encoder.trainable_weights]
    slopes = tape.gradient(loss, encoder.trainable_weights)
    assert names
    assert not any("layer_0" in name or "embeddings" in name for name in names)
    assert all(np.isfinite(slope).all() for slope in slopes)
    with pytest.raises(InputError, match=r"`freeze_layers=9` is more than the \d layers of the"):
        TransformerEncoder(preset.spec.architecture, freeze_layers=9)


def write_keras_nlp(folder, backbone, files):
    """A preset as keras_nlp writes it; under Keras 2 it refuses to."""
    (folder / "assets" / "tokenizer").mkdir(parents=True)
    for name, path in files.items():
        shutil.copy(path, folder / "assets" / "tokenizer" / name)
    saved = tf.keras.saving.serialize_keras_object(backbone)
    saved.pop("build_config", None)
    (folder / "config.json").write_text(json.dumps(saved))
    kind = type(backbone).__name__.replace("Backbone", "Tokenizer")
    tokenizer = {"module": "keras_nlp", "class_name": kind, "config": {"name": "tokenizer"}}
    text = json.dumps({**tokenizer, "registered_name": f"keras_nlp>{kind}"})
    (folder / "tokenizer.json").write_text(text)
    (folder / "metadata.json").write_text("{}")
    backbone.save_weights(str(folder / "model.weights.h5"))
    return folder


OF_KERAS_NLP = {
    "DistilBert": ("bert", {"vocabulary.txt": "vocab.txt"}, {}),
    "Roberta": ("roberta", {"vocabulary.json": "vocab.json", "merges.txt": "merges.txt"}, {}),
    "XLMRoberta": ("xlm-roberta", {"vocabulary.spm": "sentencepiece.bpe.model"}, {}),
    "Electra": ("bert", {"vocabulary.txt": "vocab.txt"}, {"embedding_dim": 12}),
    "Albert": (
        "albert",
        {"vocabulary.spm": "spiece.model"},
        {"embedding_dim": 12, "num_groups": 2, "num_layers": 4},
    ),
    "DebertaV3": ("deberta-v2", {"vocabulary.spm": "spm.model"}, {"bucket_size": 8}),
}


@pytest.mark.process
@pytest.mark.parametrize("name", OF_KERAS_NLP)
def test_presets_of_keras_nlp(folders, tmp_path, name):
    keras_nlp = pytest.importorskip("keras_nlp")
    kind, files, more = OF_KERAS_NLP[name]
    sizes = {"num_layers": 2, "num_heads": 2, "hidden_dim": 16, "intermediate_dim": 24, **more}
    rows = 450 if kind == "bert" else 500
    sizes["vocab_size" if name == "Electra" else "vocabulary_size"] = rows
    backbone = getattr(keras_nlp.models, f"{name}Backbone")(**sizes, max_sequence_length=48)
    rng = np.random.default_rng(1)
    backbone.set_weights([w + 0.3 * rng.standard_normal(w.shape) for w in backbone.get_weights()])
    paths = {mine: folders / kind / f"legacy-{theirs}" for mine, theirs in files.items()}
    preset = read_pretrained(str(write_keras_nlp(tmp_path / "preset", backbone, paths)))
    ids = rng.integers(5, 300, [2, 30]).astype(np.int32)
    mask = np.arange(30) < np.array([[30], [7]])
    inputs = {"token_ids": ids, "padding_mask": mask.astype(np.int32)}
    if "segment_ids" in backbone.input:
        inputs["segment_ids"] = np.zeros_like(ids)
    expected = backbone(inputs)
    if isinstance(expected, dict):
        expected = expected["sequence_output"]
    states = filled(preset)(tf.constant(ids), tf.constant(mask))
    np.testing.assert_allclose(states, expected.numpy()[mask], atol=2e-5)
    assert SubwordLookup(preset.spec.tokenizer)(tf.constant(["London"])).numpy().min() > 0


CHANGES = [
    ("deberta-v2", {"pos_att_type": "c2p"}, "pos_att_type in config.json is not c2p|p2c"),
    ("deberta-v2", {"share_att_key": False}, "share_att_key=False in config.json is not supp"),
    ("deberta-v2", {"conv_kernel_size": 3}, "conv_kernel_size=3 in config.json is not supported"),
    ("deberta-v2", {"max_relative_positions": 7}, "max_relative_positions in config.json is not"),
    ("modernbert", {"norm_bias": True}, "norm_bias, attention_bias, mlp_bias .* not all the same"),
    ("modernbert", {"rope_parameters": 3}, "config.json is not of such a model"),
    ("modernbert", {"layer_types": ["sliding_attention"] * 4}, "layer_types in config.json are in"),
    ("roberta", {"pad_token_id": None}, "config.json is not of such a model"),
    ("albert", {"num_hidden_groups": 9}, "4 layers do not make 9 groups"),
    ("electra", {"embedding_size": "x"}, "embedding_width must be from 0 to 65536. Received: 'x'"),
]


@pytest.mark.parametrize(("kind", "changes", "message"), CHANGES)
def test_what_is_not_supported_is_said(folders, tmp_path, kind, changes, message):
    folder = shutil.copytree(folders / kind, tmp_path / kind)
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    with pytest.raises(InputError, match=message) as told:
        read_hugging_face(folder)
    assert str(told.value).startswith(f"{folder}: ")


def of_tokenizer(**changes):
    return lambda saved: {**saved, **changes}


def of_model(**changes):
    return lambda saved: {**saved, "model": {**saved["model"], **changes}}


TOKENIZERS = [
    ("bert", of_model(type="WordLevel"), "has a model of type 'WordLevel', which is not read"),
    ("roberta", of_model(byte_fallback=True), "has byte_fallback of its model, which is not read"),
    ("roberta", of_model(vocab={"a": "b"}), "the vocabulary has no numbers"),
    ("roberta", of_tokenizer(pre_tokenizer=None), "has the pre_tokenizer '', which is not read"),
    ("albert", of_tokenizer(normalizer={"type": "Nmt"}), "has the normalizer 'Nmt', which is not"),
    ("albert", of_tokenizer(normalizer=3), "tokenizer.json cannot be read: "),
    ("albert", of_model(vocab=[[1]]), "tokenizer.json cannot be read: "),
    ("modernbert", lambda saved: [], "tokenizer.json cannot be read: it holds no JSON object"),
]


@pytest.mark.parametrize(("kind", "change", "message"), TOKENIZERS)
def test_other_tokenizers_are_refused(folders, tmp_path, kind, change, message):
    folder = shutil.copytree(folders / kind, tmp_path / kind)
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(InputError, match=message) as told:
        read_hugging_face(folder)
    assert str(told.value).startswith(f"{folder}: ")
