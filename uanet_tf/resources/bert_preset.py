"""Loads a pretrained BERT of one of the three kinds that ``--bert_preset`` accepts."""

import pathlib

from uanet_tf.data.bert_spec import BertPreset
from uanet_tf.errors import InputError
from uanet_tf.resources.hugging_face import read_hugging_face
from uanet_tf.resources.keras_nlp_preset import read_keras_nlp

# Tables have some rows more than sub-words, for their number to be a multiple of 64 or 128.
LEAST_SHARE = 0.95


def read_bert_preset(preset: str) -> BertPreset:
    """Reads a pretrained BERT.

    Args:
      preset: a Hugging Face directory (config.json, vocab.txt, model.safetensors), a keras_nlp
        preset directory, or the name of a keras_nlp preset.

    Raises:
      InputError: there is none, it cannot be read, or its vocabulary is cut off.
    """
    found = _read(preset)
    words, rows = len(found.spec.vocabulary), found.spec.vocabulary_size
    if words < LEAST_SHARE * rows:
        raise InputError(
            f"--bert_preset={preset}: its vocabulary has {words:,} sub-words, but its embedding "
            f"table {rows:,} rows: the file of the vocabulary is probably cut off."
        )
    return found


def _read(preset: str) -> BertPreset:
    folder = pathlib.Path(preset).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").exists():
            raise InputError(f"--bert_preset={preset} holds no BERT: it has no config.json.")
        # Both kinds have a config.json; only keras_nlp presets have this file, and all of them do.
        if (folder / "metadata.json").exists():
            return read_keras_nlp(str(folder))
        return read_hugging_face(folder)
    # A name has no slash; a Kaggle handle begins with its scheme.
    named = "/" not in preset or "://" in preset
    if folder.exists() or preset.startswith((".", "~")) or not named:
        raise InputError(f"--bert_preset={preset} is not a directory.")
    return read_keras_nlp(preset)
