"""How many wrong labels are found, of those that were put into a file.

    python -m benchmarks.label_errors --train_path=FILE --out=DIR [--seeds=3] [--folds=4] FLAGS
    python -m benchmarks.label_errors --run_dir=RUN [--run_dir=RUN]... [--part=test] [--seeds=10]

Gives a share of the entities another type or another boundary, and prints, in Markdown, the share
of these entities that stand among the first as many places (mean and standard deviation over
seeds), for several scores. With --train_path the folds of `uanet find_label_errors` are trained
with the FLAGS of train, in DIR/seedN; complete ones are not trained again. With --run_dir the
development (or test) file of each run gets the wrong entities, and nothing is trained.
"""

import collections
import dataclasses
import pathlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import uanet_tf
from benchmarks.command_line import make_parser
from uanet_lite.columns_file import read_corpus
from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import Span, decode_spans, detect_scheme, encode_spans
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.commands.setting_flags import settings_of
from uanet_tf.commands.training_runs import train_folds
from uanet_tf.config import Config
from uanet_tf.evaluation.label_errors import (
    LabelDoubt,
    doubts_of,
    given_and_predicted,
    surest_first,
)
from uanet_tf.tagging.streams import tag_in_context

# {score of a place: from the probabilities of given and predicted labels of its tokens}; the
# highest come first.
SCORES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "lowest given": lambda given, predicted: -float(given.min()),
    "mean given": lambda given, predicted: -float(given.mean()),
    "product of given": lambda given, predicted: -float(np.log(np.maximum(given, _SMALLEST)).sum()),
    "lowest predicted": lambda given, predicted: float(predicted.min()),
    "(1 - lowest given) x lowest predicted": lambda given, predicted: float(
        (1 - given.min()) * predicted.min()
    ),
}
_SMALLEST = 1e-12
_RARE = 10  # places that each kind has besides its own, so that the rarest do not come first
_NEVER = 1e6  # nats: the gate stays shut
# {what was changed: answers of each sentence}.
Answers = dict[str, list[TaggedSentence]]


class Corruption(NamedTuple):
    """A wrong label: the sentence's number, the true entity and what stands in its place."""

    sentence: int
    true: Span
    given: Span


def corrupt(
    sentences: Sequence[Sentence], share: float, seed: int, scheme: str = "IOB2"
) -> tuple[list[Sentence], list[Corruption]]:
    """Gives entities another type or another boundary, each for a half of those drawn.

    Args:
      sentences: with right labels.
      share: of the entities, in (0, 1).
      seed: of the draw.
      scheme: of the labels.
    """
    random = np.random.default_rng(seed)
    spans = [decode_spans(sentence.labels, scheme) for sentence in sentences]
    types = sorted({span.type for found in spans for span in found})
    places = [(k, place) for k, found in enumerate(spans) for place in range(len(found))]
    chosen = random.choice(len(places), round(share * len(places)), replace=False)
    done = []
    for number in sorted(chosen):
        k, place = places[number]
        true = spans[k][place]
        moves = _moves(spans[k], place, len(sentences[k].tokens))
        if moves and random.random() < 0.5:
            given = moves[random.integers(len(moves))]
        else:
            others = [name for name in types if name != true.type]
            given = true._replace(type=others[random.integers(len(others))])
        spans[k][place] = given
        done.append(Corruption(k, true, given))
    changed = [
        dataclasses.replace(s, labels=tuple(encode_spans(found, len(s.tokens), scheme)))
        for s, found in zip(sentences, spans, strict=True)
    ]
    return changed, done


def _moves(spans: Sequence[Span], place: int, length: int) -> list[Span]:
    """The entity with its first or last boundary moved by a token, where that is possible."""
    span = spans[place]
    left = spans[place - 1].end if place else 0
    right = spans[place + 1].start if place + 1 < len(spans) else length
    return [
        moved
        for moved in (
            span._replace(start=span.start - 1),
            span._replace(start=span.start + 1),
            span._replace(end=span.end - 1),
            span._replace(end=span.end + 1),
        )
        if left <= moved.start < moved.end <= right
    ]


class Place(NamedTuple):
    """A place where a file and a tagger differ.

    Attributes:
      given: probabilities of the labels given of its tokens.
      predicted: those of the labels predicted.
      hits: entities here that were put in wrongly.
      kind: the type given and the type predicted, of the first entities; "" for none.
      score: the one that is used, see ``surest_first``.
    """

    given: np.ndarray
    predicted: np.ndarray
    hits: int
    kind: tuple[str, str]
    score: float


def places(
    doubts: Iterable[LabelDoubt],
    wrong: set[tuple[int, Span]],
    classes: Mapping[int, Sequence[str]],
    scheme: str,
) -> list[Place]:
    """Places with what scores are made of.

    Args:
      doubts: of all taggers.
      wrong: line of the sentence and span of each entity that was put in wrongly.
      classes: of each tagger, by its fold.
      scheme: of the labels.
    """
    found = []
    for doubt in surest_first(doubts):
        here, names = slice(doubt.start, doubt.end), classes[doubt.fold]
        given, predicted = given_and_predicted(doubt.sentence, doubt.answer, names, scheme)
        hits = sum((doubt.sentence.line, span) in wrong for span in doubt.given)
        first, second = (s[0].type if s else "" for s in (doubt.given, doubt.predicted))
        found.append(Place(given[here], predicted[here], hits, (first, second), doubt.score))
    return found


