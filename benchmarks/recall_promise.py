"""How well a promised recall holds, and what it costs, on the files of finished runs.

    python -m benchmarks.recall_promise RUN RUN ...
    python -m benchmarks.recall_promise --shift=OTHER.conll RUN RUN ...

Maps are those of the run, fitted to its development file. Its test file is split in halves, by
document where it marks them, 200 times: thresholds are found on one half, and the recall and
precision that come of them are looked at on the other. Prints, in Markdown, mean and standard
deviation over the runs, for candidates and two baselines: every span by its probability in one pass
without dropout, not calibrated, and the most probable label sequences of that pass. With --shift,
thresholds are found on the whole test file, and the recall on each other file is looked at.
"""

import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.command_line import make_parser
from uanet_lite.columns_file import read_corpus
from uanet_lite.tag_schemes import BIOES, decode_spans, is_valid_transition
from uanet_lite.tagged_sentence import Candidate
from uanet_tf.data.documents import independent_units
from uanet_tf.metrics.target_precision import ERROR, NEVER, accept_from
from uanet_tf.metrics.target_recall import Shown, cost_of, include_from, shown_spans
from uanet_tf.models.candidates import all_candidates
from uanet_tf.models.loading import load_model
from uanet_tf.tagging.streams import tag_in_context

SPLITS = 200
TARGETS = (0.9, 0.95)
PRECISION = 0.9
BEST = 100  # label sequences of a sentence


class File(NamedTuple):
    """A labelled file and the answers for it, with all candidates.

    Attributes:
      gold: labels of each sentence.
      tagged: answers.
      units: number of the document, or sentence, of each.
    """

    gold: list[Any]
    tagged: list[Any]
    units: np.ndarray

    def take(self, chosen: np.ndarray) -> "File":
        """The sentences that are chosen."""
        places = np.flatnonzero(chosen)
        return File(
            [self.gold[k] for k in places], [self.tagged[k] for k in places], self.units[places]
        )

    def shown(self, accepts: dict[str, float] | None = None) -> Shown:
        """What there is to show of them; ``accepts``: from which confidence entities are taken."""
        return shown_spans(self.gold, self.tagged, self.units.tolist(), accepts)


def tag_file(model: Any, path: str) -> File:
    """Tags a file with candidates of any probability."""
    data = model.settings.data
    sentences = read_corpus(path, token_column=data.token_column, label_column=data.label_column)
    with all_candidates(model):
        tagged = [answer for _, answer in tag_in_context(model, sentences)]
    gold = [sentence.labels for sentence in sentences]
    return File(gold, tagged, independent_units(sentences))


def with_best_sequences(file: File, labels: Sequence[str], scheme: str) -> File:
    """The file with the spans of the K most probable label sequences of each sentence.

    A span's score is 1 / r, r the rank of the first sequence that has it.
    """
    steps = [[is_valid_transition(one, two, scheme) for two in labels] for one in labels]
    first = [is_valid_transition(None, one, scheme) for one in labels]
    last = [is_valid_transition(one, None, scheme) for one in labels]
    with np.errstate(divide="ignore"):
        moves, first, last = (np.log(np.array(part, float)) for part in (steps, first, last))
    tagged = []
    for answer in file.tagged:
        rows = [[row[label] for label in labels] for row in answer.probabilities]
        scores = np.log(np.maximum(rows, 1e-9))
        found: dict[Any, float] = {}
        for rank, path in enumerate(best_paths(scores, moves, first, last), 1):
            for span in decode_spans([labels[k] for k in path], scheme):
                found.setdefault(span, 1.0 / rank)
        spans = [
            Candidate(" ".join(answer.tokens[s:e]), name, s, e, s, e, score)
            for (name, s, e), score in found.items()
        ]
        tagged.append(dataclasses.replace(answer, candidates=spans))
    return file._replace(tagged=tagged)


def best_paths(
    scores: np.ndarray, moves: np.ndarray, first: np.ndarray, last: np.ndarray
) -> Iterator[list[int]]:
    """The ``BEST`` paths with the largest sums, the best first, of scores [T, C]."""
    length, count = scores.shape
    totals = np.full([count, BEST], -np.inf)
    totals[:, 0] = scores[0] + first
    parents = np.zeros([length, BEST, count], int)
    for t in range(1, length):
        every = (totals[:, :, None] + moves[:, None]).reshape(count * BEST, count)
        parents[t] = np.argsort(-every, axis=0, kind="stable")[:BEST]
        totals = (np.take_along_axis(every, parents[t], 0) + scores[t]).T
    ends = (totals + last[:, None]).ravel()
    for place in np.argsort(-ends, kind="stable")[:BEST]:
        if np.isneginf(ends[place]):
            return
        path = []
        for t in range(length - 1, -1, -1):
            label, rank = divmod(int(place), BEST)
            path.append(label)
            place = parents[t, rank, label]
        yield path[::-1]


