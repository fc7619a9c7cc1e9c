"""Arguments of constructors: their checks, with one form of message; layers that keep them."""

import inspect
from typing import Any, TypeVar

from uanet_tf.errors import InputError

Number = TypeVar("Number", bound=int | None)


class ArgumentError(ValueError):
    """A layer cannot be made with these arguments, or not from what another layer gives it.

    The message has the form "`dropout` must be in [0, 1). Received: dropout=1.5".
    """


def check_positive(name: str, value: Number, optional: bool = False) -> Number:
    """Returns ``value`` if it is an integer of at least 1 (or None where ``optional``)."""
    if value is None and optional:
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ArgumentError(f"`{name}` must be a positive integer. Received: {name}={value!r}")
    return value


def check_even(name: str, value: int) -> int:
    """Returns ``value`` if it is an even integer of at least 2."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 2 or value % 2:
        raise ArgumentError(f"`{name}` must be even and positive. Received: {name}={value!r}")
    return value


def check_even_setting(name: str, value: int) -> None:
    """Raises InputError if the setting is odd."""
    if value % 2:
        raise InputError(f"`{name}` must be even: half a direction. Received: {value}")


def check_divisor_setting(name: str, value: int, of: str, whole: int) -> None:
    """Raises InputError if the setting ``name`` does not divide the setting ``of``."""
    if whole % value:
        raise InputError(f"`{name}` must divide `{of}={whole}`. Received: {value}")


def check_rate(name: str, value: float) -> float:
    """Returns ``value`` if it is a dropout rate."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise ArgumentError(f"`{name}` must be in [0, 1). Received: {name}={value!r}")
    return value


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """Returns ``value`` if it is one of ``choices``."""
    if value not in choices:
        allowed = ", ".join(f'"{choice}"' for choice in choices)
        raise ArgumentError(f"`{name}` must be one of {allowed}. Received: {name}={value!r}")
    return value


class KeepsArguments:
    """Mixin of layers that keep each argument of ``__init__`` as an attribute of its name.

    ``get_config`` is then made of them. It stands before ``tf.keras.layers.Layer`` among the bases.
    """

    def get_config(self) -> dict[str, Any]:
        """Keras' own configuration, and the arguments of all classes down to the mixin."""
        config = super().get_config()  # type: ignore[misc]  # of the layer beside it
        kinds = type(self).__mro__
        for kind in kinds[: kinds.index(KeepsArguments)]:
            made_by = vars(kind).get("__init__", lambda self: None)
            _, *arguments = inspect.signature(made_by).parameters.values()
            for argument in arguments:
                if argument.kind is argument.VAR_KEYWORD:
                    continue
                value = getattr(self, argument.name)
                config[argument.name] = list(value) if isinstance(value, list | tuple) else value
        return config


class Part(KeepsArguments):
    """Mixin of the parts of a tagger that settings choose; see ``uanet_tf.registry``."""

    reads_lite = False  # whether a call also takes ``lite``, see ``ops.graphs.LiteGraph``

    @classmethod
    def check_settings(cls, config: Any) -> None:
        """Raises InputError where this part refuses the settings of a run; here: nowhere."""
        del config

    @classmethod
    def from_settings(cls, config: Any, vocabulary: Any, **kwargs: Any) -> Any:
        """The part that a run's settings describe."""
        raise NotImplementedError(f"{cls.__name__} must define from_settings.")
