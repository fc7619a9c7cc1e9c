"""From a configuration to a model."""

import dataclasses

from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError
from uanet_tf.models.tagger import Tagger
from uanet_tf.presets.bert_preset import read_bert_preset
from uanet_tf.registry import DECODERS, find


def tagger_class(config: Config) -> type[Tagger]:
    """The class of the settings' tagger: the plain one, unless the decoder is one itself."""
    found = find(DECODERS[config.decoder.decoder])
    return found if issubclass(found, Tagger) else Tagger


def make_tagger(config: Config, vocabulary: Vocabulary) -> Tagger:
    """The model of the settings, with initial weights; a BERT has its pretrained ones.

    A decoder is used by the plain Tagger, unless ``--decoder`` names a tagger of its own.

    Raises:
      InputError: the BERT that ``--bert_preset`` names cannot be read; or a part refuses what the
        others give it.
    """
    model = tagger_class(config)
    if config.representation.representation != "bert":
        return _made(model, config, vocabulary)
    preset = read_bert_preset(config.representation.bert_preset)
    tagger = _made(model, config, dataclasses.replace(vocabulary, bert=preset.spec))
    tagger.representation.bert.fill(preset.weights)
    return tagger


def _made(model: type[Tagger], config: Config, vocabulary: Vocabulary) -> Tagger:
    try:
        return model(config, vocabulary, name="tagger")
    except ValueError as error:
        # The parts' own checks begin with the argument's name. Anything else is a bug.
        if not str(error).startswith("`"):
            raise
        raise InputError(f"The settings do not fit together: {error}") from error
