"""How well calibration and promised precision hold, on the files of finished runs.

    python -m benchmarks.calibration RUN RUN ...

Tags the development and test files of each run and prints, in Markdown, the mean and standard
deviation over the runs: the calibration error before and after, of maps that were fitted to other
sentences; alternatives to the lowest confidence of an entity; and the precision of what is accepted
in 200 random splits of both files.
"""

import argparse
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from uanet_tf.calibration.logistic_map import apply_logistic_map
from uanet_tf.calibration.target_precision import accept_from
from uanet_tf.data.conll import read_corpus
from uanet_tf.data.tag_schemes import Span
from uanet_tf.metrics import scoring
from uanet_tf.metrics.calibration import calibration_error
from uanet_tf.metrics.error_detection import auroc
from uanet_tf.models.loading import load_model
from uanet_tf.tagging.document_context import tag_in_context
from uanet_tf.training.calibration import fit_rows, map_features

SPLITS, FOLDS = 200, 5
TARGETS = (0.8, 0.85, 0.9, 0.95)
SCORES: dict[str, np.ufunc] = {"lowest": np.minimum, "product": np.multiply, "mean": np.add}


class File(NamedTuple):
    """Uncalibrated answers for a labelled file: N tokens, S entities.

    Attributes:
      features, number, right: [N, 2], [N], [N], of tokens; see ``map_features``.
      plain: [N], the model's own probability of each label.
      sentence: [N], the sentence of each token.
      start, end: [S], tokens of each entity.
      right_entity: [S].
      entity_sentence: [S].
    """

    features: np.ndarray
    number: np.ndarray
    right: np.ndarray
    plain: np.ndarray
    sentence: np.ndarray
    start: np.ndarray
    end: np.ndarray
    right_entity: np.ndarray
    entity_sentence: np.ndarray


def tag_file(model: Any, path: str) -> File:
    """Tags a file of a run, without its calibration."""
    data = model.settings.data
    sentences = read_corpus(path, token_column=data.token_column, label_column=data.label_column)
    gold = [sentence.labels for sentence in sentences]
    tagged = [answer for _, answer in tag_in_context(model, sentences)]
    features, number = map_features(tagged, tagged)
    lengths = [len(answer) for answer in tagged]
    first = np.cumsum(lengths) - lengths
    spans = [answer.spans for answer in tagged]
    places = np.array(
        [(k, first[k] + s.start, first[k] + s.end) for k, found in enumerate(spans) for s in found]
    ).reshape(-1, 3)
    return File(
        features,
        number,
        scoring.right_tokens(gold, [answer.labels for answer in tagged], task="ner"),
        np.concatenate([answer.confidence for answer in tagged]),
        np.repeat(np.arange(len(tagged)), lengths),
        places[:, 1],
        places[:, 2],
        scoring.right_entities(gold, [[Span(*s) for s in found] for found in spans]),
        places[:, 0],
    )


def joined(one: File, two: File) -> File:
    """Both files as one."""
    shifts = {"sentence": one.sentence.max() + 1, "entity_sentence": one.sentence.max() + 1}
    shifts |= dict.fromkeys(("start", "end"), len(one.right))
    return File(
        *(
            np.concatenate([getattr(one, name), getattr(two, name) + shifts.get(name, 0)])
            if name in shifts
            else np.concatenate([getattr(one, name), getattr(two, name)])
            for name in File._fields
        )
    )


def calibrated(file: File, fitted: np.ndarray) -> np.ndarray:
    """Confidence [N] by the map fitted to the tokens ``fitted`` [N]."""
    rows = fit_rows(file.features[fitted], file.number[fitted], file.right[fitted])
    return _applied(rows, file)


def _applied(rows: np.ndarray, file: File) -> np.ndarray:
    confidence = np.empty(len(file.right))
    for number, row in enumerate(rows):
        chosen = file.number == number
        confidence[chosen] = apply_logistic_map(row, file.features[chosen])
    return confidence


def of_entities(file: File, confidence: np.ndarray, join: str = "lowest") -> np.ndarray:
    """One confidence of each entity, [S]."""
    if not len(file.start):
        return np.zeros(0)
    edges = np.column_stack([file.start, file.end]).ravel()
    padded = np.append(confidence, 1.0)
    scores = SCORES[join].reduceat(padded, edges)[::2]
    return scores / (file.end - file.start) if join == "mean" else scores


