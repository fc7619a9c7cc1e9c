"""From a run directory to versioned SavedModels for TF Serving."""

import dataclasses
import functools
import json
import os
import pathlib
import tempfile
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from uanet_lite.argument_checks import check_path
from uanet_tf.errors import InputError
from uanet_tf.exporting import verification
from uanet_tf.exporting.model_card import FILE as CARD
from uanet_tf.exporting.model_card import model_card, read_metrics
from uanet_tf.exporting.sample_inputs import pad, pad_documents, sample_sentences
from uanet_tf.exporting.saved_graph import save_signatures, writing
from uanet_tf.exporting.signatures import DOCUMENT, Signatures
from uanet_tf.exporting.text_tokens import split_text
from uanet_tf.exporting.version_folders import check_name, choose_version, new_versions
from uanet_tf.exporting.vocabulary_files import tables_from_files, write_vocabulary_files
from uanet_tf.files.checksums import write_checksums
from uanet_tf.models.loading import load_model
from uanet_tf.models.tagger import Tagger


def load_for_export(run: Tagger | str | os.PathLike[str], **options: Any) -> Tagger:
    """The model of a run, with options that differ from the run's; a loaded model as it is.

    Raises:
      InputError: no trained run, a wrong option, or a seed that draws new masks at each call.
    """
    run = getattr(run, "model", run)  # of what uanet_tf.train gives
    if isinstance(run, Tagger) and options:
        raise InputError(
            f"options of a loaded model are set on it (model.{min(options)} = ...), not in its "
            "export."
        )
    model = run if isinstance(run, Tagger) else load_model(run, **options)
    seed = model.options.mc_seed
    if seed < 0 and model.options.num_samples:
        raise InputError(
            f"An exported model gives the same answer at each call, but `mc_seed={seed}` draws "
            "new masks: name a seed of at least 0 with `mc_seed`."
        )
    if said := model.broken_promise(options):
        logging.warning("%s", said)
    return model


TEXT_ENDING = "_text"
# (sentences, tokens) of warm-up requests: TensorFlow prepares a graph for the first call, and
# memory for each size.
_WARM_UP_SHAPES = ((1, 8), (1, 32), (1, 128), (16, 32))
Requests = Sequence[tuple[str, Mapping[str, np.ndarray]]]


@dataclasses.dataclass(frozen=True)
class Exported:
    """The result of an export.

    Attributes:
      version: the version's number.
      path: directory of the SavedModel that takes tokens.
      text_path: that of the one that takes raw text; None if not wanted.
    """

    version: int
    path: pathlib.Path
    text_path: pathlib.Path | None


def export(
    run: Tagger | str | os.PathLike[str],
    export_dir: str | os.PathLike[str],
    *,
    name: str = "uanet",
    version: int | None = None,
    text: bool = True,
    **options: Any,
) -> Exported:
    """Writes SavedModels, ``export_dir/name/version`` and ``export_dir/name_text/version``.

    Each is written beside its place, loaded, compared with the run's model and then renamed. A
    version holds the SavedModel, its vocabularies as assets, and in ``assets.extra`` the warm-up
    requests, a model card and the checksums of all files. See ``signatures`` for the calls.

    Args:
      run: a loaded model, what ``uanet_tf.train`` gives, the directory of a trained run, or the
        name of a model that comes with the package.
      export_dir: where the models' folders are.
      name: of the model; the one that takes raw text is ``name_text``.
      version: from 1 on; None: the next free one.
      text: also write the model that takes raw text, which needs tensorflow-text.
      **options: of a run, inference options that differ from its own, see ``InferenceOptions``.

    Raises:
      InputError: no trained run, a wrong argument, or a version that exists.
      ExportMismatchError: the exported model's answers differ from the run's.
    """
    check_name(name, TEXT_ENDING)
    parent = pathlib.Path(check_path("export_dir", export_dir))
    folders = [parent / name, parent / (name + TEXT_ENDING)]
    choose_version(folders, version)  # before anything slow is done
    model = load_for_export(run, **options)
    metrics = {} if model.run_dir is None else read_metrics(model.run_dir)
    signatures, answer = Signatures(model), verification.reference(model)
    wanted = folders if text else folders[:1]
    # Both models share their versions, even where only one of them is wanted.
    with new_versions(wanted, version, shared=folders) as (number, parts):
        for folder, part in zip(wanted, parts, strict=True):
            title = f"{folder.name}, version {number}"
            logging.info("writing %s", title)
            is_text = folder == folders[1]
            loaded, requests = _write(signatures, part, answer, text=is_text)
            foreign = verification.verify_operations(part)
            card = model_card(model, metrics, loaded.signatures, title=title, foreign=foreign)
            extra = part / "assets.extra"
            with writing(extra):
                extra.mkdir()
                (extra / CARD).write_text(card, encoding="utf-8")
                if model.gate is not None:
                    gate = json.dumps({"threshold": model.threshold})
                    (extra / GATE).write_text(gate, encoding="utf-8")
                with tf.io.TFRecordWriter(str(extra / WARM_UP)) as writer:
                    for signature, inputs in requests:
                        writer.write(prediction_log(folder.name, signature, inputs))
                write_checksums(part)
    paths = [folder / str(number) for folder in folders]
    return Exported(number, paths[0], paths[1] if text else None)


