"""A run's configuration: all settings together, checked, as flags and as JSON.

Values come from the defaults of ``settings``, then the flagfile, then the command line.
"""

import dataclasses
import math
import pathlib
from collections.abc import Iterator
from typing import Any

from uanet_tf.errors import InputError, one_line
from uanet_tf.settings import (
    DataConfig,
    DecoderConfig,
    EncoderConfig,
    RepresentationConfig,
    SamplingConfig,
    TrainingConfig,
)
from uanet_tf.strict_json import check_fields, read_json

MAX_CONFIG_BYTES = 2**20

# Encoders with a narrow layer behind them.
NARROWED = ("variational_bilstm", "bilstm", "bigru")

__all__ = [
    "Config",
    "DataConfig",
    "DecoderConfig",
    "EncoderConfig",
    "RepresentationConfig",
    "SamplingConfig",
    "TrainingConfig",
    "check_option",
    "from_dict",
    "iter_options",
    "load_config",
]


@dataclasses.dataclass(frozen=True)
class Config:
    """All settings of a run, in groups."""

    data: DataConfig = dataclasses.field(default_factory=DataConfig)
    representation: RepresentationConfig = dataclasses.field(default_factory=RepresentationConfig)
    encoder: EncoderConfig = dataclasses.field(default_factory=EncoderConfig)
    decoder: DecoderConfig = dataclasses.field(default_factory=DecoderConfig)
    sampling: SamplingConfig = dataclasses.field(default_factory=SamplingConfig)
    training: TrainingConfig = dataclasses.field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        for _, field, value in iter_options(self):
            check_option(field, value)
        widths = {
            "hidden_width": self.encoder.hidden_width,
            "char_hidden_width": self.representation.char_hidden_width,
        }
        for name, width in widths.items():
            if width % 2:
                raise InputError(f"--{name} must be even: half a direction. Received: {width}")
        encoder = self.encoder
        if (
            encoder.encoder == "relative_transformer"
            and encoder.hidden_width % encoder.encoder_heads
        ):
            raise InputError(
                f"--encoder_heads must divide --hidden_width={encoder.hidden_width}. "
                f"Received: {encoder.encoder_heads}"
            )
        decoder = self.decoder
        if decoder.decoder == "lan":
            narrow = encoder.encoder in NARROWED and encoder.projection_width
            name = "projection_width" if narrow else "hidden_width"
            width = getattr(encoder, name)
            if width % decoder.lan_heads:
                raise InputError(
                    f"--lan_heads must divide --{name}={width}. Received: {decoder.lan_heads}"
                )
        if decoder.decoder_optimizers > 1 and decoder.decoder != "seq2biseq":
            raise InputError(
                "--decoder_optimizers=2 is for --decoder=seq2biseq. "
                f"Received: --decoder={decoder.decoder}"
            )
        layers = self.representation.intnet_layers
        if layers % 2 == 0:
            raise InputError(
                f"--intnet_layers must be odd: one, and two a block. Received: {layers}"
            )
        if self.representation.representation == "bert":
            self._check_bert()

    def _check_bert(self) -> None:
        if self.data.word_vectors:
            raise InputError(
                "--word_vectors does not apply to --representation=bert, which has vectors of its "
                f"own. Received: {self.data.word_vectors}"
            )
        decoder = self.decoder
        if decoder.decoder == "uanet" and decoder.refiner_embeddings == "own":
            raise InputError(
                "--representation=bert needs --refiner_embeddings=shared: a second BERT for the "
                "refiner alone is not supported. Received: own"
            )

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Plain nested dictionaries, for JSON."""
        return dataclasses.asdict(self)

    def replace(self, **values: Any) -> "Config":
        """Returns a copy with the named fields (flag names, from any group) replaced."""
        groups: dict[str, Any] = {}
        known = {field.name: group for group, field, _ in iter_options(self)}
        for name, value in values.items():
            if name not in known:
                raise InputError(f"There is no setting named {name!r}.")
            groups.setdefault(known[name], {})[name] = value
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


def check_option(field: dataclasses.Field, value: Any) -> None:
    """Raises InputError if ``value`` is outside the field's documented limits."""
    limits = field.metadata
    name = f"--{field.name}"
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{name} must be a finite number. Received: {value}")
    if limits["choices"] and value not in limits["choices"]:
        raise InputError(f"{name} must be one of {', '.join(limits['choices'])}. Received: {value}")
    if limits["low"] is not None and not value >= limits["low"]:
        raise InputError(f"{name} must be at least {limits['low']}. Received: {value}")
    if limits["high"] is not None and not value <= limits["high"]:
        raise InputError(f"{name} must be at most {limits['high']}. Received: {value}")
    if limits["below"] is not None and not value < limits["below"]:
        raise InputError(f"{name} must be below {limits['below']}. Received: {value}")


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