def errors(file: File, confidence: np.ndarray) -> dict[str, float]:
    """Calibration errors, percent, of groups of answers."""
    entities = of_entities(file, confidence)
    groups: dict[str, tuple[np.ndarray, np.ndarray]] = {
        "tokens": (confidence, file.right),
        "tokens not O": (confidence[file.number < 2], file.right[file.number < 2]),
        "tokens above Gamma": (confidence[file.number % 2 == 1], file.right[file.number % 2 == 1]),
        "entities": (entities, file.right_entity),
    }
    return {name: calibration_error(*group) for name, group in groups.items() if len(group[0])}


def cross_validated(file: File) -> np.ndarray:
    """Confidence [N], of each fifth of the sentences by a map fitted to the others."""
    fold = np.random.default_rng(0).integers(0, FOLDS, file.sentence.max() + 1)[file.sentence]
    confidence = np.empty(len(file.right))
    for number in range(FOLDS):
        confidence[fold == number] = calibrated(file, fold != number)[fold == number]
    return confidence


def definitions(dev: File) -> dict[str, float]:
    """ECE and AUROC, percent, of one number per entity made of those of its tokens."""
    found: dict[str, float] = {}
    confidence, wrong = cross_validated(dev), ~dev.right_entity
    for name in SCORES:
        scores = of_entities(dev, confidence, name)
        found[f"{name}: ECE"] = calibration_error(scores, dev.right_entity)
        found[f"{name}: AUROC"] = auroc(-scores, wrong) or 0.0
    nats = of_entities(dev, -dev.features[:, 1])
    found["highest uncertainty: AUROC"] = auroc(-nats, wrong) or 0.0
    return found


def splits(both: File) -> dict[str, float]:
    """What happens in random splits: a quarter each for map and threshold, half to look at."""
    random, count = np.random.default_rng(1), both.sentence.max() + 1
    outcomes: dict[float, list[tuple[bool, float, float]]] = {target: [] for target in TARGETS}
    for _ in range(SPLITS):
        part = random.permutation(count) * 4 // count
        entities = of_entities(both, calibrated(both, part[both.sentence] == 0))
        known, new = (k[both.entity_sentence] for k in (part == 1, part >= 2))
        for target in TARGETS:
            found = accept_from(
                entities[known], both.right_entity[known], target=target, calibrated=True
            )
            taken = entities[new] >= found.threshold
            precision = both.right_entity[new][taken].mean() if taken.any() else 1.0
            outcomes[target].append((found.reached, float(taken.mean()), float(precision)))
    results: dict[str, float] = {}
    for target, rows in outcomes.items():
        reached, kept, precision = np.array(rows, float).T
        results[f"{target}: had, % of splits"] = 100 * reached.mean()
        results[f"{target}: kept, % of entities"] = 100 * kept.mean()
        results[f"{target}: kept where had"] = (
            100 * kept[reached > 0].mean() if reached.any() else 0
        )
        results[f"{target}: not below target, % of splits"] = 100 * np.mean(precision >= target)
    return results


def measure(run_dir: str) -> dict[str, dict[str, float]]:
    """All figures of one run."""
    model = load_model(run_dir, calibrated=False)
    dev, test = (
        tag_file(model, getattr(model.settings.data, f"{n}_path")) for n in ("dev", "test")
    )
    of_test = _applied(fit_rows(dev.features, dev.number, dev.right), test)
    tables = {
        "dev, model's own": errors(dev, dev.plain),
        "dev, calibrated": errors(dev, cross_validated(dev)),
        "test, model's own": errors(test, test.plain),
        "test, calibrated on dev": errors(test, of_test),
    }
    return {**tables, "definitions, dev": definitions(dev), "splits": splits(joined(dev, test))}


def main(run_dirs: list[str], write: Callable[[str], Any] = sys.stdout.write) -> None:
    """Measures runs and writes a table for each group of figures."""
    found = [measure(run_dir) for run_dir in run_dirs]
    for name in found[0]:
        write(f"\n| {name} | mean | sd |\n| --- | --- | --- |\n")
        for figure in found[0][name]:
            values = [run[name][figure] for run in found]
            sd = f"{np.std(values, ddof=1):.2f}" if len(values) > 1 else "-"
            write(f"| {figure} | {np.mean(values):.2f} | {sd} |\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run_dirs", nargs="+")
    main(parser.parse_args().run_dirs)
