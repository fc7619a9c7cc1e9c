"""One number for each entity: what it may be made of, and what bounds how well it ranks.

    python -m benchmarks.entity_confidence RUN RUN ... [--samples=8]

Tags the development and test files of each run and prints, in Markdown, the mean and standard
deviation over the runs: calibration error and AUROC of several definitions of an entity's
confidence (development file, each fifth of its sentences by maps fitted to the others); and, beside
the figures found, those of confidences that are exactly right, of a ranking that knows the errors,
and of taggers trained with other seeds (the other RUNs, of the same files); and how many of the
file's entities are found, at any precision and at one that is asked for.
"""

import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.calibration import (
    JOINS,
    File,
    applied,
    cross_validated,
    of_entities,
    tag_file,
)
from benchmarks.command_line import make_parser
from uanet_lite.columns_file import read_corpus
from uanet_lite.tag_schemes import decode_spans
from uanet_tf.metrics.error_detection import auroc, average_precision, risk_coverage
from uanet_tf.metrics.reliability import calibration_error
from uanet_tf.models.loading import load_model
from uanet_tf.tagging.streams import tag_in_context
from uanet_tf.training.confidence_fit import fit_rows

PARTS = ("dev", "test")
DRAWS = 200
# Target precision, and the share of the entities that should be kept at it.
WANTED = ((0.9, 0.6), (0.95, 0.4))
_NEVER = 1e6  # nats: the gate stays shut
# (sentence, type, start, end) of an entity.
Place = tuple[int, str, int, int]


def entities_of(model: Any, path: str) -> int:
    """The number of entities that a labelled file has."""
    data = model.settings.data
    sentences = read_corpus(path, token_column=data.token_column, label_column=data.label_column)
    return sum(len(decode_spans(sentence.labels, model.label_scheme)) for sentence in sentences)


def tagged_places(model: Any, path: str) -> list[Place]:
    """The entities that a model finds in a file, in order."""
    data = model.settings.data
    sentences = read_corpus(path, token_column=data.token_column, label_column=data.label_column)
    answers = (answer for _, answer in tag_in_context(model, sentences))
    return [(k, *span) for k, answer in enumerate(answers) for span in answer.spans]


def shares(places: Sequence[Place], others: Sequence[Sequence[Place]]) -> np.ndarray:
    """[S] share of the others that have exactly this entity."""
    sets = [set(other) for other in others]
    return np.array([np.mean([place in found for found in sets]) for place in places])


def definitions(dev: File, sampled: np.ndarray) -> dict[str, float]:
    """ECE and AUROC, percent, of one number per entity.

    Args:
      dev: answers for a file.
      sampled: [S] share of the samples that have exactly this entity.
    """
    confidence = cross_validated(dev)
    length = dev.end - dev.start
    scores = {name: of_entities(dev, confidence, name) for name in JOINS}
    scores["length-normalised product"] = scores["product"] ** (1 / length)
    scores["share of samples"] = sampled
    found: dict[str, float] = {}
    for name, values in scores.items():
        found[f"{name}: ECE"] = calibration_error(values, dev.right_entity)
        found[f"{name}: AUROC"] = auroc(-values, ~dev.right_entity) or 0.0
    nats = of_entities(dev, -dev.features[:, 1])
    found["highest uncertainty: AUROC"] = auroc(-nats, ~dev.right_entity) or 0.0
    return found


def bounds(confidence: np.ndarray, right: np.ndarray) -> dict[str, float]:
    """What is found, and what can be had, percent.

    "Confidence exactly right": outcomes are drawn from the confidence itself, so nothing of it is
    wrong but that it is not nearer to 0 or 1. "AUROC needed": of scores that are normal, of one
    spread, for right and for wrong entities, when the share wanted is kept at the target.

    Args:
      confidence: [S], calibrated.
      right: [S] booleans.
    """
    random = np.random.default_rng(1)
    draws = random.random((DRAWS, len(right))) < confidence
    order = np.argsort(-confidence, kind="stable")
    accuracy = float(right.mean())
    results = {
        "entities right": 100 * accuracy,
        "AUROC": auroc(-confidence, ~right) or 0.0,
        "AUROC, confidence exactly right": _mean(auroc(-confidence, ~d) for d in draws),
        "AURC": risk_coverage(confidence, ~right).area,
        "AURC, confidence exactly right": _mean(risk_coverage(confidence, ~d).area for d in draws),
        "AURC, errors known": risk_coverage(right, ~right).area,
    }
    for target, share in WANTED:
        first = order[: round(share * len(order))]
        results |= {
            f"precision of the surest {share:.0%}": 100 * float(right[first].mean()),
            f"the same {share:.0%}, confidence exactly right": 100
            * float(confidence[first].mean()),
            f"the same {share:.0%}, errors known": 100 * min(1.0, accuracy / share),
            f"AUROC needed for {target} of {share:.0%}": auroc_needed(accuracy, target, share),
        }
    return results


