"""Fits the confidence of answers, and from which on they are accepted, to labelled sentences."""

import dataclasses
import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging

from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import BIOES, decode_spans
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.config import load_config
from uanet_tf.data.documents import independent_units
from uanet_tf.data.label_doubts import check_chunk_labels
from uanet_tf.errors import InputError, SentencesError
from uanet_tf.metrics import scoring
from uanet_tf.metrics.answer_group import AnswerGroup, answer_groups
from uanet_tf.metrics.logistic_map import apply_logistic_map, fit_logistic_map, smooth_targets
from uanet_tf.metrics.run_metrics import metrics_text
from uanet_tf.metrics.scoring import unknown_labels
from uanet_tf.metrics.target_precision import ERROR, NEVER, Acceptance, accept_from
from uanet_tf.metrics.target_recall import (
    Inclusion,
    Shown,
    cost_curve,
    cost_of,
    include_from,
    promised_costs,
    refusal,
    shown_spans,
)
from uanet_tf.models.candidates import Candidates, all_candidates
from uanet_tf.models.confidence import OUTSIDE, REFINED, ROWS, SMALLEST
from uanet_tf.models.loading import load_model
from uanet_tf.models.tagger import Tagger
from uanet_tf.tagging.streams import tag_in_context
from uanet_tf.training.development import development_reference
from uanet_tf.training.run_directory import RunDirectory

# More of the probability, less of the uncertainty: nothing else means more confidence.
_SIGNS = (1, -1)
_PROBABILITY = (1.0, 0.0, 0.0)  # a row that leaves the probability as it is
# Where the run's gate lets fewer refined labels through than these, they are calibrated on this
# share of the tokens, those of the highest uncertainty.
_FEWEST, _PASSED = 50, 0.05


def calibrate(
    tagger: Tagger,
    sentences: Sequence[Sentence],
    task: str,
    *,
    target_precision: float = 0.0,
    target_recall: float = 0.0,
    target_by_type: bool = False,
    seed: int = 1,
) -> dict[str, Any]:
    """Fits the maps of ``tagger.calibration`` and of its candidates to labelled sentences.

    A run whose gate is shut, or nearly, gives no refined label, or too few to fit a map to; theirs
    is then fitted with the gate open, for users who give another Gamma.

    With a target precision the map is fitted to a random half of the sentences, and the confidence
    from which answers are accepted is found on the other: the promise holds for answers to which
    nothing was fitted. A document, where the file marks them, is in one half, and its answers count
    as dependent. A target recall is found there too; two targets hold at once, each with half of
    the probability to be missed.

    Args:
      tagger: with its final weights and Gamma.
      sentences: development data, which no weight was fitted to.
      task: "ner" or "pos".
      target_precision, target_recall: in [0, 1); 0: there is none, and what was set is forgotten.
      target_by_type: a threshold for each type.
      seed: of the halves.

    Returns:
      For "tokens" and, for "ner", "entities": ``size``, and ``ece_before`` and ``ece_after``,
      expected calibration errors of the uncalibrated and of the calibrated confidence on all
      these sentences in percent, and ``brier_after``, the Brier score; of a tagger that was
      calibrated before also ``ece_until_now`` and ``brier_until_now``. With a target also
      "acceptance", see ``accept``. For "ner" also "candidates", see ``include``.

    Raises:
      SentencesError: there is a target, and nothing to find its threshold on.
    """
    gold = [sentence.labels for sentence in sentences]
    until_now = {}
    if tagger.calibration.is_fitted:
        tagger.calibrated = True
        until_now = answer_groups(gold, _tag(tagger, sentences), task)
        tagger.calibrated = False
    plain = _tag(tagger, sentences)
    unit = independent_units(sentences)
    order, half = np.arange(len(sentences)), len(sentences)
    error = ERROR / 2 if target_precision and target_recall else ERROR
    if target_precision or target_recall:
        order, half = _halves(unit, seed)
        if half == len(sentences):
            kind = "precision" if target_precision else "recall"
            raise SentencesError(
                f"a target {kind} needs two sentences (or documents, where the file marks them) at "
                "least: the map is fitted to one half, and the threshold found on the other."
            )
    truths, answers = ([part[k] for k in order[:half]] for part in (gold, plain))
    rows = fit_map(truths, answers, task)
    rare = []
    if tagger.gate is not None:
        number = map_features(answers)[1]
        rare = [row for row in REFINED if np.sum(number == row) < _FEWEST]
    if rare and (opened := _tag_with_open_gate(tagger, sentences, plain)):
        rows[rare] = fit_map(truths, [opened[k] for k in order[:half]], task)[rare]
    tagger.calibration.set_map(rows)
    tagger.acceptance.set_target(0.0, np.zeros(len(tagger.class_names)))
    tagger.calibrated = True
    calibrated = _tag_with_all_candidates(tagger, sentences)
    before, after = (answer_groups(gold, tagged, task) for tagged in (plain, calibrated))
    report: dict[str, Any] = {}
    for name, group in before.items():
        errors = {"ece_before": group.error, "ece_after": after[name].error}
        report[name] = {"size": len(group.right), **errors, "brier_after": after[name].brier}
        if name in until_now:
            own = until_now[name]
            report[name] |= {"ece_until_now": own.error, "brier_until_now": own.brier}
        logging.info("calibrated %s: ECE on dev %.2f %% -> %.2f %%", name, *errors.values())
    if target_precision:
        truths, answers = ([part[k] for k in order[half:]] for part in (gold, calibrated))
        group = answer_groups(truths, answers, task)["entities" if task == "ner" else "tokens"]
        group = group._replace(sentences=unit[order[half:]][group.sentences])
        report["acceptance"] = accept(
            tagger, group, target=target_precision, by_type=target_by_type, error=error
        )
    if tagger.candidates is not None:
        truths, answers = ([part[k] for k in order[:half]] for part in (gold, calibrated))
        span_map = fit_span_map(truths, answers)
        tagger.candidates.set_map(span_map)
        tested = order[half:] if half < len(order) else order  # without a target, costs only
        shown = shown_spans(
            [gold[k] for k in tested],
            [with_probabilities(calibrated[k], span_map) for k in tested],
            unit[tested],
            accepted_from(report.get("acceptance"), tagger.candidates.types),
        )
        report["candidates"] = include(
            tagger.candidates,
            shown,
            target=target_recall,
            by_type=target_by_type,
            error=error,
            accepts=target_precision > 0,
        )
    return report


