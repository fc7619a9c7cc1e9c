"""From a run directory to TensorFlow Lite files, each compared with the run's model."""

import contextlib
import dataclasses
import json
import pathlib
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from absl import logging

from uanet_lite import answers
from uanet_lite.atomic_file import atomic_file
from uanet_lite.lite_tagger import Tagger as LiteTagger
from uanet_lite.model_file import FORMAT, SETTINGS
from uanet_lite.token_ids import FIRST_ID, PADDING_ID, UNKNOWN_ID
from uanet_tf.errors import InputError
from uanet_tf.exporting.sample_inputs import sample_sentences
from uanet_tf.exporting.saved_model import load_for_export
from uanet_tf.exporting.signatures import DEFAULT
from uanet_tf.exporting.tflite.conversion import DYNAMIC, FLOAT16, FLOAT32, convert
from uanet_tf.exporting.tflite.metadata import (
    DESCRIPTION,
    VALUE_LABELS,
    VOCABULARY,
    File,
    TensorInfo,
    add_metadata,
)
from uanet_tf.exporting.verification import ExportMismatchError
from uanet_tf.exporting.version_folders import check_name
from uanet_tf.exporting.vocabulary_files import CHARS, LABELS, WORDS, write_vocabulary_files
from uanet_tf.formats.table import Reading, read_labelled
from uanet_tf.models.tagger import Tagger
from uanet_tf.tagging.streams import tag_stream

ENDINGS = {FLOAT32: "", FLOAT16: "_float16", DYNAMIC: "_dynamic"}
TOLERANCE = 1e-4  # nats
_NATS = ("uncertainty", "mutual_information")
_MOST_SENTENCES = 500
# Of float32, which rounds differently: the last digit may decide a label.
_LEAST_AGREEMENT = 0.999


@dataclasses.dataclass(frozen=True)
class Agreement:
    """How far a file agrees with the model that it was made from."""

    tokens: int  # that were compared
    source: str  # what they are from
    same: float  # share of them that got the same label
    same_where_refined: float  # of those with the model's refined label; NaN where there are none
    uncertainty_error: float  # largest difference, nats

    def __str__(self) -> str:
        refined = ""
        if not np.isnan(self.same_where_refined):
            refined = f" ({100 * self.same_where_refined:.2f} % of the refined ones)"
        return (
            f"{100 * self.same:.2f} % of {self.tokens:,} labels{refined} as the run's model gives "
            f"them, uncertainty within {self.uncertainty_error:.1g} nats ({self.source})"
        )


@dataclasses.dataclass(frozen=True)
class Written:
    """A TensorFlow Lite file: its path, the precision of its weights, its agreement."""

    path: pathlib.Path
    precision: str
    agreement: Agreement


def export_tflite(
    run_dir: str | pathlib.Path,
    export_dir: str | pathlib.Path,
    *,
    name: str = "uanet",
    quantize: bool = False,
    **options: Any,
) -> list[Written]:
    """Writes ``export_dir/name.tflite``, with metadata and vocabularies; see ``convert``.

    The answers for up to 500 sentences of the run's development file are compared with those of
    the run's model before a file takes its name; for generated sentences where it is not found,
    and the agreement says so. A file of that name is replaced.

    Args:
      quantize: also write ``name_float16.tflite`` and ``name_dynamic.tflite``.
      **options: inference options that differ from the run's, see ``InferenceOptions``.

    Raises:
      InputError: no trained run, a wrong argument, or a model that cannot be converted.
      ExportMismatchError: the float32 file's answers differ from the run's model.
    """
    check_name(name, "_text")
    model = load_for_export(run_dir, **options)
    converted = convert(model, tuple(ENDINGS) if quantize else (FLOAT32,))
    sentences, source = _comparison_sentences(model, run_dir)
    folder = pathlib.Path(export_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as parts:
            written = []
            for precision, content in converted.items():
                path = folder / f"{name}{ENDINGS[precision]}.tflite"
                part = pathlib.Path(parts.enter_context(atomic_file(path)))
                logging.info("writing %s", path)
                part.write_bytes(_with_metadata(model, content, name, precision))
                agreement = compare(model, LiteTagger(part), sentences, source)
                wrong = agreement.same < _LEAST_AGREEMENT
                wrong = wrong or not agreement.uncertainty_error <= TOLERANCE
                if wrong and precision == FLOAT32:  # the others are reported, not checked
                    raise ExportMismatchError(f"The TensorFlow Lite file is wrong: {agreement}.")
                written.append(Written(path, precision, agreement))
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}.") from error
    return written