def shares(found: Sequence[Place], count: int) -> dict[str, float]:
    """Percent of ``count`` wrong entities that are among the first as many places, by score."""
    hits = np.array([place.hits for place in found])
    kinds = collections.Counter(place.kind for place in found)
    values = {"correction": [place.score for place in found]}
    values["lowest given, and kind"] = [
        -np.log(max(place.given.min(), _SMALLEST) * (kinds[place.kind] + _RARE)) for place in found
    ]
    for name, score in SCORES.items():
        values[name] = [score(place.given, place.predicted) for place in found]
    results = {
        name: 100 * hits[np.argsort(-np.array(column), kind="stable")[:count]].sum() / count
        for name, column in values.items()
    }
    tokens = np.concatenate([place.given for place in found])
    owners = np.repeat(np.arange(len(found)), [len(place.given) for place in found])
    first = np.unique(owners[np.argsort(tokens, kind="stable")[:count]])
    results["each token by itself"] = 100 * hits[first].sum() / count
    return results


def answers_of(model: Any, sentences: Sequence[Sentence]) -> Answers:
    """The drafts of a tagger; where it has a gate, also what is decided with it."""
    answers = {}
    if model.gate is not None:
        answers["with the gate, "] = [answer for _, answer in tag_in_context(model, sentences)]
        model.threshold = _NEVER
    drafts = [answer for _, answer in tag_in_context(model, sentences)]
    return {"": drafts, **answers}


def figures(
    judged: Iterable[tuple[Sequence[Sentence], Answers, Sequence[str]]],
    wrong: set[tuple[int, Span]],
    scheme: str,
) -> dict[str, float]:
    """All figures of one draw.

    Args:
      judged: sentences, what a tagger answers for them, its classes.
      wrong: see ``places``.
      scheme: of the labels.
    """
    doubts: dict[str, list[LabelDoubt]] = {}
    names: dict[int, Sequence[str]] = {}
    for fold, (sentences, answers, classes) in enumerate(judged):
        names[fold] = classes
        for kind, tagged in answers.items():
            for sentence, answer in zip(sentences, tagged, strict=True):
                parts = doubts_of(sentence, answer, classes, scheme, fold)
                doubts.setdefault(kind, []).extend(parts)
    kinds = {kind: places(part, wrong, names, scheme) for kind, part in doubts.items()}
    results = {
        "entities put in wrongly": float(len(wrong)),
        "places where file and taggers differ": float(len(kinds[""])),
        "wrong entities at one of these places, %": (
            100 * sum(place.hits for place in kinds[""]) / len(wrong)
        ),
    }
    for kind, found in kinds.items():
        results |= {f"{kind}{name}, %": v for name, v in shares(found, len(wrong)).items()}
    return results


def drawn(
    path: str, config: Config, share: float, seed: int
) -> tuple[list[Sentence], set[tuple[int, Span]], str]:
    """The sentences of a file with wrong entities; which they are, see ``places``; the scheme."""
    data = config.data
    clean = read_corpus(path, token_column=data.token_column, label_column=data.label_column)
    scheme = detect_scheme(sentence.labels for sentence in clean)
    if scheme is None:
        raise SystemExit(f"{path} holds no entities.")
    sentences, done = corrupt(clean, share, seed, scheme)
    return sentences, {(sentences[each.sentence].line, each.given) for each in done}, scheme


def of_folds(
    path: str, folder: pathlib.Path, config: Config, share: float, folds: int
) -> dict[str, float]:
    """Figures of one seed, with taggers trained for it."""
    sentences, wrong, scheme = drawn(path, config, share, config.training.seed)
    judged = []
    for run_dir, unseen in train_folds(str(folder), config, sentences, folds=folds):
        model = uanet_tf.load_model(run_dir, return_probabilities=True)
        parts = [sentences[k] for k in unseen]
        judged.append((parts, answers_of(model, parts), model.class_names))
    return figures(judged, wrong, scheme)


def of_run(run_dir: str, part: str, share: float, seeds: int) -> list[dict[str, float]]:
    """Figures of each seed, of a trained run's development or test file."""
    model = uanet_tf.load_model(run_dir, return_probabilities=True)
    path, found = getattr(model.settings.data, f"{part}_path"), []
    answers: Answers = {}
    for seed in range(1, seeds + 1):
        sentences, wrong, scheme = drawn(path, model.settings, share, seed)
        answers = answers or answers_of(model, sentences)
        found.append(figures([(sentences, answers, model.class_names)], wrong, scheme))
    return found


def main(arguments: Sequence[str], write: Callable[[str], Any] = sys.stdout.write) -> None:
    """Runs all seeds and writes the table."""
    parser = make_parser("label_errors", __doc__)
    parser.add_argument("--train_path")
    parser.add_argument("--out")
    parser.add_argument("--run_dir", action="append", default=[])
    parser.add_argument("--part", choices=["dev", "test"], default="dev")
    parser.add_argument("--share", type=float, default=0.05)
    for name, default in (("seeds", 3), ("folds", 4)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options, rest = parser.parse_known_args(arguments)
    found: list[dict[str, float]] = []
    for run_dir in options.run_dir:
        found += of_run(run_dir, options.part, options.share, options.seeds)
    if options.train_path and options.out:
        for seed in range(1, options.seeds + 1):
            config = settings_of(rest).config.replace(seed=seed)
            folder = pathlib.Path(options.out) / f"seed{seed}"
            found.append(of_folds(options.train_path, folder, config, options.share, options.folds))
    write("| | mean | sd |\n| --- | --- | --- |\n")
    for name in found[0]:
        numbers = [each[name] for each in found]
        sd = f"{np.std(numbers, ddof=1):.1f}" if len(numbers) > 1 else "-"
        write(f"| {name} | {np.mean(numbers):.1f} | {sd} |\n")


if __name__ == "__main__":
    main(sys.argv[1:])
