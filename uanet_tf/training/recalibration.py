"""Fits the confidence of a finished run to other labelled sentences."""

import json
import os
from collections.abc import Sequence
from typing import Any

from uanet_lite.sentence import Sentence
from uanet_tf.config import load_config
from uanet_tf.data.label_doubts import check_chunk_labels
from uanet_tf.errors import InputError, SentencesError
from uanet_tf.metrics.scoring import unknown_labels
from uanet_tf.models.loading import load_model
from uanet_tf.models.tagger import Tagger
from uanet_tf.training.confidence_fit import calibrate
from uanet_tf.training.development import development_reference
from uanet_tf.training.run_directory import RunDirectory


def recalibrate(
    run_dir: str | os.PathLike[str],
    sentences: Sequence[Sentence],
    *,
    target_precision: float = 0.0,
    target_by_type: bool = False,
) -> dict[str, Any]:
    """Calibrates the model of a run anew; writes it, and ``calibration`` and ``monitoring``.

    Args:
      run_dir: of a complete run.
      sentences: with labels; the run was not trained on them.
      target_precision, target_by_type: see ``calibrate``.

    Returns:
      What ``calibrate`` gives; also "unknown_labels", those that the model does not know with their
      counts, and "target_before", the run's target precision until now.

    Raises:
      InputError: the run is not complete, is being changed by another process, cannot be read or
        written, or no label of the sentences is one that the model gives.
    """
    run = RunDirectory(run_dir)
    load_config(str(run.path))  # a folder that is no run is not written to
    with run.changing():
        return _recalibrate(run, sentences, target_precision, target_by_type)


def _recalibrate(
    run: RunDirectory,
    sentences: Sequence[Sentence],
    target_precision: float,
    target_by_type: bool,
) -> dict[str, Any]:
    model = load_model(run.path)
    model.calibration.await_map()
    metrics = run.finished_metrics()
    if metrics is None:
        raise InputError(f"--run_dir={run.path} holds no complete run: finish its training.")
    task = "pos" if model.label_scheme is None else "ner"
    if task == "ner":
        check_chunk_labels(sentences)
    unknown = _unknown_labels(model, sentences, task)
    target_before, calibrated = model.acceptance.target_precision, model.calibrated
    metrics["calibration"] = calibrate(
        model,
        sentences,
        task,
        target_precision=target_precision,
        target_by_type=target_by_type,
    )
    metrics |= development_reference(model, sentences)
    model.calibrated = calibrated  # the run's own options stay those of the saved model
    # Both are whole before either takes its name: a process that ends leaves no mixture.
    with run.writing(run.model) as part:
        model.save(part)
        run.write(run.metrics, json.dumps(metrics, indent=2) + "\n")
    return {
        **metrics["calibration"],
        "unknown_labels": unknown,
        "target_before": target_before,
    }


def _unknown_labels(model: Tagger, sentences: Sequence[Sentence], task: str) -> dict[str, int]:
    """Labels that the model does not know.

    Raises:
      SentencesError: it knows none of an answer: the confidence would be fitted to errors only.
    """
    labels = [sentence.labels for sentence in sentences]
    unknown = unknown_labels(labels, model.label_names, task)
    of_answers = sum(label != "O" or task == "pos" for row in labels for label in row)
    if of_answers == sum(unknown.values()):
        kind = "label" if task == "pos" else "entity"
        known = sorted(
            {label if task == "pos" else label[2:] for label in model.label_names if label != "O"}
        )
        raise SentencesError(
            f"there is no {kind} that the model gives ({', '.join(known)}): there is nothing to "
            "calibrate to."
        )
    return unknown
