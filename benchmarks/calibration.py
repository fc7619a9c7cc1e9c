"""How well calibration and promised precision hold, on the files of finished runs.

    python -m benchmarks.calibration RUN RUN ...

Tags the development and test files of each run and prints, in Markdown, the mean and standard
deviation over the runs: the calibration error before and after, of maps that were fitted to other
sentences, and of a confidence that is exactly right; and the precision of what is accepted in 200
random splits of both files.
"""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.command_line import make_parser
from uanet_lite.columns_file import read_corpus
from uanet_lite.tag_schemes import Span
from uanet_tf.metrics import scoring
from uanet_tf.metrics.logistic_map import apply_logistic_map
from uanet_tf.metrics.reliability import calibration_error
from uanet_tf.metrics.target_precision import Acceptance, accept_from
from uanet_tf.models.loading import load_model
from uanet_tf.tagging.streams import tag_in_context
from uanet_tf.training.confidence_fit import fit_rows, map_features

SPLITS, FOLDS = 200, 5
TARGETS = (0.8, 0.85, 0.9, 0.95)
JOINS: dict[str, np.ufunc] = {"lowest": np.minimum, "product": np.multiply, "mean": np.add}


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
    features, number = map_features(tagged)
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
    return applied(rows, file)


def applied(rows: np.ndarray, file: File) -> np.ndarray:
    """Confidence [N] by a fitted map."""
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
    scores = JOINS[join].reduceat(padded, edges)[::2]
    return scores / (file.end - file.start) if join == "mean" else scores