def fit_map(gold: scoring.Labels, tagged: Sequence[TaggedSentence], task: str) -> np.ndarray:
    """The map [4, 3] of ``Calibration`` for uncalibrated answers and their gold labels.

    A group of labels without answers keeps the probability as it is.
    """
    right = scoring.right_tokens(gold, [answer.labels for answer in tagged], task=task)
    return fit_rows(*map_features(tagged), right)


def _tag_with_all_candidates(tagger: Tagger, sentences: Sequence[Sentence]) -> list[TaggedSentence]:
    """Answers with candidates of any probability, not calibrated; forgets what was set."""
    if tagger.candidates is None:
        return _tag(tagger, sentences)
    tagger.candidates.reset()
    with all_candidates(tagger):
        return _tag(tagger, sentences)


def fit_span_map(gold: scoring.Labels, tagged: Sequence[TaggedSentence]) -> np.ndarray:
    """The map (a, b) of ``Candidates`` for uncalibrated candidates: Platt scaling, as of labels."""
    probability, right = [], []
    for labels, answer in zip(gold, tagged, strict=True):
        entities = set(decode_spans(labels, BIOES))  # leniently, so in any scheme
        for each in answer.candidates or ():
            probability.append(each.probability)
            right.append((each.type, each.token_start, each.token_end) in entities)
    if not any(right) or all(right):
        return np.array([1.0, 0.0])
    logit = _logit(np.array(probability))[:, np.newaxis]
    return fit_logistic_map(logit, smooth_targets(np.array(right)), signs=(1,))


def with_probabilities(sentence: TaggedSentence, row: np.ndarray) -> TaggedSentence:
    """With candidates calibrated by a map (a, b)."""
    spans = sentence.candidates or []
    found = apply_logistic_map(row, _logit(np.array([each.probability for each in spans]))[:, None])
    kept = [each._replace(probability=p) for each, p in zip(spans, found.tolist(), strict=True)]
    return dataclasses.replace(sentence, candidates=kept)


