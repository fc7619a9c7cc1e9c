"""Files of weights: those that somebody else may have made hold plain arrays and nothing else."""

import contextlib
import math
import os
import pathlib
import shutil
import zipfile
from collections.abc import Iterator
from typing import Any

from uanet_tf.errors import InputError, one_line

SIGNATURE = b"\x89HDF\r\n\x1a\n"
MAX_OBJECTS = 200_000
MAX_DEPTH = 64
# What a deflated member may grow by. JSON with a vocabulary: 3 to 5; weights: 2.
MOST_EXPANSION = 16
_CHUNK = 2**20
_TOO_FEW = "its configuration asks for more weights than are stored with it"


def compress_archive(path: str | os.PathLike) -> None:
    """Compresses the members of a ``.keras`` file, which Keras stores as they are.

    The file stays as it is where one would shrink so far that it were not read again.
    """
    path = pathlib.Path(path)
    part = path.with_name(f".{path.name}.part")
    with (
        zipfile.ZipFile(path) as source,
        zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for member in source.infolist():
            with source.open(member) as plain, target.open(member.filename, "w") as packed:
                shutil.copyfileobj(plain, packed, _CHUNK)
        members = target.infolist()
    if all(each.file_size <= MOST_EXPANSION * each.compress_size for each in members):
        part.replace(path)
    else:
        part.unlink()


def check_weight_file(path: str | os.PathLike) -> int:
    """Checks a ``.weights.h5`` before anything reads it.

    HDF5 can do more than hold arrays: a link or an array may be in another file, which reading
    would open; values may be spread over several files (virtual data sets), made up by a filter
    whose code is loaded, or declared in any number without being stored. Keras uses none of this.
    So what is not a group or an array of stored numbers is refused.

    Returns:
      The number of values in all arrays.

    Raises:
      InputError: the file cannot be read, or holds something else; the text begins with the file's
        name without its folder.
    """
    import h5py

    path = pathlib.Path(path)
    try:
        if not path.is_file():
            raise InputError(f"{path.name} is missing")
        with open(path, "rb") as start:
            if start.read(len(SIGNATURE)) != SIGNATURE:
                raise InputError(f"{path.name} is not an HDF5 file")
        with h5py.File(path, "r") as file:
            return _Check(path, h5py).values(file)
    except InputError:
        raise
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise InputError(f"{path.name} cannot be read: {one_line(error)}") from error


class _Check:
    """The walk through one file."""

    def __init__(self, path: pathlib.Path, h5py: Any):
        self._path = path
        self._h5py = h5py
        self._seen: set[int] = set()

    def values(self, file: Any) -> int:
        count, stored = self._group(file, 0)
        # Arrays may share their bytes, and so declare more than there is.
        if stored > self._path.stat().st_size:
            self._refuse("its arrays overlap")
        return count

    def _group(self, group: Any, depth: int) -> tuple[int, int]:
        """(values, stored bytes) of a group."""
        self._once(group)
        if depth > MAX_DEPTH:
            self._refuse("its groups are nested too deeply")
        count = stored = 0
        for name in group:
            link = group.get(name, getlink=True)
            if not isinstance(link, self._h5py.HardLink):
                self._refuse("it links to data outside itself or elsewhere in it")
            item = group[name]
            if isinstance(item, self._h5py.Group):
                part = self._group(item, depth + 1)
            elif isinstance(item, self._h5py.Dataset):
                part = self._dataset(item)
            else:
                self._refuse("it holds something else than groups and arrays")
            count, stored = count + part[0], stored + part[1]
        return count, stored

    def _dataset(self, dataset: Any) -> tuple[int, int]:
        self._once(dataset)
        h5d, made = self._h5py.h5d, dataset.id.get_create_plist()
        if made.get_layout() == h5d.VIRTUAL or made.get_external_count():
            self._refuse("an array's values are in another file")
        if made.get_layout() not in (h5d.CONTIGUOUS, h5d.COMPACT) or made.get_nfilters():
            self._refuse("an array is in pieces or filtered")
        if dataset.shape is None or dataset.dtype.kind not in "fiu":
            self._refuse("an array holds something else than numbers")
        size = math.prod(dataset.shape)
        stored = dataset.id.get_storage_size()
        if stored != size * dataset.dtype.itemsize:
            self._refuse("an array declares more values than it holds")
        return size, stored

    def _once(self, item: Any) -> None:
        """Refuses a second path to the same object, which could be endless."""
        address = self._h5py.h5o.get_info(item.id).addr
        if address in self._seen:
            self._refuse("an object has two names")
        self._seen.add(address)
        if len(self._seen) > MAX_OBJECTS:
            self._refuse("it holds too many objects")

    def _refuse(self, reason: str) -> None:
        raise InputError(f"{self._path.name} is not as Keras writes weights: {reason}")


@contextlib.contextmanager
def at_most(num_values: int) -> Iterator[None]:
    """Limits the variables made in this context to this many values together: those stored.

    So a few numbers in a configuration cannot exhaust the memory of the machine: InputError is
    raised before it is taken.
    """
    import tensorflow as tf

    left = num_values

    def create(next_creator: Any, **kwargs: Any) -> Any:
        nonlocal left
        shape = tf.TensorShape(kwargs.get("shape"))
        if shape.is_fully_defined():
            left -= shape.num_elements()
        if left < 0:
            raise InputError(_TOO_FEW)
        return next_creator(**kwargs)

    try:
        with tf.variable_creator_scope(create):
            yield
    except ValueError as error:  # Keras writes to it which layer it comes from
        if left < 0:
            raise InputError(_TOO_FEW) from error
        raise
