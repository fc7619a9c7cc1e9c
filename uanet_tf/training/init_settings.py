"""``--init``: a run that goes on from a model has the model's settings, but for those named."""

import pathlib
from collections.abc import Collection

from uanet_tf.config import Config, iter_options, load_config
from uanet_tf.errors import InputError
from uanet_tf.resources.shipped import find_run, shipped_models
from uanet_tf.training.run_directory import FOUND_SETTINGS, FREE_SETTINGS

# Of the files and of the run itself: never the model's.
_OF_THE_RUN = (
    *("train_path", "dev_path", "test_path", "distill_path", "task", "data_format"),
    *("token_column", "label_column", "label_names", "overlaps", "skip_blank_tokens"),
    *("accept_suggested", "init", "keep_types", *FREE_SETTINGS),
)
# What the weights are made for: all settings of the parts, but rates of dropout and these.
_OF_PARTS = ("representation", "encoder", "decoder")
_NOT_OF_WEIGHTS = ("score_iterates", "beam_width", "decoder_optimizers")
_OF_WORDS = ("word_vectors", "vector_limit", "normalize_digits", "lowercase_words")


def init_config(
    config: Config, named: Collection[str], run_dir: str | None = None, model: Config | None = None
) -> Config:
    """The settings of the model that ``--init`` names, with those of the run and those named.

    A run that was begun so has them from its own ``config.json``: the model may be gone since.

    Args:
      config: as given, the others at their defaults.
      named: names of the settings that the command line, a flagfile or a recipe names.
      run_dir: directory of the run; None: it has none.
      model: settings of the model, where it is no run that can be read.

    Raises:
      InputError: there is no such model, or a setting is named that its weights are not made for.
    """
    init = config.training.init
    model = _begun(run_dir, init) or model or _settings_of(init)
    own = {field.name: value for _, field, value in iter_options(config)}
    kept = {name: own[name] for name in _OF_THE_RUN}
    for group, field, value in iter_options(model):
        name = field.name
        if name not in named or (own[name] == "auto" and name in FOUND_SETTINGS):
            continue
        of_weights = group in _OF_PARTS and not isinstance(field.default, float)
        of_weights = (of_weights and name not in _NOT_OF_WEIGHTS) or name in _OF_WORDS
        if of_weights and own[name] != value:
            raise InputError(
                f"`{name}={own[name]}` does not go with `init={init}`, whose weights are made for "
                f"`{name}={value}`: leave it out."
            )
        kept[name] = own[name]
    return model.replace(**kept)


def _begun(run_dir: str | None, init: str) -> Config | None:
    """The settings of a run that was begun from ``init``; None: there is none."""
    if not (run_dir and (pathlib.Path(run_dir) / "config.json").is_file()):
        return None
    config = load_config(run_dir)
    return config if config.training.init == init else None


def _settings_of(init: str) -> Config:
    path = find_run(init)
    if not (path / "config.json").is_file():
        raise InputError(
            f"`init={init}` is no run, and no model of the package: it has "
            f"{', '.join(shipped_models())}."
        )
    return load_config(str(path))