def found_at(confidence: np.ndarray, right: np.ndarray, entities: int) -> dict[str, float]:
    """How many of a file's entities are found, percent: the answers of taggers side by side.

    AUROC and AURC are of a tagger's own answers, of which a tagger that finds less has fewer that
    are hard.

    Args:
      confidence: [S], of the answers.
      right: [S] booleans.
      entities: number of the file's entities.
    """
    values, group = np.unique(-confidence, return_inverse=True)  # equal confidences go together
    count = np.cumsum(np.bincount(group, weights=right, minlength=len(values)))
    precision = count / np.cumsum(np.bincount(group, minlength=len(values)))
    results = {
        "entities found": 100 * right.sum() / entities,
        # The area over recall of the file's entities; those that are not found count as 0.
        "average precision": (average_precision(confidence, right) or 0.0) * right.sum() / entities,
    }
    for target, _ in WANTED:
        kept = count[precision >= target]
        most = int(kept.max()) if len(kept) else 0
        results[f"entities found at a precision of {target}"] = 100 * most / entities
    return results


def auroc_needed(accuracy: float, target: float, share: float) -> float:
    """AUROC, percent, with which the surest share of the answers has the target precision.

    Args:
      accuracy: of all answers.
      target: precision, at least the accuracy.
      share: of the answers, kept.
    """
    normal = statistics.NormalDist()
    of_right, of_wrong = target * share / accuracy, (1 - target) * share / (1 - accuracy)
    if of_right >= 1:
        return 100.0
    distance = normal.inv_cdf(of_right) - normal.inv_cdf(of_wrong)
    return 100 * normal.cdf(distance / 2**0.5)


def _mean(values: Any) -> float:
    return float(np.mean([value for value in values if value is not None]))


def measure(run_dirs: Sequence[str], samples: int) -> list[dict[str, dict[str, float]]]:
    """All figures of each run."""
    results: list[dict[str, dict[str, float]]] = []
    found: dict[str, list[list[Place]]] = {part: [] for part in PARTS}
    confidences: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {part: [] for part in PARTS}
    for run_dir in run_dirs:
        model: Any = load_model(run_dir, calibrated=False)
        paths = {part: getattr(model.settings.data, f"{part}_path") for part in PARTS}
        files = {part: tag_file(model, path) for part, path in paths.items()}
        rows = fit_rows(files["dev"].features, files["dev"].number, files["dev"].right)
        tokens = {"dev": cross_validated(files["dev"]), "test": applied(rows, files["test"])}
        for part in PARTS:
            entities = of_entities(files[part], tokens[part])
            confidences[part].append((entities, files[part].right_entity))
            found[part].append(tagged_places(model, paths[part]))
        drawn = _samples(model, paths["dev"], samples)
        results.append(
            {"definitions, dev": definitions(files["dev"], shares(found["dev"][-1], drawn))}
        )
        results[-1] |= {
            part: bounds(*confidences[part][-1])
            | found_at(*confidences[part][-1], entities_of(model, paths[part]))
            for part in PARTS
        }
    for number, result in enumerate(results if len(run_dirs) > 1 else []):
        for part in PARTS:
            others = [places for k, places in enumerate(found[part]) if k != number]
            confidence, right = confidences[part][number]
            agreed = shares(found[part][number], others) + 1e-3 * confidence
            joined = confidence + shares(found[part][number], others)
            result[part] |= {
                "AUROC, share of other seeds with this entity": auroc(-agreed, ~right) or 0.0,
                "AUROC, confidence and this share": auroc(-joined, ~right) or 0.0,
            }
    return results


def _samples(model: Any, path: str, count: int) -> list[list[Place]]:
    """What each of ``count`` single samples of the draft finds."""
    model.num_samples = 1
    if model.gate is not None:
        model.threshold = _NEVER
    found = []
    for seed in range(1, count + 1):
        model.mc_seed = seed
        found.append(tagged_places(model, path))
    return found


def main(
    run_dirs: Sequence[str], samples: int, write: Callable[[str], Any] = sys.stdout.write
) -> None:
    """Measures runs and writes a table for each group of figures."""
    found = measure(run_dirs, samples)
    for name in found[0]:
        write(f"\n| {name} | mean | sd |\n| --- | --- | --- |\n")
        for figure in found[0][name]:
            values = [run[name][figure] for run in found]
            sd = f"{np.std(values, ddof=1):.2f}" if len(values) > 1 else "-"
            write(f"| {figure} | {np.mean(values):.2f} | {sd} |\n")


if __name__ == "__main__":
    parser = make_parser("entity_confidence", __doc__)
    parser.add_argument("run_dirs", nargs="+")
    parser.add_argument("--samples", type=int, default=8)
    options = parser.parse_args()
    main(options.run_dirs, options.samples)