def groups(file: File, confidence: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Confidence and whether it is right, of groups of answers that are not empty."""
    inside, above = file.number < 2, file.number % 2 == 1
    found = {
        "tokens": (confidence, file.right),
        "tokens not O": (confidence[inside], file.right[inside]),
        "tokens above Gamma": (confidence[above], file.right[above]),
        "entities": (of_entities(file, confidence), file.right_entity),
    }
    return {name: group for name, group in found.items() if len(group[0])}


def errors(file: File, confidence: np.ndarray) -> dict[str, float]:
    """Calibration errors, percent, of groups of answers."""
    return {name: calibration_error(*group) for name, group in groups(file, confidence).items()}


def least_errors(file: File, confidence: np.ndarray) -> dict[str, float]:
    """What ``errors`` would show of a confidence that is exactly right: the mean of draws of it."""
    random = np.random.default_rng(1)
    return {
        name: float(
            np.mean([calibration_error(c, random.random(len(c)) < c) for _ in range(SPLITS)])
        )
        for name, (c, _) in groups(file, confidence).items()
    }


def cross_validated(file: File) -> np.ndarray:
    """Confidence [N], of each fifth of the sentences by a map fitted to the others."""
    fold = np.random.default_rng(0).integers(0, FOLDS, file.sentence.max() + 1)[file.sentence]
    confidence = np.empty(len(file.right))
    for number in range(FOLDS):
        confidence[fold == number] = calibrated(file, fold != number)[fold == number]
    return confidence


class Promise(NamedTuple):
    """What came of a promised precision, of one split.

    Attributes:
      reached: whether the target can be promised.
      kept: share of the entities looked at that are accepted.
      seen: whether the precision that is seen there is not below the target.
      true: the same of a calibration set drawn from a population of known precision.
      true_alone: the same if entities are taken as independent.
      kept_alone: share of the population that is accepted then.
    """

    reached: bool
    kept: float
    seen: bool
    true: bool
    true_alone: bool
    kept_alone: float


class Split(NamedTuple):
    """Entities by what they are for: places in the list of all, [K] each.

    Attributes:
      known: where the threshold is found.
      new: to look at.
      rest: both: a population whose precision is known.
      drawn: entities of sentences that were drawn from the population.
      group: which draw each of them is of.
    """

    known: np.ndarray
    new: np.ndarray
    rest: np.ndarray
    drawn: np.ndarray
    group: np.ndarray


def splits(both: File) -> dict[str, float]:
    """What happens in random splits: a quarter each for map and threshold, half to look at.

    The half has a spread of its own. So all but the map's quarter is also taken as a population,
    whose precision is known, and sentences are drawn from it, with replacement, for the threshold.
    """
    random, count = np.random.default_rng(1), both.sentence.max() + 1
    outcomes: dict[float, list[Promise]] = {target: [] for target in TARGETS}
    for _ in range(SPLITS):
        part = random.permutation(count) * 4 // count
        entities = of_entities(both, calibrated(both, part[both.sentence] == 0))
        wanted = (part == 1, part >= 2, part >= 1)
        known, new, rest = (np.flatnonzero(chosen[both.entity_sentence]) for chosen in wanted)
        drawn = _drawn(random, both.entity_sentence, np.flatnonzero(part >= 1), count // 4)
        split = Split(known, new, rest, *drawn)
        for target in TARGETS:
            outcomes[target].append(_promise(both, entities, split, target))
    results: dict[str, float] = {}
    for target, rows in outcomes.items():
        found = dict(zip(Promise._fields, 100 * np.array(rows, float).T, strict=True))
        had = found["kept"][found["reached"] > 0]
        results |= {
            f"{target}: had, % of splits": found["reached"].mean(),
            f"{target}: kept, % of entities": found["kept"].mean(),
            f"{target}: kept where had": had.mean() if len(had) else 0.0,
            f"{target}: seen not below target, % of splits": found["seen"].mean(),
            f"{target}: known not below target, % of draws": found["true"].mean(),
            f"{target}: known, entities as independent": found["true_alone"].mean(),
            f"{target}: kept then, % of entities": found["kept_alone"].mean(),
        }
    return results


def _promise(both: File, entities: np.ndarray, split: Split, target: float) -> Promise:
    """Finds thresholds for a target, and looks at what they accept."""

    def find(places: np.ndarray, group: np.ndarray | None) -> Acceptance:
        answers = entities[places], both.right_entity[places], group
        return accept_from(*answers, target=target)

    found = find(split.known, both.entity_sentence[split.known])
    kept, seen = _precision(both, entities, split.new, found.threshold)
    known = find(split.drawn, split.group).threshold
    alone = find(split.drawn, None).threshold
    _, true = _precision(both, entities, split.rest, known)
    kept_alone, true_alone = _precision(both, entities, split.rest, alone)
    return Promise(
        *(found.reached, kept, seen >= target, true >= target, true_alone >= target, kept_alone)
    )


def _drawn(
    random: np.random.Generator, sentence: np.ndarray, chosen: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Entities of ``count`` sentences drawn from ``chosen`` with replacement; the draw of each.

    Args:
      random: draws.
      sentence: [S] of all entities, rising.
      chosen: sentences to draw from.
      count: how many to draw.
    """
    sentences = random.choice(chosen, count)
    first, last = (np.searchsorted(sentence, sentences, side=side) for side in ("left", "right"))
    places = [np.arange(a, b) for a, b in zip(first, last, strict=True)]
    return np.concatenate(places), np.repeat(np.arange(count), last - first)


def _precision(
    file: File, confidence: np.ndarray, places: np.ndarray, threshold: float
) -> tuple[float, float]:
    """Share of the entities at ``places`` that is accepted, and of these that is right (or 1)."""
    taken = confidence[places] >= threshold
    right = file.right_entity[places][taken]
    return float(taken.mean()), float(right.mean()) if len(right) else 1.0


def measure(run_dir: str) -> dict[str, dict[str, float]]:
    """All figures of one run."""
    model = load_model(run_dir, calibrated=False)
    dev, test = (
        tag_file(model, getattr(model.settings.data, f"{n}_path")) for n in ("dev", "test")
    )
    of_test = applied(fit_rows(dev.features, dev.number, dev.right), test)
    of_dev = cross_validated(dev)
    return {
        "dev, model's own": errors(dev, dev.plain),
        "dev, calibrated": errors(dev, of_dev),
        "dev, if the confidence were exactly right": least_errors(dev, of_dev),
        "test, model's own": errors(test, test.plain),
        "test, calibrated on dev": errors(test, of_test),
        "test, if the confidence were exactly right": least_errors(test, of_test),
        "splits": splits(joined(dev, test)),
    }


def main(run_dirs: list[str], write: Callable[[str], Any] = sys.stdout.write) -> None:
    """Measures runs and writes a table for each group of figures."""
    found = [measure(run_dir) for run_dir in run_dirs]
    for name in found[0]:
        write(f"\n| {name} | mean | sd |\n| --- | --- | --- |\n")
        for figure in dict.fromkeys(figure for run in found for figure in run[name]):
            # No token is above Gamma where the gate is shut.
            values = [run[name][figure] for run in found if figure in run[name]]
            runs = "" if len(values) == len(found) else f", {len(values)} of the runs"
            sd = f"{np.std(values, ddof=1):.2f}" if len(values) > 1 else "-"
            write(f"| {figure}{runs} | {np.mean(values):.2f} | {sd} |\n")


if __name__ == "__main__":
    parser = make_parser("calibration", __doc__)
    parser.add_argument("run_dirs", nargs="+")
    main(parser.parse_args().run_dirs)
