"""One absl flag for each setting of uanet_tf.config."""

import dataclasses
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from absl import flags

from uanet_tf.commands.command_flags import DEFINE, FlagGroup
from uanet_tf.config import Config, InferenceOptions, check_recipe, iter_options, recipe_path
from uanet_tf.errors import InputError
from uanet_tf.option import check_option, has_flag

_RECIPE, _FLAGFILE = "--recipe", "--flagfile"


class Settings(NamedTuple):
    """The settings of training.

    Attributes:
      config: all of them.
      given: names of those that stand on the command line itself, not in a flagfile. A flagfile is
        a recipe, which may serve several choices of parts; a flag that somebody typed is meant to
        have an effect.
    """

    config: Config
    given: frozenset[str]


class SettingFlags(FlagGroup):
    """The flags of training, which make ``Settings``.

    Args:
      recipe: the recipe that the command begins with; None: those that the flag --recipe names.
    """

    def __init__(self, recipe: str | None = None) -> None:
        self._recipe = recipe

    def prepare(self, arguments: list[str]) -> list[str]:
        if self._recipe is None:
            return with_recipes(arguments)
        # Flags of the user come later, so they win.
        return [f"--flagfile={recipe_path(self._recipe)}", *arguments]

    def define(self, values: flags.FlagValues) -> None:
        if self._recipe is None:
            flags.DEFINE_string(
                "recipe",
                None,
                "Settings that come with the package, by name, see uanet recipes; several are "
                "separated by commas, and a later one wins.",
                flag_values=values,
                module_name="flags",
            )
        define_config_flags(values)

    def read(self, values: flags.FlagValues, arguments: Sequence[str]) -> Settings:
        config = config_from_flags(values)
        if config.training.init:
            from uanet_tf.training.init_settings import init_config

            named = {f.name for _, f, _ in _training_options() if values[f.name].present}
            run_dir = values["run_dir"].value if "run_dir" in values else None
            config = init_config(config, named, run_dir)
        for argument in self.prepare(list(arguments)):
            name, _, path = argument.partition("=")
            if f"--{name.lstrip('-')}" == _FLAGFILE and pathlib.Path(path).is_file():
                check_recipe(pathlib.Path(path), config)
        return Settings(config, given_settings(arguments))


class OptionFlags(FlagGroup):
    """The inference options that a command on a trained run can change, by name.

    Those without a flag on the command line, which keep the run's own value, are left out.

    Args:
      command: "tag", "evaluate" or "export", see ``InferenceOptions``.
    """

    def __init__(self, command: str) -> None:
        self._fields = [f for f in dataclasses.fields(InferenceOptions) if has_flag(f, command)]

    def define(self, values: flags.FlagValues) -> None:
        for field in self._fields:
            help_text = f"{field.metadata['help']} Default: the run's."
            _define(field, None, help_text, values, "inference")

    def read(self, values: flags.FlagValues, arguments: Sequence[str]) -> dict[str, Any]:
        found = {field.name: values[field.name].value for field in self._fields}
        return {name: value for name, value in found.items() if value is not None}


def define_config_flags(values: flags.FlagValues) -> None:
    """Defines the flags of training, with the fields' defaults, limits and documentation."""
    for group, field, value in _training_options():
        _define(field, value, field.metadata["help"], values, group)


def config_from_flags(values: flags.FlagValues) -> Config:
    """The configuration that parsed flags describe."""
    return Config().replace(
        **{field.name: values[field.name].value for _, field, _ in _training_options()}
    )


def given_settings(arguments: Sequence[str]) -> frozenset[str]:
    """Names of the settings that the arguments of a program give themselves."""
    names = {field.name for _, field, _ in iter_options(Config())}
    typed = {each.lstrip("-").partition("=")[0] for each in arguments if each[:1] == "-"}
    return frozenset(names & (typed | {name.removeprefix("no") for name in typed}))


def with_recipes(arguments: Sequence[str]) -> list[str]:
    """The arguments with the flagfiles of the recipes named, each in its place.

    A flagfile that names recipes comes after them: its other lines override theirs.

    Raises:
      InputError: there is no such recipe.
    """
    found: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        # absl takes one dash or two, and the value behind "=" or as the next argument.
        flag = f"--{name.lstrip('-')}" if name.startswith("-") else ""
        if flag in (_RECIPE, _FLAGFILE) and not equals:
            value = next(rest, "")
        if flag == _RECIPE:
            found += _flagfiles(value)
        elif flag == _FLAGFILE:
            for recipes in _named_recipes(value):
                found += _flagfiles(recipes)
            found.append(f"{_FLAGFILE}={value}")
        else:
            found.append(argument)
    return found


def _flagfiles(recipes: str) -> list[str]:
    """The flags of recipes with commas between."""
    names = [name for name in recipes.split(",") if name] or [recipes]
    return [f"{_FLAGFILE}={recipe_path(name)}" for name in names]


def _named_recipes(path: str) -> list[str]:
    """What a flagfile's lines ``--recipe=...`` name; absl tells where it cannot be read."""
    try:
        text = pathlib.Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, ValueError):
        return []
    lines = (line.strip().partition("=") for line in text.splitlines())
    return [value for name, _, value in lines if name == _RECIPE]


def _training_options() -> Iterator[tuple[str, dataclasses.Field, Any]]:
    return (each for each in iter_options(Config()) if has_flag(each[1], "train"))


def _define(
    field: dataclasses.Field, default: Any, help_text: str, values: flags.FlagValues, group: str
) -> None:
    """Defines a flag; ``--help`` shows it under the name of its group."""
    said: dict[str, Any] = {"help": help_text, "flag_values": values, "module_name": group}
    if choices := field.metadata["choices"]:
        flags.DEFINE_enum(field.name, default, choices, **said)
    else:
        DEFINE[type(field.default)](field.name, default, **said)
    flags.register_validator(field.name, _validator(field), flag_values=values)


def _validator(field: dataclasses.Field) -> Callable[[Any], bool]:
    def validate(value: Any) -> bool:
        if value is None:
            return True
        try:
            check_option(field, value, f"--{field.name}")
        except InputError as error:
            raise flags.ValidationError(str(error)) from error
        return True

    return validate
