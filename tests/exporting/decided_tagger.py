"""An untrained tagger whose samples and labels differ, for tests of exported answers."""

import tensorflow as tf

from tests.models.contract_setup import make_sentences, make_vocabulary, small
from uanet_tf.config import Config
from uanet_tf.models.build import make_tagger


def decided_tagger(**settings):
    """No two labels are equally probable, so that rounding decides none."""
    tf.keras.utils.set_random_seed(5)
    config = small(Config().replace(refiner_layers=1, **settings))
    model = make_tagger(config, make_vocabulary(make_sentences("IOB2"), "IOB2"))
    kernel = model.drafter.decoder.kernel
    kernel.assign(20.0 * kernel)
    return model
