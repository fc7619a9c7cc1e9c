"""One absl flag for each setting of uanet_tf.config."""

from absl import flags

from uanet_tf.config import Config, check_option, iter_options
from uanet_tf.errors import InputError


def define_config_flags(flag_values: flags.FlagValues, module_name: str) -> list[str]:
    """Defines the flags, with the fields' defaults, limits and documentation.

    Args:
      flag_values: where to define them.
      module_name: the script whose flags they are, for ``--help``.

    Returns:
      The names of the flags.
    """
    names = []
    for group, field, value in iter_options(Config()):
        help_text = f"[{group}] {field.metadata['help']}"
        options = {"flag_values": flag_values, "module_name": module_name}
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


def _validator(field):
    def validate(value) -> bool:
        try:
            check_option(field, value)
        except InputError as error:
            raise flags.ValidationError(str(error)) from error
        return True

    return validate
