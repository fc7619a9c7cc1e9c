"""One absl flag for each setting of uanet_tf.config."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

from absl import flags

from uanet_tf.commands.command_flags import FlagGroup, Given, define_flag, flag, parse
from uanet_tf.config import Config, InferenceOptions, check_recipe, iter_options, recipe_path
from uanet_tf.errors import InputError
from uanet_tf.option import check_option, has_flag


class Settings(NamedTuple):
    """The settings of training, and the names of those ``given`` on the command line itself.

    A flagfile is a recipe, which may serve several choices of parts; a flag that somebody typed is
    meant to have an effect.
    """

    config: Config
    given: frozenset[str]


class SettingFlags(FlagGroup):
    """The flags of training, which make ``Settings``.

    The command begins with ``recipe``; None: with those that the flag --recipe names.
    """

    def __init__(self, recipe: str | None = None) -> None:
        self._takes_recipe = recipe is None
        self.first = () if recipe is None else (f"--flagfile={recipe_path(recipe)}",)

    def define(self, values: flags.FlagValues) -> None:
        if self._takes_recipe:
            help_text = (
                "Settings that come with the package, by name, see uanet recipes; several are "
                "separated by commas, and a later one wins."
            )
            define_flag(values, "recipe", str, None, help_text)
        for group, field, value in _training_options():
            _define(field, value, field.metadata["help"], values, group)

    def read(self, values: flags.FlagValues, given: Sequence[Given]) -> Settings:
        options = [field.name for _, field, _ in _training_options()]
        config = Config().replace(**{name: values[name].value for name in options})
        if config.training.init:
            from uanet_tf.training.init_settings import init_config

            named = {name for name in options if values[name].present}
            run_dir = values["run_dir"].value if "run_dir" in values else None
            config = init_config(config, named, run_dir)
        for path in dict.fromkeys(each.file for each in given if each.file):
            check_recipe(path, config)
        typed = {each.flag for each in given if each.file is None}
        return Settings(config, frozenset({n for n in options if {n, f"no{n}"} & typed}))


class OptionFlags(FlagGroup):
    """The inference options that a command ("tag", "evaluate" or "export") can change, by name.

    Those without a flag on the command line, which keep the run's own value, are left out.
    """

    def __init__(self, command: str) -> None:
        self._fields = [f for f in dataclasses.fields(InferenceOptions) if has_flag(f, command)]

    def define(self, values: flags.FlagValues) -> None:
        for field in self._fields:
            help_text = f"{field.metadata['help']} Default: the run's."
            _define(field, None, help_text, values, "inference")

    def read(self, values: flags.FlagValues, given: Sequence[Given]) -> dict[str, Any]:
        found = {field.name: values[field.name].value for field in self._fields}
        return {name: value for name, value in found.items() if value is not None}


def settings_of(arguments: Sequence[str]) -> Settings:
    """The settings that flags of training describe; InputError as ``parse``, and for --help."""

    def only_settings(
        settings: Annotated[Settings, SettingFlags()], *, run_dir: str = flag(None, "")
    ) -> Settings:
        del run_dir
        return settings

    call = parse(only_settings, ["train", *arguments])
    if call is None:
        raise InputError("--help trains nothing.")
    return call()


def _training_options() -> Iterator[tuple[str, dataclasses.Field, Any]]:
    return (each for each in iter_options(Config()) if has_flag(each[1], "train"))


def _define(
    field: dataclasses.Field, default: Any, help_text: str, values: flags.FlagValues, group: str
) -> None:
    """Defines the flag of a setting, whose values are checked."""
    choices = field.metadata["choices"]
    define_flag(values, field.name, type(field.default), default, help_text, choices, group)

    def validate(value: Any) -> bool:
        try:
            if value is not None:
                check_option(field, value, f"--{field.name}")
        except InputError as error:
            raise flags.ValidationError(str(error)) from error
        return True

    flags.register_validator(field.name, validate, flag_values=values)
