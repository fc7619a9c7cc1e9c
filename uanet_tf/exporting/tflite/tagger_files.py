"""The files behind a TensorFlow Lite graph that turn strings into ids and ids into labels."""

import dataclasses
import json
import pathlib
import tempfile
from typing import Any

from uanet_lite.model_file import FORMAT, SETTINGS, WORDS
from uanet_lite.token_ids import FIRST_ID, PADDING_ID, UNKNOWN_ID
from uanet_tf.exporting.vocabulary_files import write_vocabulary_files
from uanet_tf.models.tagger import Tagger


def tagger_files(model: Tagger, precision: str) -> dict[str, bytes]:
    """The files that a ``uanet_lite.Tagger`` of the model needs, {name: content}.

    ``settings.json`` defines how tokens become ids and what the labels mean, ``labels.txt`` holds
    label k in line k, ``words.txt`` and ``chars.txt`` the symbol of id k + 2 in line k (from 0),
    see ``write_vocabulary_files``. If a line cannot hold some word, the settings hold all words.
    """
    with tempfile.TemporaryDirectory(prefix="uanet_tf_") as folder:
        paths = write_vocabulary_files(model, pathlib.Path(folder))
        files = {path.name: path.read_bytes() for path in paths}
    settings = _settings(model, precision)
    if WORDS not in files:
        settings["words"] = list(model.vocabulary.words)
    text = json.dumps(settings, ensure_ascii=False, indent=1)
    return {SETTINGS: text.encode() + b"\n", **files}


def _settings(model: Tagger, precision: str) -> dict[str, Any]:
    data, parts = model.settings.data, model.settings
    return {
        "format": FORMAT,
        "precision": precision,
        "representation": parts.representation.representation,
        "encoder": parts.encoder.encoder,
        "decoder": parts.decoder.decoder,
        **dataclasses.asdict(model.options),
        "threshold": model.threshold,
        "label_scheme": model.label_scheme,
        "max_tokens": model.max_tokens,
        "token_column": data.token_column,
        "tokenizer": model.tokenizer.to_dict(),
        "normalize_digits": data.normalize_digits,
        "lowercase_words": data.lowercase_words,
        "max_chars": data.max_chars,
        "padding_id": PADDING_ID,
        "unknown_id": UNKNOWN_ID,
        "first_id": FIRST_ID,
    }
