"""One absl flag for each setting of uanet_tf.config."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from absl import flags

from uanet_tf.config import Config, iter_options
from uanet_tf.errors import InputError
from uanet_tf.option import check_option, has_flag
from uanet_tf.settings import InferenceOptions


def define_config_flags(flag_values: flags.FlagValues) -> list[str]:
    """Defines the flags of training, with the fields' defaults, limits and documentation.

    Args:
      flag_values: where to define them; ``--help`` shows them by their groups.

    Returns:
      The names of the flags.
    """
    names = []
    for group, field, value in iter_options(Config()):
        if has_flag(field, "train"):
            _define(field, value, field.metadata["help"], flag_values, module_name=group)
            names.append(field.name)
    return names


def config_from_flags(flag_values: flags.FlagValues) -> Config:
    """The configuration that parsed flags describe."""
    names = [field.name for _, field, _ in iter_options(Config()) if has_flag(field, "train")]
    return Config().replace(**{name: flag_values[name].value for name in names})


def given_settings(argv: Sequence[str]) -> set[str]:
    """Names of the settings that are given on the command line itself, not in a flagfile.

    A flagfile is a recipe, which may serve several choices of parts; a flag that somebody typed
    is meant to have an effect.
    """
    names = {field.name for _, field, _ in iter_options(Config())}
    typed = {argument.lstrip("-").partition("=")[0] for argument in argv if argument[:1] == "-"}
    return names & (typed | {name.removeprefix("no") for name in typed})


def define_option_flags(flag_values: flags.FlagValues, command: str) -> None:
    """Defines the inference options that a command on a trained run can change.

    Without a flag the run's own value is used.
    """
    for field in dataclasses.fields(InferenceOptions):
        if has_flag(field, command):
            help_text = f"{field.metadata['help']} Default: the run's."
            _define(field, None, help_text, flag_values)


def options_from_flags(flag_values: flags.FlagValues, command: str) -> dict[str, Any]:
    """The inference options that were given, for ``models.loading.load_model``."""
    names = [f.name for f in dataclasses.fields(InferenceOptions) if has_flag(f, command)]
    values = {name: flag_values[name].value for name in names}
    return {name: value for name, value in values.items() if value is not None}


_DEFINE: dict[type, Callable[..., Any]] = {
    bool: flags.DEFINE_boolean,
    int: flags.DEFINE_integer,
    float: flags.DEFINE_float,
    str: flags.DEFINE_string,
}


def _define(
    field: dataclasses.Field,
    default: Any,
    help_text: str,
    flag_values: flags.FlagValues,
    **options: Any,
) -> None:
    if field.metadata["choices"]:
        choices = field.metadata["choices"]
        flags.DEFINE_enum(
            field.name, default, choices, help_text, flag_values=flag_values, **options
        )
    else:
        define = _DEFINE[type(field.default)]
        define(field.name, default, help_text, flag_values=flag_values, **options)
    flags.register_validator(field.name, _validator(field), flag_values=flag_values)


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
