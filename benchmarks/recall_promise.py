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
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.command_line import make_parser
from uanet_lite.columns_file import read_corpus
from uanet_lite.tag_schemes import BIOES, decode_spans, is_valid_transition
from uanet_lite.tagged_sentence import Candidate
from uanet_tf.data.documents import independent_units
from uanet_tf.metrics.target_precision import ERROR, NEVER, accept_from
from uanet_tf.metrics.target_recall import Shown, cost_of, include_from
from uanet_tf.models.candidates import all_candidates
from uanet_tf.models.loading import load_model
from uanet_tf.tagging.streams import tag_in_context

SPLITS = 200
TARGETS = (0.9, 0.95)
PRECISION = 0.9
REPEATS = 15  # of timing
BEST = 100  # label sequences of a sentence


class Spans(NamedTuple):
    """Spans of a file, N of them.

    Attributes:
      types: [N].
      units: [N], number of the document, or sentence.
      probability: [N], as a candidate, 0 where it is none.
      confidence: [N], as an entity that is given, -1 where it is none.
      right: [N], whether it is an entity of the file.
    """

    types: np.ndarray
    units: np.ndarray
    probability: np.ndarray
    confidence: np.ndarray
    right: np.ndarray

    def take(self, chosen: np.ndarray) -> "Spans":
        return Spans(*(column[chosen] for column in self))


class File(NamedTuple):
    """All spans that are in a labelled file, are given, or are candidates.

    Attributes:
      spans: see ``Spans``.
      tokens: [U] of each document, or sentence.
    """

    spans: Spans
    tokens: np.ndarray

    def take(self, units: np.ndarray) -> "File":
        """Those of the documents [U] that are chosen."""
        return File(self.spans.take(units[self.spans.units]), self.tokens * units)

    def shown(self, accept_from: float = 0.0) -> Shown:
        """What there is to show of them; entities are taken from this confidence on."""
        spans = self.spans
        taken = spans.confidence >= accept_from
        there = spans.right
        score = np.where(taken, NEVER, spans.probability)
        found = taken | (spans.probability > 0)
        return Shown(
            score[there],
            spans.types[there],
            spans.units[there],
            spans.probability[found],
            spans.types[found],
            taken[found],
            int(self.tokens.sum()),
        )


def make_file(gold: Sequence[Any], tagged: Sequence[Any], units: np.ndarray) -> File:
    """The spans of labelled sentences, of answers for them, and of the documents of both."""
    rows = []
    for labels, answer, unit in zip(gold, tagged, units.tolist(), strict=True):
        truth = {(each.type, each.start, each.end) for each in decode_spans(labels, BIOES)}
        given = {_key(each): each.confidence for each in answer.entities}
        found = {_key(each): each.probability for each in answer.candidates}
        for key in dict.fromkeys([*truth, *given, *found]):
            values = found.get(key, 0.0), given.get(key, -1.0)
            rows.append((key[0], unit, *values, key in truth))
    types, *columns = zip(*rows, strict=True)
    lengths = [len(answer) for answer in tagged]
    return File(
        Spans(np.array(types, object), *map(np.array, columns)),
        np.bincount(units, weights=lengths),
    )


def _key(span: Any) -> tuple[str, int, int]:
    return span.type, span.token_start, span.token_end


class Answers(NamedTuple):
    """Labels of sentences, answers for them, numbers of their documents or sentences."""

    gold: list[Any]
    tagged: list[Any]
    units: np.ndarray


def tag_file(model: Any, path: str) -> Answers:
    """Tags a file with candidates of any probability."""
    data = model.settings.data
    sentences = read_corpus(path, token_column=data.token_column, label_column=data.label_column)
    with all_candidates(model):
        tagged = [answer for _, answer in tag_in_context(model, sentences)]
    gold = [sentence.labels for sentence in sentences]
    return Answers(gold, tagged, independent_units(sentences))


def with_best_sequences(answers: Answers, labels: Sequence[str], scheme: str) -> Answers:
    """The answers with the spans of the K most probable label sequences of each sentence.

    A span's score is 1 / r, r the rank of the first sequence that has it.
    """
    steps = [[is_valid_transition(one, two, scheme) for two in labels] for one in labels]
    first = [is_valid_transition(None, one, scheme) for one in labels]
    last = [is_valid_transition(one, None, scheme) for one in labels]
    with np.errstate(divide="ignore"):
        moves, first, last = (np.log(np.array(part, float)) for part in (steps, first, last))
    tagged = []
    for answer in answers.tagged:
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
    return answers._replace(tagged=tagged)


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
    """Confidence, whether it is right, and unit of each entity that is given."""
    given = file.spans.take(file.spans.confidence >= 0)
    return given.confidence, given.right, given.units


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
        found |= _both_sides(known, new, target)
    return found


def _both_sides(known: File, new: File, target: float) -> dict[str, float]:
    """The same with a target precision: each with half of the probability to be missed."""
    confidence, right, units = entities_of(known)
    found = accept_from(confidence, right, units, target=PRECISION, error=ERROR / 2)
    shown, other = (part.shown(found.threshold) for part in (known, new))
    part = include_from(shown.score, shown.units, target=target, error=ERROR / 2)
    confidence, right, _ = entities_of(new)
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
    random, count = np.random.default_rng(1), len(file.tokens)
    rows: list[dict[str, float]] = []
    for _ in range(SPLITS):
        half = random.permutation(count) < count // 2
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


def cost_in_time(model: Any, path: str) -> dict[str, float]:
    """Time of tagging a file with candidates, and of reading all of them too, without them: 1."""
    data = model.settings.data
    sentences = read_corpus(path, token_column=data.token_column, label_column=data.label_column)

    def seconds(*, candidates: bool, read: bool = False) -> float:
        model.return_candidates = candidates
        start = time.perf_counter()
        for _, answer in tag_in_context(model, sentences):
            if read:
                len(answer.candidates or ())
        return time.perf_counter() - start

    ratios: dict[str, list[float]] = {"": [], ", all of them read": []}
    for _ in range(REPEATS + 1):
        without = seconds(candidates=False)
        for name, found in ratios.items():
            found.append(seconds(candidates=True, read=bool(name)) / without)
    model.return_candidates = False
    return {
        f"time with candidates{name}, without 1": statistics.median(found[1:])
        for name, found in ratios.items()
    }


def measure(run_dir: str, others: list[str]) -> dict[str, dict[str, float]]:
    """All figures of one run."""
    model: Any = load_model(run_dir)
    types = list(model.candidates.types)
    path = model.settings.data.dev_path if others else model.settings.data.test_path
    file = make_file(*tag_file(model, path))
    if others:
        return {each: shifted(file, make_file(*tag_file(model, each))) for each in others}
    found = {"candidates": splits(file, types, baseline=False)}
    found["candidates"] |= cost_in_time(model, path)
    plain: Any = load_model(
        run_dir, sampling="exact", num_samples=0, threshold=99.0, calibrated=False
    )
    plain.candidates.reset()
    plain.return_probabilities = True
    answers = tag_file(plain, path)
    found["baseline: one softmax pass"] = splits(make_file(*answers), types, baseline=True)
    answers = with_best_sequences(answers, plain.label_names, plain.label_scheme)
    name = f"baseline: its {BEST} best sequences"
    found[name] = splits(make_file(*answers), types, baseline=True)
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
