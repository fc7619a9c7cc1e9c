"""One absl flag for each setting of uanet_tf.config."""

import dataclasses
from collections.abc import Callable
from typing import Any

from absl import flags

from uanet_tf.config import Config, check_option, iter_options
from uanet_tf.errors import InputError


def define_config_flags(flag_values: flags.FlagValues) -> list[str]:
    """Defines the flags, with the fields' defaults, limits and documentation.

    Args:
      flag_values: where to define them; ``--help`` shows them by their groups.

    Returns:
      The names of the flags.
    """
    names = []
    for group, field, value in iter_options(Config()):
        help_text = field.metadata["help"]
        options: dict[str, Any] = {"flag_values": flag_values, "module_name": group}
        if field.metadata["choices"]:
            flags.DEFINE_enum(field.name, value, field.metadata["choices"], help_text, **options)
        elif isinstance(value, bool):
            flags.DEFINE_boolean(field.name, value, help_text, **options)
        elif isinstance(value, int):
            flags.DEFINE_integer(field.name, value, help_text, **options)
        elif isinstance(value, float):
            flags.DEFINE_float(field.name, value, help_text, **options)
        else:
            flags.DEFINE_string(field.name, value, help_text, **options)
        flags.register_validator(field.name, _validator(field), flag_values=flag_values)
        names.append(field.name)
    return names


def config_from_flags(flag_values: flags.FlagValues) -> Config:
    """The configuration that parsed flags describe."""
    names = [field.name for _, field, _ in iter_options(Config())]
    return Config().replace(**{name: flag_values[name].value for name in names})


def _validator(field: dataclasses.Field) -> Callable[[Any], bool]:
    def validate(value: Any) -> bool:
        try:
            check_option(field, value)
        except InputError as error:
            raise flags.ValidationError(str(error)) from error
        return True

    return validate
