"""A run's configuration: all settings together, checked, as flags and as JSON.

Values come from the defaults of ``settings``, then the flagfile, then the command line.
"""

import dataclasses
import difflib
import pathlib
import re
from collections.abc import Iterator
from typing import Any

from uanet_lite.input_error import as_flags
from uanet_lite.strict_json import check_fields, read_json
from uanet_tf.errors import InputError, one_line
from uanet_tf.option import check_option
from uanet_tf.settings import (
    DataConfig,
    DecoderConfig,
    EncoderConfig,
    InferenceOptions,
    RepresentationConfig,
    TrainingConfig,
)

MAX_CONFIG_BYTES = 2**20
RECIPES = pathlib.Path(__file__).resolve().parent / "recipes"  # flagfiles
_FAMILY = "uanet_"  # "fast" is short for "uanet_fast"
_TRUE = ("", "true", "1")
# Flags that are called otherwise as arguments, and those that are no settings.
ARGUMENTS = {"train_path": "train", "dev_path": "dev", "test_path": "test"}
_OTHER_FLAGS = (
    *("run_dir", "import", "format", "output", "output_format", "split_sentences"),
    *("name", "version", "text", "url", "timeout"),
)

__all__ = [
    "ARGUMENTS",
    "Config",
    "DataConfig",
    "DecoderConfig",
    "EncoderConfig",
    "InferenceOptions",
    "RepresentationConfig",
    "SettingsRecord",
    "TrainingConfig",
    "check_recipe",
    "from_dict",
    "in_flags",
    "is_system",
    "iter_options",
    "load_config",
    "recipe_names",
    "recipe_path",
    "recipe_settings",
    "recipe_title",
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
            check_option(field, value, f"`{ARGUMENTS.get(field.name, field.name)}`")

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
            groups.setdefault(group, {})[name] = check_option(field, value, f"`{name}`")
        for group, changes in groups.items():
            groups[group] = dataclasses.replace(getattr(self, group), **changes)
        return dataclasses.replace(self, **groups)


def iter_options(config: Config) -> Iterator[tuple[str, dataclasses.Field, Any]]:
    """Yields (group name, field, value) of every setting."""
    for group in dataclasses.fields(config):
        part = getattr(config, group.name)
        for field in dataclasses.fields(part):
            yield group.name, field, getattr(part, field.name)


def from_dict(values: dict[str, dict[str, Any]]) -> Config:
    """A Config from what ``to_dict`` gave, or somebody else wrote; missing settings: defaults.

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
    """The inference options in force when a model was saved; raises InputError as ``from_dict``."""
    return from_dict({"inference": values}).inference


def load_config(run_dir: str) -> Config:
    """Reads ``config.json`` of a run directory.

    Raises InputError if there is no run, or its configuration cannot be read.
    """
    path = pathlib.Path(run_dir) / "config.json"
    try:
        return from_dict(read_json(path, MAX_CONFIG_BYTES))
    except FileNotFoundError:
        raise InputError(f"{run_dir} is not a run directory: it has no config.json.") from None
    except (OSError, ValueError) as error:
        reason = one_line(error)
        if "must be one of" in reason:
            reason += ". A part of one's own has to be imported first, in commands by `import`."
        raise InputError(f"{path} cannot be read as a run's configuration: {reason}") from error


class SettingsRecord:
    """A configuration that records in ``read`` the names of its settings that are read.

    Parts take their settings from it as from a ``Config``. So the settings that a choice of parts
    does not read are known without a list of names.
    """

    def __init__(self, config: Config):
        self._config = config
        self.read: set[str] = set()

    def __getattr__(self, group: str) -> "_Group":
        return _Group(getattr(self._config, group), self.read)


class _Group:
    def __init__(self, group: Any, read: set[str]):
        self._group, self._read = group, read

    def __getattr__(self, name: str) -> Any:
        self._read.add(name)
        return getattr(self._group, name)


def recipe_names() -> list[str]:
    """Names of all recipes, in alphabetical order."""
    return sorted(path.stem for path in RECIPES.glob("*.flags"))


def recipe_path(name: str) -> pathlib.Path:
    """The flagfile of a recipe, such as "uanet_fast", or "fast" for short.

    Raises InputError if there is no such recipe; it names near ones.
    """
    for stem in (name, f"{_FAMILY}{name}"):
        if stem in recipe_names():
            return RECIPES / f"{stem}.flags"
    short = [stem.removeprefix(_FAMILY) for stem in recipe_names()]
    near = difflib.get_close_matches(name, dict.fromkeys([*short, *recipe_names()]), 3)
    hint = f"did you mean {' or '.join(near)}?" if near else "see uanet recipes."
    if "+" in name:
        hint = "several are joined by commas, but in uanet compare by +."
    elif "," in name:
        hint = "in uanet compare several are joined by +."
    elif pathlib.Path(name).is_file():
        hint = f"a file is given as --flagfile={name}."
    raise InputError(f"There is no recipe {name!r}: {hint}")


def recipe_title(name: str) -> str:
    """The first line of a recipe's flagfile: what it is, in one line."""
    return recipe_path(name).read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


def is_system(path: pathlib.Path) -> bool:
    """Whether a flagfile describes a tagger; else it says that it goes after one that does."""
    return not re.search("^# Not a system", path.read_text(encoding="utf-8"), re.MULTILINE)


def check_recipe(path: pathlib.Path, config: Config) -> None:
    """Raises InputError where a setting is empty that a recipe's flagfile says it needs."""
    values = {field.name: value for _, field, value in iter_options(config)}
    for name in re.findall(r"^# Needs: --(\w+)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        if not values[name]:
            raise InputError(
                f"The recipe {path.stem} is for `{name}`, and none is given: give `{name}`, or "
                "take another recipe (uanet recipes)."
            )


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


def in_flags(message: str) -> str:
    """A message on arguments (`epochs=0`), as commands say it: --epochs=0."""
    names = {field.name: field.name for _, field, _ in iter_options(Config())}
    names |= {argument: flag for flag, argument in ARGUMENTS.items()}
    return as_flags(message, names | {flag: flag for flag in _OTHER_FLAGS})
