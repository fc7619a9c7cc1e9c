"""From a configuration to a model."""

from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.models.registry import DECODERS
from uanet_tf.models.tagger import Tagger
from uanet_tf.models.uanet import UANet

# A decoder is used by the plain Tagger, unless the model does more than decode.
TAGGERS: dict[str, type[Tagger]] = {**dict.fromkeys(DECODERS, Tagger), "uanet": UANet}


def make_tagger(config: Config, vocabulary: Vocabulary) -> Tagger:
    """The model that ``--decoder`` names, with initial weights."""
    return TAGGERS[config.decoder.decoder](config, vocabulary, name="tagger")
