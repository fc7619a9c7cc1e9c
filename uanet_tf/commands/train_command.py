"""``uanet train`` and ``uanet recipes``: training, and the settings to train with."""

from collections.abc import Sequence
from typing import Annotated, Any

from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.setting_flags import SettingFlags, Settings
from uanet_tf.config import recipe_names, recipe_path, recipe_title
from uanet_tf.errors import InputError

# (recipe, when to use it); minutes are of two cores without a GPU.
ADVICE = (
    ("quickstart", "A first look, or easy texts: a minute or two."),
    (
        "fast",
        "The usual choice, any language, no vectors needed: ten epochs, small files read again.",
    ),
    (
        "vectors",
        "With --word_vectors=FILE (uanet data get glove_100d), which knows words beyond a corpus.",
    ),
    ("states", "As fast, with a refiner that sees more: for parts of speech."),
    (
        "transformer_uanet",
        "Best scores: needs --pretrained=FOLDER, an encoder of your language; many times slower.",
    ),
    (
        "uanet",
        "The paper's settings: large corpora, with --word_vectors=FILE (GloVe or fastText), a "
        "hundred epochs.",
    ),
    (
        "bilstm",
        "A baseline without samples, quickest to tag with; --recipe=bilstm,ten_epochs trains it in "
        "ten epochs.",
    ),
)


def train(
    *,
    run_dir: str = flag(
        None,
        "Directory of the run: model, metrics, checkpoints, logs.",
        required="the directory that the run writes to",
    ),
    settings: Annotated[Settings, SettingFlags()],
) -> None:
    r"""Trains a tagger.

        uanet train --recipe=fast --train_path=A --dev_path=B --test_path=C \
            --run_dir=R

    ``uanet recipes`` lists the recipes. Flags after --recipe override it, and so does a
    --flagfile=FILE of your own, which may name one itself; python train.py is the same. The same
    command continues a run that was stopped. Exit code 2: bad input, explained in one sentence on
    stderr.
    """
    from uanet_tf.training.fit import fit  # TensorFlow is loaded only for good arguments

    _print_scores(fit(settings.config, run_dir, given=settings.given), run_dir)


def _print_scores(metrics: dict[str, Any], run_dir: str) -> None:
    measure = "f1" if metrics["task"] == "ner" else "accuracy"
    for name in ("dev", "test"):
        if name in metrics:
            scores = metrics[name]
            parts = [f"{name}: {measure} {scores[measure]:.2f}"]
            for part, said in (("draft", "draft"), ("refined", "all refined")):
                if f"{part}_{measure}" in scores:
                    parts.append(f"{said} {scores[f'{part}_{measure}']:.2f}")
            where = f"(best epoch {metrics['best_epoch']}, {run_dir})"
            print(f"{', '.join(parts)} {where}")


def recipes(names: list[str]) -> None:
    """Lists the recipes: settings to train with, and when to use which.

        uanet recipes
        uanet recipes fast      # shows one, with the reasons for its values

    A recipe is a flagfile of the package: uanet train --recipe=NAME. In a clone they are in
    configs/, beside systems that differ from one in a setting: --flagfile=configs/NAME.flags.
    """
    if len(names) > 1:
        raise InputError(f"Name one recipe, or none. Received: {' '.join(names)}")
    if names:
        print(recipe_path(names[0]).read_text(encoding="utf-8"), end="")
        return
    print("Which to use (uanet train --recipe=NAME ...):\n")
    _print_rows(ADVICE)
    print("\nAll, by name; uanet_fast may be called fast, and so on:\n")
    _print_rows([(name, recipe_title(name)) for name in recipe_names()])
    print("\nuanet recipes NAME shows one. docs/lab/results.md compares them.")


def _print_rows(rows: Sequence[tuple[str, str]]) -> None:
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        print(f"  {name:{width}}  {text}")
