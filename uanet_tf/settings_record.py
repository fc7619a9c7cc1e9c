"""Records which settings the parts of a model read."""

from typing import Any

from uanet_tf.config import Config


class SettingsRecord:
    """A configuration that records which of its settings are read.

    Parts take their settings from it as from a ``Config``. So the settings that a choice of parts
    does not read are known without a list of names.

    Args:
      config: the settings.

    Attributes:
      read: names of the settings that were read.
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
