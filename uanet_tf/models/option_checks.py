"""What a tagger can be asked for, and what its own calibration still holds for."""

from collections.abc import Mapping
from typing import Any

from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.inference_options import InferenceOptions
from uanet_tf.models.drafter import Drafter

# Options that change the confidence.
_OF_CONFIDENCE = ("num_samples", "mc_seed", "sampling", "threshold", "uncertainty", "valid_labels")


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


def broken_promise(model: Any, options: Mapping[str, Any]) -> str | None:
    """What to tell where a target precision was found with other options; None: nothing.

    Args:
      model: loaded with the options.
      options: those that were given.
    """
    target = model.acceptance.target_precision if model.calibrated else 0.0
    own = model.settings.inference
    changed = [
        f"--{name}={options[name]}"
        for name in _OF_CONFIDENCE
        if name in options and options[name] != getattr(own, name)
    ]
    if not (target and changed):
        return None
    return (
        f"The run's target precision of {target:g} was found with its own options, not with "
        f"{', '.join(changed)}: what is accepted may fall short of it."
    )
