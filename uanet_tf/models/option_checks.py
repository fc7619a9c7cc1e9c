"""The ways of sampling that a tagger supports."""

from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.inference_options import InferenceOptions
from uanet_tf.models.drafter import Drafter


def check_sampling(options: InferenceOptions, drafter: Drafter, config: Config) -> None:
    """Raises InputError where the drafter's parts cannot be sampled as ``options`` want."""
    parts = f"--encoder={config.encoder.encoder}, --decoder={config.decoder.decoder}"
    if options.sampling == "distilled" and drafter.distilled is None:
        raise InputError(
            "`sampling` can be distilled where a softmax drafts from samples of an encoder with "
            f"tied dropout masks. Received: sampling='distilled' for {parts}"
        )


def check_trained(options: InferenceOptions, drafter: Drafter) -> None:
    """Raises InputError where ``options`` need a head that was not trained."""
    head = drafter.distilled
    if options.sampling == "distilled" and not (head and head.was_trained.numpy()):
        raise InputError(
            "`sampling` can be distilled where a head was trained: train with --distill_samples "
            "above 0. Received: sampling='distilled'"
        )
