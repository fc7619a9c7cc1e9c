"""Writes a preset as keras_nlp does."""

import json

import tensorflow as tf

from tests.tiny_encoder import SUBWORDS


def write_preset(backbone, folder, *, lowercase=True):
    """What keras_nlp's ``save_to_preset`` writes; it refuses to under Keras 2."""
    import keras_nlp

    tokenizer = keras_nlp.models.BertTokenizer(vocabulary=list(SUBWORDS), lowercase=lowercase)
    assets = folder / "assets" / "tokenizer"
    assets.mkdir(parents=True)
    tokenizer.save_assets(str(assets))
    for layer, name in ((backbone, "config.json"), (tokenizer, "tokenizer.json")):
        config = tf.keras.saving.serialize_keras_object(layer)
        config.pop("build_config", None)
        if name == "tokenizer.json":
            config["config"]["vocabulary"] = None
        (folder / name).write_text(json.dumps(config))
    (folder / "metadata.json").write_text(json.dumps({"keras_version": "2.15.0"}))
    backbone.save_weights(str(folder / "model.weights.h5"))
    return folder
