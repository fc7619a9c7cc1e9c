"""``uanet_tf.train``: training in Python, and what it gives."""

import dataclasses
import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

from uanet_lite.argument_checks import check_path
from uanet_lite.columns_file import format_columns
from uanet_lite.sentence import Sentence
from uanet_tf.config import Config, check_recipe, iter_options, recipe_path, recipe_settings
from uanet_tf.errors import InputError
from uanet_tf.formats.labelled_data import LabelledData, labelled_sentences
from uanet_tf.formats.table import Reading
from uanet_tf.metrics.run_metrics import MEASURES, fractions_of, read_run_metrics
from uanet_tf.models.loading import load_model
from uanet_tf.models.tagger import Tagger
from uanet_tf.option import near_names
from uanet_tf.training.fit import fit
from uanet_tf.training.init_settings import init_config
from uanet_tf.training.run_directory import RunDirectory


@dataclasses.dataclass(frozen=True, repr=False)
class TrainedRun:
    """What ``uanet_tf.train`` gives.

    Attributes:
      model: the trained model, of the best epoch.
      history: a value for each epoch, by name, as Keras' ``History.history``: ``epoch``, ``loss``,
        ``seconds``, and of the development data ``dev_f1``, ``dev_draft_f1`` and so on;
        ``pd.DataFrame(run.history)`` has a row for each epoch.
      scores: of the trained model, ``{"dev": {"f1": ..., ...}, "test": ...}``, in fractions; each
        key is explained in docs/metrics.md.
      best_epoch: the epoch whose weights the model has, from 1; None: no epoch was eligible.
      run_dir: directory of the run.
    """

    model: Tagger
    history: dict[str, list[Any]]
    scores: dict[str, dict[str, Any]]
    best_epoch: int | None
    run_dir: pathlib.Path
    # Removed with the last reference to it.
    _folder: "tempfile.TemporaryDirectory[str] | None" = None

    def __repr__(self) -> str:
        measure = MEASURES["pos" if self.model.label_scheme is None else "ner"]
        told = (f"{name} {measure} {100 * s[measure]:.2f} %" for name, s in self.scores.items())
        return f"<TrainedRun: {', '.join(told)}, best epoch {self.best_epoch}, {self.run_dir}>"


