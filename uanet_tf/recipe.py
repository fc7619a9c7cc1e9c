"""Recipes: flagfiles that come with the package, in ``uanet_tf/recipes/``."""

import difflib
import pathlib
from collections.abc import Sequence
from typing import Any

from uanet_tf.config import Config, iter_options
from uanet_tf.errors import InputError

FOLDER = pathlib.Path(__file__).resolve().parent / "recipes"
_FAMILY = "uanet_"  # "fast" is short for "uanet_fast"
_TRUE = ("", "true", "1")


def recipe_names() -> list[str]:
    """Names of all recipes, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.flags"))


def recipe_path(name: str) -> pathlib.Path:
    """The flagfile of a recipe.

    Args:
      name: such as "uanet_fast", or "fast" for short.

    Raises:
      InputError: there is no such recipe; names near ones.
    """
    for stem in (name, f"{_FAMILY}{name}"):
        path = FOLDER / f"{stem}.flags"
        if stem in recipe_names():
            return path
    short = [stem.removeprefix(_FAMILY) for stem in recipe_names()]
    near = difflib.get_close_matches(name, [*short, *recipe_names()], 3)
    hint = f"did you mean {' or '.join(near)}?" if near else "see uanet recipes."
    raise InputError(f"There is no recipe {name!r}: {hint}")


def recipe_title(name: str) -> str:
    """The first line of a recipe's flagfile: what it is, in one line."""
    return recipe_path(name).read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


def recipe_settings(name: str) -> dict[str, Any]:
    """The settings of a recipe, {name: value}, for ``Config().replace``."""
    defaults = {field.name: value for _, field, value in iter_options(Config())}
    settings: dict[str, Any] = {}
    for line in recipe_path(name).read_text(encoding="utf-8").splitlines():
        if not line.startswith("--"):
            continue
        key, _, text = line.removeprefix("--").strip().partition("=")
        if key.startswith("no") and key not in defaults:
            settings[key.removeprefix("no")] = False
        elif isinstance(defaults[key], bool):
            settings[key] = text.lower() in _TRUE
        else:
            settings[key] = type(defaults[key])(text)
    return settings


def near_names(name: str, names: Sequence[str]) -> list[str]:
    """Of names those with all the words of one that is none, else of like spelling; at most 3."""
    words = set(name.split("_"))
    with_all_words = [each for each in names if words <= set(each.split("_"))]
    return with_all_words[:3] or difflib.get_close_matches(name, names, 3)
