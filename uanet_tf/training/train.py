"""Training from Python."""

import os
from typing import Any

from uanet_tf.config import Config, iter_options, recipe_settings
from uanet_tf.errors import InputError
from uanet_tf.models.loading import load_model
from uanet_tf.models.tagger import Tagger
from uanet_tf.option import near_names
from uanet_tf.training.fit import fit

_FILES = ("train", "dev", "test")


def train(
    run_dir: str | os.PathLike[str],
    *,
    train: str | os.PathLike[str],
    dev: str | os.PathLike[str],
    test: str | os.PathLike[str] = "",
    recipe: str | None = "fast",
    **settings: Any,
) -> Tagger:
    """Trains a tagger and returns it; a stopped run continues, a complete one is loaded.

    Args:
      run_dir: directory of the run, as ``uanet train`` writes it: model, metrics, checkpoints.
      train: labelled file to train on.
      dev: labelled file by which the best epoch is chosen.
      test: labelled file that is scored once, if given; scores are in ``run_dir/metrics.json``.
      recipe: settings by name, see ``uanet recipes``; several are separated by commas, and a
        later one wins; None: the defaults, which differ from the paper's (recipe "uanet") in
        ``label_input`` only.
      **settings: by name, such as ``epochs=3``; they win over the recipe. ``uanet train
        --helpfull`` explains each.

    Raises:
      InputError: a file, a setting or the run directory is not usable.

    Example:
      >>> model = uanet_tf.train("runs/mine", train="train.conll", dev="dev.conll", epochs=3)
    """
    values: dict[str, Any] = {}
    for name in (recipe or "").split(","):
        values |= recipe_settings(name) if name else {}
    for name in settings:
        _check_name(name)
    paths = zip(_FILES, (train, dev, test), strict=True)
    files = {f"{name}_path": os.fspath(path) for name, path in paths}
    config = Config().replace(**{**values, **settings, **files})
    fit(config, run_dir, given={*settings, *files})
    return load_model(run_dir)


def _check_name(name: str) -> None:
    known = [field.name for _, field, _ in iter_options(Config())]
    if name not in known:
        near = near_names(name, known)
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        raise InputError(f"There is no setting named {name!r}.{hint}")
