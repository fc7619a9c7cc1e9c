"""Gamma of a served version, which the page at "/" shows."""

import pathlib

from uanet_tf.errors import InputError
from uanet_tf.files.strict_json import has_type, read_json

FILE = pathlib.Path("assets.extra", "gate.json")


def read_gate(path: pathlib.Path) -> float | None:
    """Gamma, nats, as the export wrote it; None of a version without the file.

    Args:
      path: directory of the version.

    Raises:
      InputError: the file is damaged.
    """
    if not (path / FILE).exists():
        return None
    try:
        values = read_json(path / FILE)
    except (OSError, ValueError) as error:
        raise InputError(f"{path / FILE}: cannot be read ({error}).") from None
    gamma = values.get("threshold") if isinstance(values, dict) else None
    if gamma is None or not (has_type(gamma, float) and 0 <= gamma < float("inf")):
        raise InputError(f"{path / FILE}: `threshold` must be a number of at least 0 nats.")
    return float(gamma)
