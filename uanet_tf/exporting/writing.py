"""Errors in writing an export, as one sentence."""

import contextlib
import os
from collections.abc import Iterator

import tensorflow as tf

from uanet_tf.errors import InputError, written_reason


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Context that only writes files; ``path`` is named in the message.

    Raises:
      InputError: a full disk, a missing permission or the like, of TensorFlow's writers too.
    """
    try:
        yield
    except (OSError, tf.errors.OpError) as error:
        reason = written_reason(error)
        raise InputError(
            f"{os.fspath(path)} cannot be written: {reason}. Nothing was exported."
        ) from error