def save_tokens(
    signatures: Signatures, path: pathlib.Path, only: Collection[str] | None = None
) -> list[str]:
    """Writes the SavedModel that takes tokens, unchecked; returns the names of its signatures.

    ``only`` names the wanted ones; None: all.
    """
    calls = signatures.of_tokens()
    wanted = {name: calls[name] for name in only or calls}
    _save(wanted, path, signatures.model)
    return list(wanted)


def _write(
    signatures: Signatures, path: pathlib.Path, answer: verification.Answer, *, text: bool
) -> tuple[Any, Requests]:
    """Writes and checks the model of tokens, or of ``text``; gives it, loaded, and requests."""
    model = signatures.model
    split = functools.partial(split_text, tokenizer=model.tokenizer)
    calls = signatures.of_text(split) if text else signatures.of_tokens()
    _save(calls, path, model)
    requests: list[tuple[str, Mapping[str, np.ndarray]]] = []
    for count, length in _WARM_UP_SHAPES:
        sentences = sample_sentences(model.vocabulary, [length] * count)
        texts = {"text": np.array([" ".join(words) for words in sentences], object)}
        gamma = np.full(count, model.threshold or 0.0, np.float32)
        for name in calls:
            asked: Mapping[str, np.ndarray] = texts
            if not text:
                asked = pad_documents([sentences]) if name == DOCUMENT else pad(sentences)
                asked = verification.ids_of(model, asked) if name == "ids" else asked
            requests.append((name, {**asked, "threshold": gamma} if "threshold" in name else asked))
    verify = verification.verify_text if text else verification.verify_tokens
    return verify(model, path, requests, answer), requests


def _save(calls: Mapping[str, Any], path: pathlib.Path, model: Tagger) -> None:
    """Writes signatures, with vocabulary files in place of the model's tables."""
    # A folder of its own for each: tables of files of one name would be one table.
    with tempfile.TemporaryDirectory(prefix="uanet_tf_") as folder:
        with writing(folder):
            files = write_vocabulary_files(model, pathlib.Path(folder))
        with tables_from_files(model, files):
            save_signatures(calls, path, owner=model, assets=files)


GATE = "gate.json"  # Gamma in nats, of a model with a gate
WARM_UP = "tf_serving_warmup_requests"

# Numbers of the fields in prediction_log.proto, predict.proto and model.proto of TF Serving.
_LOG_PREDICT_LOG = 6
_PREDICT_LOG_REQUEST = 1
_REQUEST_MODEL_SPEC, _REQUEST_INPUTS = 1, 2
_SPEC_NAME, _SPEC_SIGNATURE = 1, 3
_MAP_KEY, _MAP_VALUE = 1, 2
_LENGTH_DELIMITED = 2


def prediction_log(model: str, signature: str, inputs: Mapping[str, np.ndarray]) -> bytes:
    """A PredictionLog of one predict request, as bytes; inputs in alphabetical order."""
    spec = _field(_SPEC_NAME, model.encode()) + _field(_SPEC_SIGNATURE, signature.encode())
    request = _field(_REQUEST_MODEL_SPEC, spec)
    for name in sorted(inputs):
        tensor = tf.make_tensor_proto(inputs[name]).SerializeToString(deterministic=True)
        entry = _field(_MAP_KEY, name.encode()) + _field(_MAP_VALUE, tensor)
        request += _field(_REQUEST_INPUTS, entry)
    return _field(_LOG_PREDICT_LOG, _field(_PREDICT_LOG_REQUEST, request))


def _field(number: int, content: bytes) -> bytes:
    """A length-delimited field: its tag, the length of its content, its content."""
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Seven bits per byte, the lowest first; the top bit of a byte marks that more follow."""
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