def entities_of(file: File) -> tuple[np.ndarray, ...]:
    """Confidence, whether it is right, unit and type of each entity that is given."""
    rows = []
    for labels, answer, unit in zip(*file, strict=True):
        truth = set(decode_spans(labels, BIOES))
        for each in answer.entities:
            right = (each.type, each.token_start, each.token_end) in truth
            rows.append((each.confidence, right, unit, each.type))
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def one_split(known: File, new: File, types: list[str], baseline: bool) -> dict[str, float]:
    """What comes of thresholds found on ``known``, looked at on ``new``."""
    shown, other = (part.shown() for part in (known, new))
    found: dict[str, float] = {}
    for target in TARGETS:
        part = include_from(shown.score, shown.units, target=target)
        found[f"{target}: promised, % of splits"] = 100.0 * part.reached
        if part.threshold is None:
            found[f"{target}: missed, % of splits"] = 0.0
        else:
            cost = cost_of(other, part.threshold, accepts=False)
            found[f"{target}: missed, % of splits"] = 100.0 * (cost.recall < target)
            found[f"{target}: recall, %"] = 100 * cost.recall
            found[f"{target}: shown per entity"] = cost.per_entity
            found[f"{target}: shown per 1,000 tokens"] = cost.per_1000
        if baseline:
            continue
        missed = []
        for name in types:
            one, two = (each.types == name for each in (shown, other))
            part = include_from(shown.score[one], shown.units[one], target=target)
            recall = np.mean(other.score[two] >= (part.threshold or 0.0))
            missed.append(part.reached and recall < target)
        found[f"{target}: missed by type, % of splits and types"] = 100 * float(np.mean(missed))
        found |= _both_sides(known, new, types, target)
    return found


def _both_sides(known: File, new: File, types: list[str], target: float) -> dict[str, float]:
    """The same with a target precision: each with half of the probability to be missed."""
    confidence, right, units, _ = entities_of(known)
    found = accept_from(
        confidence, right, units, target=PRECISION, error=ERROR / 2, calibrated=True
    )
    accepts = dict.fromkeys(types, found.threshold)
    shown, other = (part.shown(accepts) for part in (known, new))
    part = include_from(shown.score, shown.units, target=target, error=ERROR / 2)
    confidence, right, *_ = entities_of(new)
    accepted = right[confidence >= found.threshold]
    short = len(accepted) > 0 and np.mean(accepted) < PRECISION
    name = f"{target} and precision {PRECISION}"
    if part.threshold is None:
        return {f"{name}: missed, % of splits": 100.0 * short}
    cost = cost_of(other, part.threshold, accepts=True)
    return {
        f"{name}: missed, % of splits": 100.0 * (short or cost.recall < target),
        f"{name}: accepted, % of entities": 100 * cost.taken,
        f"{name}: to be looked at, % of entities": 100 * (cost.recall - cost.taken),
        f"{name}: to look at, per entity": cost.per_entity,
    }


def splits(file: File, types: list[str], *, baseline: bool) -> dict[str, float]:
    """Means over random halves."""
    random, count = np.random.default_rng(1), int(file.units.max()) + 1
    rows: list[dict[str, float]] = []
    for _ in range(SPLITS):
        half = (random.permutation(count) < count // 2)[file.units]
        rows.append(one_split(file.take(half), file.take(~half), types, baseline))
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: float(np.mean([row[name] for row in rows if name in row])) for name in names}


def shifted(file: File, other: File) -> dict[str, float]:
    """The recall on another file of thresholds that were found on this one."""
    shown, far = (part.shown() for part in (file, other))
    found = {}
    for target in TARGETS:
        part = include_from(shown.score, shown.units, target=target)
        if part.threshold is not None:
            cost = cost_of(far, part.threshold, accepts=False)
            found[f"{target}: recall, %"] = 100 * cost.recall
            found[f"{target}: shown per entity"] = cost.per_entity
    found["given, % of entities"] = 100 * float(np.mean(far.score >= NEVER))
    return found


def measure(run_dir: str, others: list[str]) -> dict[str, dict[str, float]]:
    """All figures of one run."""
    model: Any = load_model(run_dir)
    types = list(model.candidates.types)
    path = model.settings.data.dev_path if others else model.settings.data.test_path
    file = tag_file(model, path)
    if others:
        return {path: shifted(file, tag_file(model, path)) for path in others}
    found = {"candidates": splits(file, types, baseline=False)}
    plain: Any = load_model(
        run_dir, sampling="exact", num_samples=0, threshold=99.0, calibrated=False
    )
    plain.candidates.reset()
    plain.return_probabilities = True
    file = tag_file(plain, path)
    found["baseline: one softmax pass"] = splits(file, types, baseline=True)
    file = with_best_sequences(file, plain.label_names, plain.label_scheme)
    found[f"baseline: its {BEST} best sequences"] = splits(file, types, baseline=True)
    return found


def main(
    run_dirs: list[str], others: list[str], write: Callable[[str], Any] = sys.stdout.write
) -> None:
    """Measures runs and writes a table for each group of figures."""
    found = [measure(run_dir, others) for run_dir in run_dirs]
    for name in found[0]:
        write(f"\n| {name} | mean | sd | of runs |\n| --- | --- | --- | --- |\n")
        for figure in dict.fromkeys(figure for run in found for figure in run[name]):
            values = [run[name][figure] for run in found if figure in run[name]]
            sd = f"{np.std(values, ddof=1):.2f}" if len(values) > 1 else "-"
            write(f"| {figure} | {np.mean(values):.2f} | {sd} | {len(values)} |\n")


if __name__ == "__main__":
    parser = make_parser("recall_promise", __doc__)
    parser.add_argument("run_dirs", nargs="+")
    parser.add_argument("--shift", action="append", default=[])
    arguments = parser.parse_args()
    main(arguments.run_dirs, arguments.shift)
