"""A BERT from keras_nlp: one of its presets by name, or a preset's directory."""

import pathlib
from typing import Any

import numpy as np

from uanet_tf.data.bert_spec import BertPreset, BertSpec
from uanet_tf.errors import InputError, one_line
from uanet_tf.presets.keras_nlp_files import preset_file, read_backbone, read_tokenizer, read_words
from uanet_tf.weight_file import at_most, check_weight_file

Weights = dict[str, np.ndarray]


def read_keras_nlp(preset: str) -> BertPreset:
    """Loads a preset; one by name is downloaded once and kept by keras_nlp.

    Args:
      preset: a name such as ``bert_base_en``, a ``kaggle://`` handle, or a directory with
        config.json, model.weights.h5, tokenizer.json, metadata.json and
        assets/tokenizer/vocabulary.txt.

    Raises:
      InputError: there is no such preset, it cannot be downloaded, or it is not of a BERT.
    """
    try:
        import keras_nlp
    except ImportError as error:
        raise InputError(
            f"--bert_preset={preset} needs the package keras-nlp, which cannot be imported "
            f"({error})."
        ) from None
    models = keras_nlp.models
    handle = "://" in preset or pathlib.Path(preset).is_dir()
    if not handle and preset not in models.BertBackbone.presets:
        raise InputError(
            f"--bert_preset={preset} is neither a directory nor the name of a BERT of keras_nlp, "
            "such as bert_base_en."
        )
    try:
        backbone, tokenizer = _load(preset, models)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, ImportError) as error:
        raise InputError(
            f"--bert_preset={preset} cannot be loaded by keras_nlp: {one_line(error)}"
        ) from error
    return convert(backbone, tokenizer, preset)


def _load(preset: str, models: Any) -> tuple[Any, Any]:
    """The backbone with its weights, and the tokenizer.

    Not by ``from_preset``, which makes whatever the configuration names: the files are read here,
    and their plain numbers are passed to the two classes.
    """
    sizes = read_backbone(preset_file(preset, "config.json"))
    options = read_tokenizer(preset_file(preset, "tokenizer.json"))
    words = read_words(preset_file(preset, "assets/tokenizer/vocabulary.txt"))
    weights = preset_file(preset, "model.weights.h5")
    with at_most(check_weight_file(weights)):
        backbone = models.BertBackbone(**sizes)
        backbone.load_weights(weights)
    return backbone, models.BertTokenizer(vocabulary=words, **options)


def convert(backbone: Any, tokenizer: Any, name: str = "BERT") -> BertPreset:
    """The preset that a keras_nlp ``BertBackbone`` and ``BertTokenizer`` make up.

    Args:
      backbone: with its weights.
      tokenizer: with its vocabulary.
      name: for messages.

    Raises:
      InputError: the parts do not fit together.
    """
    try:
        spec = BertSpec(
            vocabulary=tuple(tokenizer.get_vocabulary()),
            lowercase=bool(tokenizer.lowercase),
            # Its presets are Google's BERTs. Those without capitals were trained without
            # accents too, although the presets' tokenizers keep them.
            strip_accents=bool(tokenizer.lowercase or tokenizer.strip_accents),
            split_chinese=True,
            vocabulary_size=backbone.vocabulary_size,
            width=backbone.hidden_dim,
            num_layers=backbone.num_layers,
            num_heads=backbone.num_heads,
            feedforward_width=backbone.intermediate_dim,
            max_positions=backbone.max_sequence_length,
            # The activation of BertBackbone, and that of Google's code.
            activation="gelu_tanh",
            hidden_dropout=float(backbone.dropout),
            attention_dropout=float(backbone.dropout),
        )
        return BertPreset(spec, _weights(backbone))
    except InputError as error:
        raise InputError(f"{name}: {error}.") from error


def _weights(backbone: Any) -> Weights:
    weights = {
        "token_embeddings": backbone.token_embedding.embeddings.numpy(),
        "position_embeddings": backbone.position_embedding.position_embeddings.numpy(),
        # All text is of the first segment.
        "segment_embedding": backbone.segment_embedding.embeddings.numpy()[0],
        "norm_scale": backbone.embeddings_layer_norm.gamma.numpy(),
        "norm_offset": backbone.embeddings_layer_norm.beta.numpy(),
    }
    for number, layer in enumerate(backbone.transformer_layers):
        weights |= {f"layer_{number}/{key}": value for key, value in _layer_weights(layer).items()}
    return weights


def _layer_weights(layer: Any) -> Weights:
    """The weights of one ``TransformerEncoder``; its attention keeps heads as an axis."""
    attention = layer._self_attention_layer
    dense = (attention._query_dense, attention._key_dense, attention._value_dense)
    width = dense[0].kernel.shape[0]
    kernels = [part.kernel.numpy().reshape(width, -1) for part in dense]
    first_norm, last_norm = layer._self_attention_layer_norm, layer._feedforward_layer_norm
    return {
        "attention_kernel": np.concatenate(kernels, axis=1),
        "attention_bias": np.concatenate([part.bias.numpy().reshape(-1) for part in dense]),
        "output_kernel": attention._output_dense.kernel.numpy().reshape(-1, width),
        "output_bias": attention._output_dense.bias.numpy(),
        "attention_norm_scale": first_norm.gamma.numpy(),
        "attention_norm_offset": first_norm.beta.numpy(),
        "inner_kernel": layer._feedforward_intermediate_dense.kernel.numpy(),
        "inner_bias": layer._feedforward_intermediate_dense.bias.numpy(),
        "outer_kernel": layer._feedforward_output_dense.kernel.numpy(),
        "outer_bias": layer._feedforward_output_dense.bias.numpy(),
        "norm_scale": last_norm.gamma.numpy(),
        "norm_offset": last_norm.beta.numpy(),
    }
