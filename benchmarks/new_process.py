"""A call in a new process, for runs that must not share what TensorFlow keeps."""

import concurrent.futures
import multiprocessing
import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from unittest import mock


def in_new_process(
    work: Callable[..., Any],
    *arguments: object,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """The result of a call in a new process.

    Args:
      work: a function of a module.
      *arguments: of the call.
      environment: variables that the process starts with, beside those of this one.
    """
    context = multiprocessing.get_context("spawn")
    with (
        mock.patch.dict(os.environ, environment),
        concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool,
    ):
        return pool.submit(work, *arguments).result()