def _logit(p: np.ndarray) -> np.ndarray:
    p = np.clip(p, SMALLEST, 1.0 - SMALLEST)
    return np.log(p) - np.log1p(-p)


def fit_rows(features: np.ndarray, number: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The map [4, 3] from what ``map_features`` gives, and which labels are right, [N]."""
    rows = np.tile(_PROBABILITY, [ROWS, 1])
    scale = features.std(axis=0) if len(features) else None
    for row in np.unique(number):
        chosen = number == row
        targets = smooth_targets(right[chosen])
        rows[row] = fit_logistic_map(features[chosen], targets, signs=_SIGNS, scale=scale)
    return rows


def map_features(tagged: Sequence[TaggedSentence]) -> tuple[np.ndarray, np.ndarray]:
    """The features [N, 2] of all tokens, and the row of the map [N] that is theirs."""
    p = np.concatenate([answer.confidence for answer in tagged])
    nats = np.concatenate([answer.uncertainty for answer in tagged])
    refined = np.concatenate([answer.refined for answer in tagged]).astype(int)
    outside = np.array([label == OUTSIDE for answer in tagged for label in answer.labels])
    return np.column_stack([_logit(p), nats]), refined + 2 * outside


def _halves(unit: np.ndarray, seed: int) -> tuple[np.ndarray, int]:
    """Sentences in an order in which units are shuffled, and how many are of the first half."""
    count = int(unit.max(initial=-1)) + 1
    place = np.argsort(np.random.default_rng([seed, 2]).permutation(count))[unit]
    return np.argsort(place, kind="stable"), int(np.sum(place < (count + 1) // 2))


def _tag_with_open_gate(
    tagger: Tagger, sentences: Sequence[Sentence], answers: Sequence[TaggedSentence]
) -> list[TaggedSentence]:
    """Answers with the share ``_PASSED`` of the tokens above Gamma; none where as many are."""
    gamma = tagger.threshold
    nats = np.concatenate([answer.uncertainty for answer in answers] or [[]])
    opened = float(np.quantile(nats, 1.0 - _PASSED)) if len(nats) else gamma
    if opened >= gamma:
        return []
    tagger.threshold = opened
    try:
        return _tag(tagger, sentences)
    finally:
        tagger.threshold = gamma


def _tag(tagger: Tagger, sentences: Sequence[Sentence]) -> list[TaggedSentence]:
    return [answer for _, answer in tag_in_context(tagger, sentences)]


ALL = "all"


def accept(
    tagger: Tagger, answers: AnswerGroup, *, target: float, by_type: bool, error: float = ERROR
) -> dict[str, Any]:
    """Sets ``tagger.acceptance`` of a calibrated tagger; graphs made before do not know of it.

    Args:
      answers: its entities, or tokens where labels are no chunks, of sentences that neither its
        weights nor its calibration was fitted to.
      target: precision, in (0, 1).
      by_type: a threshold for each type, else one for all together.
      error: probability with which the target may be missed.

    Returns:
      ``target``, ``error``, ``by_type``; ``all``, and for each type an entry of ``types``, with the
      fields of ``metrics.target_precision.Acceptance``.
    """
    find = functools.partial(accept_from, target=target, error=error)
    columns = answers.confidence, answers.right, answers.sentences
    together, types = find(*columns), _by_type(find, columns, answers.types)
    tagger.acceptance.set_target(
        target, _thresholds(tagger, together.threshold, types if by_type else None)
    )
    for name, found in types.items() if by_type else [("all types", together)]:
        _tell(name, found)
    return _promise(target, error, by_type, together, types)


def _by_type(
    find: Callable[..., Any], columns: Sequence[Any], of: np.ndarray, names: Iterable[str] = ()
) -> dict[str, Any]:
    """What ``find`` gives for the rows of each type, of those named or else of all."""
    masks = {name: of == name for name in names or sorted(set(of))}
    return {name: find(*(each[mask] for each in columns)) for name, mask in masks.items()}


def _promise(
    target: float, error: float, by_type: bool, together: Any, types: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "target": target,
        "error": error,
        "by_type": by_type,
        ALL: together._asdict(),
        "types": {name: found._asdict() for name, found in types.items()},
    }


def accepted_from(
    acceptance: Mapping[str, Any] | None, types: Sequence[str]
) -> dict[str, float] | None:
    """By type, the confidence from which entities are accepted; None: there is no target."""
    if acceptance is None:
        return None
    if acceptance["by_type"]:
        return {name: found["threshold"] for name, found in acceptance["types"].items()}
    return dict.fromkeys(types, acceptance[ALL]["threshold"])


def include(
    candidates: Candidates,
    shown: Shown,
    *,
    target: float,
    by_type: bool,
    error: float,
    accepts: bool,
) -> dict[str, Any]:
    """Sets from which probability on spans are candidates, if there is a target.

    Args:
      candidates: of a tagger, with their map.
      shown: of sentences that neither its weights nor its calibration was fitted to.
      target: recall, in [0, 1); 0: there is none, and only costs are found.
      by_type, error: see ``accept``.
      accepts: whether there is a target precision.

    Returns:
      ``accepts``; ``costs``, see ``target_recall.promised_costs``; and ``curve``, pairs of a
      threshold and its cost. With a target also ``target``, ``error``, ``by_type``; ``all``, and
      for each type of the tagger an entry of ``types``, with the fields of
      ``target_recall.Inclusion``; and the ``cost`` where it can be promised.
    """
    report: dict[str, Any] = {
        "accepts": accepts,
        "costs": promised_costs(shown, error=error, accepts=accepts),
        "curve": [[t, cost._asdict()] for t, cost in cost_curve(shown, accepts=accepts)],
    }
    if not target:
        return report
    find = functools.partial(include_from, target=target, error=error)
    columns = shown.score, shown.units
    together, types = find(*columns), _by_type(find, columns, shown.types, candidates.types)
    parts = types if by_type else {"all types": together}
    missed = {name: found for name, found in parts.items() if not found.reached}
    if not missed:  # half a promise is none: nobody could see where it holds
        chosen = {name: (types[name] if by_type else together).threshold for name in types}
        thresholds = {name: t for name, t in chosen.items() if t is not None}
        candidates.set_target(target, np.array([thresholds[name] for name in types]))
        report["cost"] = cost_of(shown, thresholds, accepts=accepts)._asdict()
    for name, found in (missed or parts).items():
        _tell_recall(name, found)
    return report | _promise(target, error, by_type, together, types)


def _tell_recall(name: str, found: Inclusion) -> None:
    if found.threshold is not None:
        logging.info(
            "recall %g, %s: candidates from probability %.4f on, %.1f %% of %d entities of dev",
            *(found.target, name, found.threshold, 100 * found.recall, found.entities),
        )
        return
    logging.warning("recall %g, %s: %s: nothing is promised", found.target, name, refusal(found))


def _thresholds(
    tagger: Tagger, together: float, types: Mapping[str, Acceptance] | None
) -> np.ndarray:
    """The threshold of each class of the tagger."""
    thresholds, chunks = [], tagger.label_scheme is not None
    for name in tagger.class_names:
        if chunks and name == OUTSIDE:
            thresholds.append(NEVER)  # no entity
        elif types is None:
            thresholds.append(together)
        else:
            found = types.get(name[2:] if chunks else name)
            thresholds.append(NEVER if found is None else found.threshold)
    return np.array(thresholds)


def _tell(name: str, found: Acceptance) -> None:
    answers = f"{found.answers:,} {'answer' if found.answers == 1 else 'answers'}"
    if found.reached:
        logging.info(
            "precision %g, %s: accepted from confidence %.3f on, %.1f %% of %s of dev",
            *(found.target, name, found.threshold, 100 * found.accepted, answers),
        )
        return
    logging.warning(
        "precision %g, %s: cannot be promised with a probability of %g from %s of dev: "
        "nothing is accepted%s",
        *(found.target, name, 1 - found.error, answers),
        f". The highest that can: {found.best:.2f}" if found.best else "",
    )


def recalibrate(
    run_dir: str | os.PathLike[str],
    sentences: Sequence[Sentence],
    *,
    target_precision: float = 0.0,
    target_recall: float = 0.0,
    target_by_type: bool = False,
) -> dict[str, Any]:
    """Calibrates the model of a run anew; writes it, and ``calibration`` and ``monitoring``.

    The run was not trained on the sentences, which have labels. Targets: see ``calibrate``.

    Returns:
      What ``calibrate`` gives; also "unknown_labels", those that the model does not know with their
      counts, and "targets_before", the run's targets until now that it has no longer, by name.

    Raises:
      InputError: the run is not complete, is being changed by another process, cannot be read or
        written, or no label of the sentences is one that the model gives; or a target recall cannot
        be promised; or there is no target, and the confidence would be worse than it is.
    """
    run = RunDirectory(run_dir)
    load_config(str(run.path))  # a folder that is no run is not written to
    with run.changing():
        model = load_model(run.path)
        model.calibration.await_map()
        metrics = run.finished_metrics()
        if metrics is None:
            raise InputError(f"`run_dir={run.path}` holds no complete run: finish its training.")
        task = "pos" if model.label_scheme is None else "ner"
        if task == "ner":
            check_chunk_labels(sentences)
        unknown = _unknown_labels(model, sentences, task)
        before, calibrated = model.targets, model.calibrated
        found = calibrate(
            model,
            sentences,
            task,
            target_precision=target_precision,
            target_recall=target_recall,
            target_by_type=target_by_type,
        )
        if not (target_precision or target_recall):
            _refuse_worse(found)
        _check_recall(found)
        metrics |= {"calibration": found, **development_reference(model, sentences)}
        model.calibrated = calibrated  # the run's own options stay those of the saved model
        # Both are whole before either takes its name: a process that ends leaves no mixture.
        with run.writing(run.model) as part:
            model.save(part)
            run.write(run.metrics, metrics_text(metrics))
    lost = {name: target for name, target in before.items() if name not in model.targets}
    return {**found, "unknown_labels": unknown, "targets_before": lost}


def _check_recall(report: Mapping[str, Any]) -> None:
    """Raises SentencesError where there is a target recall, and it cannot be promised."""
    found = report.get("candidates", {})
    if "target" not in found:
        return
    parts = found["types"] if found["by_type"] else {"": found[ALL]}
    missed = {name: Inclusion(**part) for name, part in parts.items() if part["threshold"] is None}
    told = [f"{name and f'of {name} '}{refusal(part)}" for name, part in missed.items()]
    if told:
        raise SentencesError(f"a recall of {found['target']:g} {'; '.join(told)}.")


def _refuse_worse(found: Mapping[str, Any]) -> None:
    """Raises SentencesError where the confidence is worse than until now, by its Brier score.

    ECE is not asked: it is no proper score, and a few answers in another bin move it. With a target
    it may be worse: the map is then fitted to one half, so that the other can promise.
    """
    name = "entities" if "entities" in found else "tokens"
    now, after = found[name].get("brier_until_now"), found[name].get("brier_after")
    if now is not None and after > now + 1e-4:
        raise SentencesError(
            f"a calibration to it would be worse than the run's own: the Brier score of its {name} "
            f"is {now:.4f} and would be {after:.4f}. Nothing is written."
        )


def _unknown_labels(model: Tagger, sentences: Sequence[Sentence], task: str) -> dict[str, int]:
    """Labels that the model does not know; raises SentencesError if it knows none of an answer."""
    labels = [sentence.labels for sentence in sentences]
    unknown = unknown_labels(labels, model.label_names, task)
    of_answers = sum(label != "O" or task == "pos" for row in labels for label in row)
    if of_answers == sum(unknown.values()):
        kind = "label" if task == "pos" else "entity"
        labels_but_o = (label for label in model.label_names if label != "O")
        known = sorted({label if task == "pos" else label[2:] for label in labels_but_o})
        raise SentencesError(
            f"there is no {kind} that the model gives ({', '.join(known)}): there is nothing to "
            "calibrate to."
        )
    return unknown