def compare(
    model: Tagger, tagger: LiteTagger, sentences: Sequence[Sequence[str]], source: str = ""
) -> Agreement:
    """Tags the same sentences with both."""
    expected, actual = (list(tag_stream(each, sentences)) for each in (model, tagger))
    pairs = list(zip(expected, actual, strict=True))
    same = np.concatenate([np.equal(one.labels, two.labels) for one, two in pairs])
    refined = np.concatenate([one.refined for one, _ in pairs])
    nats = [name for name in _NATS if expected and getattr(expected[0], name) is not None]
    errors = [
        np.abs(np.subtract(getattr(one, name), getattr(two, name))).max()
        for one, two in pairs
        for name in nats
    ]
    return Agreement(
        tokens=len(same),
        source=source,
        same=float(same.mean()),
        same_where_refined=float(same[refined].mean()) if refined.any() else float("nan"),
        uncertainty_error=float(max(errors)),
    )


def _comparison_sentences(
    model: Tagger, run_dir: str | pathlib.Path
) -> tuple[list[Sequence[str]], str]:
    """Sentences to compare a file and its model on, and what they are from.

    The path of a run's file counts from where it was trained: here, or a folder around the run.
    """
    data = model.settings.data
    source = "generated sentences"
    if data.dev_path:
        starts = (pathlib.Path(), *pathlib.Path(run_dir).resolve().parents)
        found = [start / data.dev_path for start in starts if (start / data.dev_path).is_file()]
        if found:
            corpus = read_labelled(str(found[0]), Reading.of_settings(data))
            return [list(s.tokens) for s in corpus[:_MOST_SENTENCES]], found[0].name
        source += f", since the run's development file {data.dev_path} is not found"
    tokens = sample_sentences(model.vocabulary, range(1, 61))
    return [[token or "." for token in sentence] for sentence in tokens], source


def _with_metadata(model: Tagger, content: bytes, name: str, precision: str) -> bytes:
    given = tagger_files(model, precision)
    about = (
        f"Labels the tokens of one sentence ({model.settings.decoder.decoder}), with an "
        f"uncertainty for each. Weights: {precision}. {SETTINGS} defines how tokens become ids."
    )
    return add_metadata(
        content,
        main=DEFAULT,
        name=name,
        description=about,
        version=str(FORMAT),
        tensors=_TENSORS,
        files={key: File(given[key], *_FILES[key]) for key in given},
    )


_FILES: dict[str, tuple[str, int]] = {
    SETTINGS: ("How tokens become ids, what labels mean, and how the model was made.", DESCRIPTION),
    LABELS: ("Line k (from 0) is label k.", VALUE_LABELS),
    WORDS: ("Line k (from 0) is the normalised word with id k + 2.", VOCABULARY),
    CHARS: ("Line k (from 0): code point, tab, character; its id is k + 2.", VOCABULARY),
}
_TENSORS = {
    "word_ids": TensorInfo("Ids of words; 1: unknown.", ("batch", "token"), (WORDS,)),
    "char_ids": TensorInfo(
        "Ids of each word's characters, 0 after its last; 1: unknown.",
        ("batch", "token", "character"),
        (CHARS,),
    ),
    **{
        tensor.lite_name: TensorInfo(
            tensor.about, tensor.axes, (LABELS,) if tensor.kind is answers.LABEL else ()
        )
        for tensor in answers.tensors(answers.IN_GRAPHS).values()
    },
}


def tagger_files(model: Tagger, precision: str) -> dict[str, bytes]:
    """The files that a ``uanet_lite.Tagger`` of the model needs, {name: content}.

    ``settings.json`` defines how tokens become ids and what the labels mean, ``labels.txt`` holds
    label k in line k, ``words.txt`` and ``chars.txt`` the symbol of id k + 2 in line k (from 0),
    see ``write_vocabulary_files``. If a line cannot hold some word, the settings hold all words.
    """
    with tempfile.TemporaryDirectory(prefix="uanet_tf_") as folder:
        paths = write_vocabulary_files(model, pathlib.Path(folder))
        files = {path.name: path.read_bytes() for path in paths}
    settings = _settings(model, precision)
    if WORDS not in files:
        settings["words"] = list(model.vocabulary.words)
    text = json.dumps(settings, ensure_ascii=False, indent=1)
    return {SETTINGS: text.encode() + b"\n", **files}


def _settings(model: Tagger, precision: str) -> dict[str, Any]:
    data, parts = model.settings.data, model.settings
    return {
        "format": FORMAT,
        "precision": precision,
        "representation": parts.representation.representation,
        "encoder": parts.encoder.encoder,
        "decoder": parts.decoder.decoder,
        **dataclasses.asdict(model.options),
        "threshold": model.threshold,
        "label_scheme": model.label_scheme,
        "max_tokens": model.max_tokens,
        "token_column": data.token_column,
        "tokenizer": model.tokenizer.to_dict(),
        "normalize_digits": data.normalize_digits,
        "lowercase_words": data.lowercase_words,
        "max_chars": data.max_chars,
        "padding_id": PADDING_ID,
        "unknown_id": UNKNOWN_ID,
        "first_id": FIRST_ID,
    }
