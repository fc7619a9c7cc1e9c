"""A run's configuration: all settings together, checked, as flags and as JSON.

Values come from the defaults of ``settings``, then the flagfile, then the command line.
"""

import dataclasses
import pathlib
from collections.abc import Iterator
from typing import Any

from uanet_lite.strict_json import check_fields, read_json
from uanet_tf.errors import InputError, one_line
from uanet_tf.inference_options import InferenceOptions
from uanet_tf.option import check_option
from uanet_tf.settings import (
    DataConfig,
    DecoderConfig,
    EncoderConfig,
    RepresentationConfig,
)
from uanet_tf.training_settings import TrainingConfig

MAX_CONFIG_BYTES = 2**20

__all__ = [
    "Config",
    "DataConfig",
    "DecoderConfig",
    "EncoderConfig",
    "InferenceOptions",
    "RepresentationConfig",
    "TrainingConfig",
    "from_dict",
    "iter_options",
    "load_config",
    "saved_options",
]


@dataclasses.dataclass(frozen=True)
class Config:
    """All settings of a run, in groups."""

    data: DataConfig = dataclasses.field(default_factory=DataConfig)
    representation: RepresentationConfig = dataclasses.field(default_factory=RepresentationConfig)
    encoder: EncoderConfig = dataclasses.field(default_factory=EncoderConfig)
    decoder: DecoderConfig = dataclasses.field(default_factory=DecoderConfig)
    inference: InferenceOptions = dataclasses.field(default_factory=InferenceOptions)
    training: TrainingConfig = dataclasses.field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        for _, field, value in iter_options(self):
            check_option(field, value, f"--{field.name}")

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Plain nested dictionaries, for JSON."""
        return dataclasses.asdict(self)

    def replace(self, **values: Any) -> "Config":
        """Returns a copy with the named fields (flag names, from any group) replaced."""
        groups: dict[str, Any] = {}
        known = {field.name: (group, field) for group, field, _ in iter_options(self)}
        for name, value in values.items():
            if name not in known:
                raise InputError(f"There is no setting named {name!r}.")
            group, field = known[name]
            groups.setdefault(group, {})[name] = check_option(field, value, f"--{name}")
        return dataclasses.replace(
            self,
            **{
                group: dataclasses.replace(getattr(self, group), **changes)
                for group, changes in groups.items()
            },
        )


def iter_options(config: Config) -> Iterator[tuple[str, dataclasses.Field, Any]]:
    """Yields (group name, field, value) of every setting."""
    for group in dataclasses.fields(config):
        part = getattr(config, group.name)
        for field in dataclasses.fields(part):
            yield group.name, field, getattr(part, field.name)


def from_dict(values: dict[str, dict[str, Any]]) -> Config:
    """Builds a Config from what ``to_dict`` gave, or from what somebody else wrote.

    Settings that are missing have their defaults, as in runs from before they existed.

    Raises:
      InputError: a group or setting is not known, or has another type or an impossible value.
    """
    config, groups = Config(), {}
    parts = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    check_fields(values, {}, dict.fromkeys(parts, dict), where="the configuration")
    for name, part in values.items():
        types = {field.name: type(field.default) for field in dataclasses.fields(parts[name])}
        check_fields(part, {}, types, where=f"the configuration's group {name!r}")
        groups[name] = dataclasses.replace(parts[name], **part)
    return dataclasses.replace(config, **groups)


def saved_options(values: dict[str, Any]) -> InferenceOptions:
    """The inference options in force when a model was saved, from a dictionary of them.

    Raises:
      InputError: an option is not known, or has another type or an impossible value.
    """
    return from_dict({"inference": values}).inference


def load_config(run_dir: str) -> Config:
    """Reads ``config.json`` of a run directory.

    Raises:
      InputError: there is no run in ``run_dir``, or its configuration cannot be read.
    """
    path = pathlib.Path(run_dir) / "config.json"
    try:
        return from_dict(read_json(path, MAX_CONFIG_BYTES))
    except FileNotFoundError:
        raise InputError(f"{run_dir} is not a run directory: it has no config.json.") from None
    except (OSError, ValueError) as error:
        reason = one_line(error)
        raise InputError(f"{path} cannot be read as a run's configuration: {reason}") from error
