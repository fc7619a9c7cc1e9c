"""A model on labelled data: its scores, and the page that shows them."""

import os
import pathlib
import time
from collections.abc import Sequence
from typing import Any

from absl import logging

from uanet_lite.atomic_file import open_output
from uanet_lite.notes import Notes
from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import OUTSIDE
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.data.documents import independent_units
from uanet_tf.data.label_doubts import check_chunk_labels
from uanet_tf.errors import SentencesError
from uanet_tf.evaluation.evaluation import (
    Evaluation,
    distilled_scores,
    evaluate_tagged,
    has_trained_head,
    one_pass,
)
from uanet_tf.evaluation.report_page import ReportInput, report_page
from uanet_tf.formats.labelled_data import LabelledData, labelled_sentences
from uanet_tf.formats.table import Reading
from uanet_tf.metrics.target_recall import Shown, shown_spans
from uanet_tf.settings import other_options
from uanet_tf.tagging.monitor import training_words
from uanet_tf.tagging.streams import check_model, tag_in_context

_WARM_UP_SENTENCES = 8


def evaluate(model: Any, data: LabelledData) -> Evaluation:
    """Scores a model on labelled data.

    Args:
      model: a loaded model.
      data: a path of any format, a list of ``(tokens, labels)``, or a DataFrame; see ``train``. A
        file is read as those of the model's training.

    Returns:
      The numbers of ``uanet evaluate``; ``print`` shows them as a table.

    Raises:
      InputError: no model, data that cannot be read, or labels that are not of its kind.

    Example:
      >>> evaluation = uanet_tf.evaluate(model, "test.conll")
      >>> print(evaluation)
      >>> evaluation.metrics["f1"], evaluation.types["ORG"]["recall"]
    """
    return evaluate_sentences(model, _read(model, data))


def report(
    model: Any, data: LabelledData, output: str | os.PathLike[str] = "report.html"
) -> pathlib.Path:
    """Writes the HTML report of a model on labelled data, as ``uanet report``.

    Args:
      model: a loaded model.
      data: see ``evaluate``.
      output: the file to write.

    Returns:
      Its path.

    Raises:
      InputError: see ``evaluate``; or the file cannot be written.
    """
    sentences = _read(model, data)
    name = os.path.basename(data) if isinstance(data, str | os.PathLike) else "data"
    with open_output(os.fspath(output)) as stream:
        stream.write(report_of(model, sentences, title=model.name, data=str(name)))
    return pathlib.Path(output)


def _read(model: Any, data: LabelledData) -> list[Sentence]:
    check_model(model)
    notes = Notes()
    sentences = labelled_sentences(data, "data", Reading.of_settings(model.settings.data), notes)
    name = os.fspath(data) if isinstance(data, str | os.PathLike) else "data"
    for line in notes.lines():
        logging.warning("%s: %s", name, line)
    if model.label_scheme is not None:
        try:
            check_chunk_labels(sentences)
        except SentencesError as error:
            raise error.of_file(name) from None
    return sentences


def evaluate_sentences(model: Any, sentences: Sequence[Sentence], **sizes: Any) -> Evaluation:
    """Scores a model on sentences; their labels are of its kind."""
    with other_options(model, refine_all=True):
        tagged, seconds = tag_timed(model, sentences, **sizes)
    with one_pass(model):
        plain, _ = tag_timed(model, sentences, **sizes)
    distilled = None
    if has_trained_head(model):
        answers = {model.sampling: tagged, "one_pass": plain}
        other = "exact" if model.sampling == "distilled" else "distilled"
        with other_options(model, sampling=other):
            answers[other], _ = tag_timed(model, sentences, **sizes)
        distilled = distilled_scores(model, sentences, answers, task=_task(model))
    return _scored(model, sentences, tagged, seconds, plain, distilled)


def report_of(
    model: Any, sentences: Sequence[Sentence], *, title: str, data: str, **sizes: Any
) -> str:
    """The page of a model and sentences."""
    with other_options(model, refine_all=True):
        tagged, seconds = tag_timed(model, sentences, **sizes)
    with one_pass(model):
        plain, _ = tag_timed(model, sentences, **sizes)
    return report_page(
        ReportInput(
            title=title,
            data=data,
            evaluation=_scored(model, sentences, tagged, seconds, plain),
            gold=[sentence.labels for sentence in sentences],
            tagged=tagged,
            plain=plain,
            threshold=model.threshold,
            known=training_words(model, sentences),
            shown=None if model.label_scheme is None else _shown(model, sentences, sizes),
            targets=model.targets,
        )
    )


def _scored(
    model: Any,
    sentences: Sequence[Sentence],
    tagged: Sequence[TaggedSentence],
    seconds: float,
    plain: Sequence[TaggedSentence],
    distilled: dict[str, Any] | None = None,
) -> Evaluation:
    return evaluate_tagged(
        [sentence.labels for sentence in sentences],
        tagged,
        task=_task(model),
        threshold=model.threshold,
        seconds=seconds,
        known_labels=model.label_names,
        one_pass=plain,
        distilled=distilled,
        known=training_words(model, sentences),
    )


def _shown(model: Any, sentences: Sequence[Sentence], sizes: dict[str, Any]) -> Shown:
    """What there is to show a person of the sentences, and how probable it is."""
    from uanet_tf.models.candidates import all_candidates  # TensorFlow

    accepts = None
    if "precision" in model.targets:
        pairs = zip(model.class_names, model.acceptance.thresholds.numpy().tolist(), strict=True)
        accepts = {name[2:]: threshold for name, threshold in pairs if name != OUTSIDE}
    with all_candidates(model):
        tagged = [answer for _, answer in tag_in_context(model, sentences, **sizes)]
    gold = [sentence.labels for sentence in sentences]
    return shown_spans(gold, tagged, independent_units(sentences).tolist(), accepts)


def _task(model: Any) -> str:
    return "pos" if model.label_scheme is None else "ner"


def tag_timed(
    model: Any, sentences: Sequence[Sentence], **sizes: Any
) -> tuple[list[TaggedSentence], float]:
    """The answers for sentences, and the seconds that they took."""
    # The first call builds the model's graph, which is not what is timed.
    list(tag_in_context(model, sentences[:_WARM_UP_SENTENCES], **sizes))
    start = time.perf_counter()
    tagged = [answer for _, answer in tag_in_context(model, sentences, **sizes)]
    return tagged, time.perf_counter() - start