def train(
    train: LabelledData,
    dev: LabelledData,
    *,
    test: LabelledData | None = None,
    run_dir: str | os.PathLike[str] | None = None,
    recipe: str | None = "auto",
    init: str | os.PathLike[str] | Tagger | None = None,
    verbose: int = 1,
    **settings: Any,
) -> TrainedRun:
    """Trains a tagger; a stopped run continues, a complete one is loaded.

    Labelled data are a path of any format, a list of ``(tokens, labels)``, or a DataFrame of pandas
    with a row for each token and columns for sentence, token and label, known by their names
    (``sentence_id``, ``token``, ``label``; ``Sentence #``, ``Word``, ``Tag``) or by the settings
    ``token_column`` and ``label_column``.

    Args:
      train: labelled data to train on.
      dev: labelled data by which the best epoch is chosen.
      test: labelled data that are scored once, if given.
      run_dir: directory of the run, as ``uanet train`` writes it: model, metrics, checkpoints, and
        in ``data/`` what was not given as a file. None: a temporary one, removed with the result.
      recipe: settings by name, see ``uanet recipes``; several are separated by commas, and a
        later one wins; None: the defaults, which differ from the paper's (recipe "uanet") in
        ``label_input`` only; "auto": "fast", with ``init`` the settings of that model.
      init: a model to go on from: a run, the name of a model that comes with the package, or a
        loaded model; see ``uanet train --init``.
      verbose: 1: a progress bar with the scores of each epoch; 0: nothing but warnings.
      **settings: by name, such as ``epochs=3``; they win over the recipe. ``uanet train
        --helpfull`` explains each.

    Returns:
      The model with its history and scores.

    Raises:
      InputError: data, a setting or the run directory are not usable.

    Example:
      >>> run = uanet_tf.train("train.conll", "dev.conll", run_dir="runs/mine", epochs=3)
      >>> run.scores["dev"]["f1"]
      >>> uanet_tf.tag(run.model, "Riverton beat Marlow 2-1.")
    """
    if verbose not in (0, 1):
        raise InputError(f"verbose must be 0 or 1. Received: {verbose!r:.60}")
    if not isinstance(recipe, str | None):
        raise InputError(f"`recipe` must be the name of a recipe. Received: {recipe!r}")
    if recipe == "auto":
        recipe = "fast" if init is None else None
    model = init if isinstance(init, Tagger) else None
    if init is not None:
        settings["init"] = _name_of(init)
    values: dict[str, Any] = {}
    for name in (recipe or "").split(","):
        values |= recipe_settings(name) if name else {}
    for name in settings:
        _check_name(name)
        if name.endswith("_path"):
            raise InputError(f"{name} is no setting here: give the file as `{name[:-5]}`.")
    data = {"train": train, "dev": dev} | ({} if test is None else {"test": test})
    folder = None if run_dir is not None else tempfile.TemporaryDirectory(prefix="uanet_tf_run_")
    place = pathlib.Path(check_path("run_dir", folder.name if folder is not None else run_dir))
    config = Config().replace(**{**values, **settings})
    if init is not None:
        config = init_config(config, {*values, *settings}, str(place), model and model.settings)
    for name in filter(None, (recipe or "").split(",")):
        check_recipe(recipe_path(name), config)
    config, held = _with_data(config, data, place)
    given = {*settings, *(f"{name}_path" for name in data)}
    fit(config, place, given=given, bars=bool(verbose), held=held, model=model)
    metrics = fractions_of(read_run_metrics(RunDirectory(place).metrics))
    scores = {name: metrics[name] for name in data if name in metrics}
    history = _history(metrics["epochs"])
    return TrainedRun(load_model(place), history, scores, metrics["best_epoch"], place, folder)


def _with_data(
    config: Config, data: Mapping[str, Any], run_dir: pathlib.Path
) -> tuple[Config, dict[str, list[Sentence]]]:
    """The settings with the paths of all data; and the sentences of those that are no files yet."""
    paths = {name: os.fspath(p) for name, p in data.items() if isinstance(p, str | os.PathLike)}
    others = {name: given for name, given in data.items() if name not in paths}
    files = {name: str(path) for name, path in RunDirectory(run_dir).held(others).items()}
    config = config.replace(**{f"{name}_path": p for name, p in {**files, **paths}.items()})
    if not others:
        return config, {}
    reading, columns = Reading.of_settings(config.data), Config().data
    of_files = {name: getattr(columns, name) for name in ("token_column", "label_column")}
    changed = [name for name, value in of_files.items() if getattr(config.data, name) != value]
    if changed and paths:
        raise InputError(
            f"{changed[0]} cannot be of a file and of a table at once: give {', '.join(data)} all "
            "as paths, or all as tables."
        )
    held = {name: labelled_sentences(given, name, reading) for name, given in others.items()}
    for name, sentences in held.items():
        try:
            format_columns(sentences)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    return config.replace(**of_files), held


def _history(epochs: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Keras' form: a list for each figure."""
    rows = [
        {name: value for name, value in epoch.items() if name != "dev"}
        | {f"dev_{name}": value for name, value in epoch["dev"].items()}
        for epoch in epochs
    ]
    return {name: [row.get(name) for row in rows] for name in (rows[0] if rows else {})}


def _name_of(init: Any) -> str:
    """What the setting ``init`` is for an argument."""
    if isinstance(init, Tagger):
        return str(init.run_dir or init.name)
    if not isinstance(init, str | os.PathLike):
        raise InputError(
            "init must be a run, the name of a model of the package, or a loaded model. "
            f"Received: {init!r:.60}"
        )
    return str(init)


def _check_name(name: str) -> None:
    known = [field.name for _, field, _ in iter_options(Config())]
    if name not in known:
        near = near_names(name, known)
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        raise InputError(f"There is no setting named {name!r}.{hint}")
