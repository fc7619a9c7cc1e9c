"""From a run directory to a model, whose archive is read as data."""

import contextlib
import errno
import os
import pathlib
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from uanet_lite.strict_json import MAX_BYTES, check_fields, parse_json, shown
from uanet_tf.config import from_dict, saved_options
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError, one_line
from uanet_tf.files.weight_file import MOST_EXPANSION, at_most, check_weight_file
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.devices import share_gpus
from uanet_tf.resources.shipped import find_run, shipped_models

CONFIG, WEIGHTS, METADATA = "config.json", "model.weights.h5", "metadata.json"
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


def check_archive(path: pathlib.Path) -> None:
    """Reads a saved tagger to its end; InputError, which names it, if it is cut off or damaged."""
    try:
        with _open_archive(path) as archive:
            damaged = archive.testzip()
            if damaged is not None:
                raise InputError(f"its {shown(damaged)} is damaged")
            _, own = _check_class(parse_json(archive.read(CONFIG)))
            from_dict(own["config"])
            saved_options(own["inference"])
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} cannot be loaded as a model: {one_line(error)}") from error


def extract_weights(path: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Writes the weights of a saved tagger, not yet checked, into a file of ``folder``.

    InputError, OSError, ValueError or zipfile.BadZipFile, if the archive is no saved tagger.
    """
    with _open_archive(path) as archive:
        return _extract(archive, folder)


def _extract(archive: zipfile.ZipFile, folder: pathlib.Path) -> pathlib.Path:
    try:
        with archive.open(WEIGHTS) as source, open(folder / WEIGHTS, "wb") as target:
            shutil.copyfileobj(source, target)
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise InputError(
                f"its weights cannot be unpacked into {folder} ({error.strerror}); the environment "
                "variable TMPDIR names another folder for temporary files"
            ) from error
        raise
    return folder / WEIGHTS


@contextlib.contextmanager
def _open_archive(path: pathlib.Path) -> Iterator[zipfile.ZipFile]:
    """The archive, with just the members that Keras writes, each once.

    Keras does not compress them; models that come with the package are compressed. Nothing becomes
    much larger than its part of the archive.
    """
    if not path.is_file():  # a pipe would block
        raise InputError("it is not a regular file")
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(archive)
            yield archive
    except (zlib.error, RuntimeError, EOFError) as error:  # damaged, encrypted, cut off
        raise InputError(f"the archive cannot be unpacked: {one_line(error)}") from error


def _check_members(archive: zipfile.ZipFile) -> None:
    members = {member.filename: member for member in archive.infolist()}
    if len(members) < len(archive.infolist()):
        raise InputError("a name appears twice in the archive")
    for name, member in members.items():
        if name not in (CONFIG, WEIGHTS, METADATA):
            raise InputError(f"the archive holds the unknown member {shown(name)}")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InputError(f"its {name} is compressed in another way than by deflate")
        if member.file_size > MOST_EXPANSION * member.compress_size:
            raise InputError(f"its {name} is {member.file_size:,} bytes, too many for the archive")
    for name in (CONFIG, WEIGHTS):
        if name not in members:
            raise InputError(f"there is no {name} in the archive")


def _check_class(saved: Any) -> tuple[str, dict[str, Any]]:
    """The registered name of the class, and the configuration of the model."""
    where = f"its {CONFIG}"
    if type(saved) is dict and "registered_name" in saved and not saved["registered_name"]:
        raise InputError(f"it is a {_class_name(saved)}, not a tagger of uanet_tf")
    check_fields(
        saved,
        # The module is where Keras would look for the class. Nobody looks there.
        {"module": str, "class_name": str, "registered_name": str, "config": dict},
        {"build_config": dict, "compile_config": type(None)},
        where=where,
    )
    if saved.get("build_config"):
        raise InputError(f"{where} has a build_config, which no tagger has")
    own = check_fields(
        saved["config"],
        {"name": str, "config": dict, "inference": dict, "vocabulary": dict},
        {},
        where=f"{where}, config",
    )
    if not _NAME.fullmatch(own["name"]):
        raise InputError(f"{where} gives the model the name {shown(own['name'])}")
    return saved["registered_name"], own


def _class_name(saved: dict[str, Any]) -> str:
    name = saved.get("class_name")
    plain = isinstance(name, str) and name.isascii() and name.isidentifier() and len(name) <= 60
    return str(name) if plain else shown(name)


# Errors of reading files; TensorFlow's own come from settings that do not fit.
_UNREADABLE = (OSError, RuntimeError, ValueError, KeyError, TypeError, zipfile.BadZipFile)


def load_model(run_dir: str | os.PathLike, **options: Any) -> Tagger:
    """Loads the trained model of a run.

    Safe on files of strangers: the archive is read as data. Its class must be ``Tagger``; nothing
    else that it names is looked up, imported or called (SECURITY.md).

    A GPU's memory is taken as it is needed, and float32 products are computed in full on it, not in
    TF32, so that uncertainties are those of a processor; who prefers speed may call
    ``tf.config.experimental.enable_tensor_float_32_execution(True)`` afterwards.

    Args:
      run_dir: directory of a run, a file of ``model.save``, or the name of a model that comes with
        the package, such as ``"en_ner"``.
      **options: inference options that differ from the run's, see ``InferenceOptions``.

    Returns:
      A Keras model: ``model.predict({"tokens": [B, T] strings, "lengths": [B]})``; see Tagger.

    Raises:
      InputError: there is no trained model in ``run_dir``, or it cannot be read; or a wrong option.
    """
    given = find_run(run_dir)
    path = given if given.is_file() else given / "model.keras"
    if not path.exists():
        begun = (path.parent / "config.json").exists()
        reason = "its training is not finished" if begun else "it is not a run directory"
        names = ", ".join(shipped_models())
        hint = "" if path.parent.exists() else f" Models that come with the package: {names}."
        raise InputError(f"{run_dir} holds no model.keras: {reason}.{hint}")
    share_gpus()
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        model = _load(path)
    except (*_UNREADABLE, tf.errors.OpError) as error:
        raise InputError(f"{path} cannot be loaded as a model: {one_line(error)}") from error
    model.set_options(**options)
    model.run_dir = None if path is given else given
    return model


def _load(path: pathlib.Path) -> Tagger:
    """A saved tagger.

    Its weights are unpacked beforehand: inside the archive every backward seek starts from the
    beginning, and a BERT of 90 MB took 10 seconds.
    """
    with tempfile.TemporaryDirectory(prefix="uanet_tf_") as folder:
        with _open_archive(path) as archive:
            if archive.getinfo(CONFIG).file_size > MAX_BYTES:
                raise InputError(f"its {CONFIG} has more than {MAX_BYTES:,} bytes")
            registered_name, own = _check_class(parse_json(archive.read(CONFIG)))
            config, vocabulary = from_dict(own["config"]), Vocabulary.from_dict(own["vocabulary"])
            options = saved_options(own["inference"])
            weights = _extract(archive, pathlib.Path(folder))
        name = tf.keras.saving.get_registered_name(Tagger)
        if registered_name != name:
            raise InputError(f"it is a {shown(registered_name)}, not a {name}")
        stored = check_weight_file(weights)
        with at_most(stored):
            model = Tagger.from_settings(config, vocabulary, options=options, name=own["name"])
        if stored > sum(variable.shape.num_elements() for variable in model.variables):
            raise InputError("it holds more weights than its configuration asks for")
        model.load_weights(str(weights))
    return model
