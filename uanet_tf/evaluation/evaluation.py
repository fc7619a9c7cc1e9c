"""Evaluation of a tagger on a labelled corpus: the numbers, and the table that shows them."""

import contextlib
import dataclasses
import html
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from uanet_lite.printable import printable
from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import OUTSIDE
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.metrics import breakdown, scoring
from uanet_tf.metrics.answer_group import AnswerGroup, answer_groups
from uanet_tf.metrics.error_detection import Trust, trust
from uanet_tf.metrics.run_metrics import MEASURES, as_fraction, scaled_scores
from uanet_tf.metrics.scoring import unknown_labels
from uanet_tf.settings import other_options
from uanet_tf.text.display_width import align

_MAX_LABEL_ROWS = 12
_LEAST = (16, 9)  # columns of the terminal for names and numbers
TrustGroups = dict[str, Trust]


class WordScores(NamedTuple):
    """Of the entities whose words the training data had, or had not; or of such tokens.

    Attributes:
      score: F1, or accuracy of tokens, a fraction; ``size``: how many the file has.
      uncertainty: mean of those given, nats; None: none was given.
      ece: expected calibration error of the confidence of those given, a fraction; None likewise.
    """

    score: float
    size: int
    uncertainty: float | None
    ece: float | None


# What people read for each.
GROUPS = {
    "tokens": "tokens",
    "labelled_tokens": "tokens not O",
    "uncertain_tokens": "tokens above Gamma",
    "entities": "entities",
}
SCORER = "seqeval, strict"
ABOUT_M = (
    "(M = 0: one pass without dropout and refinement, the baseline of samples;",
    " M = 1 would be one pass with dropout, a single draw, worse than both)",
)
NO_ENTITIES = "the file has no entities, and none was found"


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """All numbers of one evaluation; scores are fractions, from 0 to 1, as in metrics.json.

    Attributes:
      task: "ner" or "pos".
      metrics: the entries of metrics.json, see ``scoring.score``, with ``sentences_per_second``.
      systems: scores of ``draft``, ``refined`` and ``final``, see ``scoring.final_scores``;
        of a model without a gate, of ``final`` only.
      types: final scores of each entity type or label.
      trust: what confidence and uncertainty are worth, see ``trust_groups``: of the tagger and,
        if requested, of the ``one_pass`` softmax within it.
      sentences, tokens: how many.
      unknown_labels: gold labels that the model does not know, with their counts.
      distilled: one pass with the trained head beside samples, see ``distilled_scores``; None
        where there is no such head.
      words: see ``word_scores``; empty where it is not known which words training had.
      one_pass: final scores of the ``one_pass`` softmax, the baseline of samples; None where the
        tagger is one.
      nothing: those of ``systems``, and ``one_pass``, that found no entity in a file without
        entities. As conlleval has it, their F1 is 0 in all numbers; for people it is no score.
    """

    task: str
    metrics: dict[str, float | int | None]
    systems: dict[str, dict[str, float]]
    types: dict[str, dict[str, float | int]]
    trust: dict[str, TrustGroups]
    sentences: int
    tokens: int
    unknown_labels: dict[str, int]
    distilled: dict[str, Any] | None = None
    words: dict[str, WordScores] = dataclasses.field(default_factory=dict)
    one_pass: dict[str, float] | None = None
    nothing: frozenset[str] = frozenset()

    def __str__(self) -> str:
        """The table of ``uanet evaluate``."""
        return evaluation_table(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    @property
    def has_score(self) -> bool:
        """Whether the file has anything that the score is of: entities, or tokens."""
        return self.task != "ner" or any(each["support"] for each in self.types.values())

    def system_name(self, system: str) -> str:
        """What people read for one of ``systems``: "gated" only where there is a gate."""
        if system != "final":
            return system
        return "gated" if len(self.systems) > 1 else "labels"

    def system_cells(self, system: str, keys: Sequence[str]) -> list[str]:
        """Scores ``keys`` of one of ``systems``, or ``one_pass``, in percent; "-": none."""
        missing = set(keys) - {"accuracy"} if system in self.nothing else set()
        scores = self.one_pass if system == "one_pass" and self.one_pass else self.systems[system]
        return ["-" if key in missing else in_percent(scores[key]) for key in keys]

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the metrics, and the other attributes but those that only people read."""
        return {
            **self.metrics,
            "types": self.types,
            "trust": {
                system: {name: scores._asdict() for name, scores in groups.items()}
                for system, groups in self.trust.items()
            },
            "words": {name: scores._asdict() for name, scores in self.words.items()},
            "sentences": self.sentences,
            "tokens": self.tokens,
            "unknown_labels": self.unknown_labels,
            **({} if self.distilled is None else {"distilled": self.distilled}),
        }


def evaluate_tagged(
    gold: scoring.Labels,
    tagged: Sequence[TaggedSentence],
    *,
    task: str,
    threshold: float | None,
    seconds: float,
    known_labels: Collection[str],
    one_pass: Sequence[TaggedSentence] | None = None,
    distilled: dict[str, Any] | None = None,
    known: Sequence[Sequence[bool]] | None = None,
) -> Evaluation:
    """Scores tagged sentences against the labels, in any tag scheme, of a file.

    Args:
      threshold: Gamma that the model used, nats; None: it has no gate.
      one_pass: what the plain softmax within the model gave for them; see ``one_pass``.
      known: for each token whether the training data had its word; None: not known.

    Raises:
      ValueError: ``gold`` and ``tagged`` differ in sentences or tokens.
      InputError: ``task`` is "ner" and a gold label is no chunk label.
    """
    draft = [sentence.draft_labels for sentence in tagged]
    refined = [sentence.refined_labels for sentence in tagged]
    final = [sentence.labels for sentence in tagged]
    uncertainty = [sentence.uncertainty for sentence in tagged]
    confidence = [sentence.confidence for sentence in tagged]
    given = (gold, draft, refined, final, uncertainty)
    metrics = scoring.score(*given, task=task, threshold=threshold, confidence=confidence)
    uncertain = above_threshold(tagged, threshold)
    answered = {"tagger": tagged} | ({} if one_pass is None else {"one_pass": one_pass})
    systems = {"final": final}
    if threshold is not None:
        systems = {"draft": draft, "refined": refined, **systems}
    scores = {name: scoring.final_scores(gold, each, task=task) for name, each in systems.items()}
    measure = MEASURES[task]
    metrics |= scores["final"].total
    drafts = systems.keys() - {"final"}
    metrics |= {f"{name}_{measure}": scores[name].total[measure] for name in drafts}
    plain, found = None, dict(systems)
    if one_pass is not None and [each.uncertainty for each in one_pass] != uncertainty:
        found["one_pass"] = [sentence.labels for sentence in one_pass]
        plain = scoring.final_scores(gold, found["one_pass"], task=task).total
    empty = task == "ner" and not _has_entities(gold)
    speed = {"sentences_per_second": len(tagged) / max(seconds, 1e-9)}
    return Evaluation(
        task=task,
        metrics=scaled_scores(metrics, 0.01) | speed,
        systems={name: scaled_scores(each.total, 0.01) for name, each in scores.items()},
        types=scaled_scores({"types": scores["final"].types}, 0.01)["types"],
        trust={
            name: trust_groups(gold, answers, task=task, uncertain=uncertain)
            for name, answers in answered.items()
        },
        sentences=len(tagged),
        tokens=sum(map(len, final)),
        unknown_labels=unknown_labels(gold, known_labels, task),
        distilled=distilled,
        one_pass=scaled_scores(plain, 0.01),
        words={} if known is None else word_scores(gold, tagged, known, task=task),
        nothing=frozenset(name for name in found if empty and not _has_entities(found[name])),
    )


def word_scores(
    gold: scoring.Labels,
    tagged: Sequence[TaggedSentence],
    known: Sequence[Sequence[bool]],
    *,
    task: str,
) -> dict[str, WordScores]:
    """Scores and uncertainty with and without a word that the training data did not have.

    ``known`` tells of each token whether it had its word. For "ner" they are those of entities, of
    which one with an unseen word is unseen. They are named by ``breakdown.TRAINING_WORDS``; those
    without members are left out.
    """
    labels = [answer.labels for answer in tagged]
    parts = breakdown.scores_by_known_words(gold, labels, known, task=task)
    group = answer_groups(gold, tagged, task)["entities" if task == "ner" else "tokens"]
    pairs = zip(group.sentences, group.places, strict=True)
    kept = np.array([all(known[index][first:end]) for index, (first, end) in pairs], bool)
    given = dict(zip(breakdown.TRAINING_WORDS, (kept, ~kept), strict=True))
    scores = {}
    for part in parts:
        answers = group.where(given[part.name])
        some = len(answers.right) > 0
        uncertainty = float(answers.uncertainty.mean()) if some else None
        error = as_fraction(answers.error) if some else None
        scores[part.name] = WordScores(as_fraction(part.score), part.size, uncertainty, error)
    return scores


def _has_entities(labels: scoring.Labels) -> bool:
    return any(label != OUTSIDE for row in labels for label in row)


def evaluation_table(evaluation: Evaluation, title: str = "") -> str:
    """The evaluation as aligned plain text, without a line end after the last line."""
    metrics = evaluation.metrics
    head = (
        f"{counted(evaluation.sentences, 'sentence')}, {counted(evaluation.tokens, 'token')}, "
        f"{metrics['sentences_per_second']:,.0f} sentences/s"
    )
    types = type_rows(evaluation, _MAX_LABEL_ROWS)
    more = len(evaluation.types) - len(types) + 1 if types else 0
    lines = [f"{title}: {head}" if title else head, ""]
    lines += align(system_rows(evaluation), least=_LEAST)
    lines += [f"({NO_ENTITIES})"] if "final" in evaluation.nothing else []
    lines += ABOUT_M if evaluation.one_pass is not None else []
    lines += ["", *align(types, least=_LEAST)] if types else []
    lines += [f"({more} labels missed less often are not shown)"] if more else []
    if rows := word_rows(evaluation):
        lines += ["", *align(rows, least=(17, 9))]
    # Eight numbers fit 80 columns beside their names, also where `uanet demo` indents them.
    lines += ["", *align(trust_rows(evaluation.trust), least=(16, 6), gap=1), ""]
    if evaluation.distilled is not None:
        rows = distilled_rows(evaluation.distilled, evaluation.task)
        kept = [row for row in rows if evaluation.has_score or row[0] != "F1"]
        lines += [*align(kept, least=_LEAST), ""]
    return "\n".join([*lines, *_gate_rows(metrics)])


def system_rows(evaluation: Evaluation) -> list[list[str]]:
    """Cells of a table: the scores of each system, in percent."""
    ner = evaluation.task == "ner"
    keys = ["precision", "recall", "f1", "accuracy"] if ner else ["accuracy"]
    rows = [[SCORER if ner else "", *(key.replace("f1", "F1") for key in keys)]]
    for system in evaluation.systems:
        rows.append([evaluation.system_name(system), *evaluation.system_cells(system, keys)])
    if evaluation.one_pass is not None:
        rows.append(["M = 0", *evaluation.system_cells("one_pass", keys)])
    return rows


def type_rows(evaluation: Evaluation, most: int | None = None) -> list[list[str]]:
    """Cells of a table: entity types, or labels, by size; [] where there are none.

    Of single labels, which are many, only the ``most`` that are missed most often; None: all.
    """
    types, ner = evaluation.types, evaluation.task == "ner"
    names = sorted(types, key=lambda name: -types[name]["support"])
    if most is not None and not ner and len(names) > most:
        # By tokens of a label that were given another one.
        names.sort(key=lambda name: -types[name]["support"] * (1.0 - types[name]["recall"]))
        names = names[:most]
    rows = [["by type" if ner else "by label", "precision", "recall", "F1", "count"]]
    for name in names:
        numbers = [in_percent(types[name][key]) for key in ("precision", "recall", "f1")]
        rows.append([printable(name) or "(untyped)", *numbers, f"{types[name]['support']:,}"])
    return rows if types else []


def word_rows(evaluation: Evaluation) -> list[list[str]]:
    """Cells of a table: what ``Evaluation.words`` holds; [] where there is nothing."""
    if not evaluation.words:
        return []
    measure = "F1" if evaluation.task == "ner" else "accuracy"
    rows = [["by word", measure, "nats", "ECE", "count"]]
    for name, scores in evaluation.words.items():
        nats = _cell(scores.uncertainty, 3)
        cells = [in_percent(scores.score), nats, in_percent(scores.ece), f"{scores.size:,}"]
        rows.append([name, *cells])
    return rows


def _gate_rows(metrics: dict[str, float | int | None]) -> list[str]:
    right, wrong = metrics["uncertainty_correct"], metrics["uncertainty_wrong"]
    ratio = f" ({wrong / right:.1f} times as much)" if right and wrong is not None else ""
    draft = "label" if metrics.get("threshold") is None else "draft"
    told = [
        f"uncertainty   {_nats(right)} where the {draft} is right,",
        f"              {_nats(wrong)} where it is wrong{ratio}",
    ]
    if metrics.get("threshold") is None:
        return told
    return [
        *told,
        f"gate          {100.0 * (metrics['refined_fraction'] or 0.0):.2f} % of tokens above "
        f"{metrics['threshold']:g} nats took the refined label",
        f"              {metrics['wrong_to_right']:,} wrong -> right, "
        f"{metrics['right_to_wrong']:,} right -> wrong",
    ]


def _nats(value: float | None) -> str:
    return "- nats" if value is None else f"{value:.4f} nats"


def groups_of_answers(
    gold: scoring.Labels, tagged: Sequence[TaggedSentence], *, task: str, uncertain: np.ndarray
) -> dict[str, AnswerGroup]:
    """The groups whose confidence and uncertainty are scored; those without members are left out.

    They are ``tokens``, ``uncertain_tokens`` (``uncertain``, [N] booleans: above Gamma) and for
    "ner" also ``labelled_tokens`` (given a label other than O) and ``entities``.
    """
    groups = answer_groups(gold, tagged, task)
    tokens = groups["tokens"]
    groups["uncertain_tokens"] = tokens.where(np.asarray(uncertain, bool))
    if task == "ner":
        groups["labelled_tokens"] = tokens.where(tokens.types != OUTSIDE)
    return {name: groups[name] for name in GROUPS if name in groups and len(groups[name].right)}


def above_threshold(tagged: Sequence[TaggedSentence], threshold: float | None) -> np.ndarray:
    """[N] booleans, whether each token is above Gamma; compared as the model does, in float32."""
    nats = np.array([value for sentence in tagged for value in sentence.uncertainty], np.float32)
    return nats > np.float32(np.inf if threshold is None else threshold)


def trust_groups(
    gold: scoring.Labels, tagged: Sequence[TaggedSentence], *, task: str, uncertain: np.ndarray
) -> TrustGroups:
    """Scores confidence and uncertainty of each group: see ``groups_of_answers``."""
    groups = groups_of_answers(gold, tagged, task=task, uncertain=uncertain)
    return {
        name: trust(group.confidence, group.uncertainty, group.right)
        for name, group in groups.items()
    }


_COLUMNS = {
    "wrong": "wrong",
    "auroc": "AUROC",
    "auroc_uncertainty": "by nats",
    "aupr": "AUPR",
    "aurc": "AURC",
    "e_aurc": "E-AURC",
    "brier": "Brier",
    "ece": "ECE",
}


def trust_rows(systems: dict[str, TrustGroups]) -> list[list[str]]:
    """Cells of a table: a row for each group, a further one for each further system."""
    rows = [["finding errors", *_COLUMNS.values()]]
    for group, name in GROUPS.items():
        for number, (system, groups) in enumerate(systems.items()):
            if group in groups:
                scores = groups[group]._asdict()
                cells = {key: in_percent(scores[key]) for key in _COLUMNS}
                cells["brier"] = _cell(scores["brier"], 4)
                head = f"  {system.replace('_', ' ')}" if number else name
                rows.append([head, *cells.values()])
    return rows


def in_percent(fraction: float | None) -> str:
    """A fraction for people, in percent; "-" where there is none."""
    return _cell(None if fraction is None else 100.0 * fraction, 2)


def _cell(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


# 32 samples of each: more sentences hardly move a mean, and would take most of the time.
COMPARED = 2_500
_SYSTEMS = ("distilled", "exact", "one_pass")


def has_trained_head(model: Any) -> bool:
    """Whether a model can tag by ``--sampling=distilled``."""
    head = model.drafter.distilled
    return head is not None and bool(head.was_trained.numpy())


def distilled_scores(
    model: Any,
    sentences: Sequence[Sentence],
    answers: Mapping[str, Sequence[TaggedSentence]],
    *,
    task: str,
) -> dict[str, Any]:
    """How close one pass is to samples, and the scores of both.

    The answers are by ``distilled``, by ``exact`` sampling, and by ``one_pass`` without dropout and
    refinement.

    Returns:
      The result of ``models.nearness.compare_with_samples`` for the first ``COMPARED`` sentences;
      their number, ``compared``; ``num_samples``, the tagger's M; and ``score``, F1 or accuracy of
      all sentences by system, fractions.
    """
    from uanet_tf.models import nearness  # TensorFlow, not for --help

    gold = [sentence.labels for sentence in sentences]
    labels = {name: [tagged.labels for tagged in answers[name]] for name in _SYSTEMS}
    scores = scoring.score_systems(gold, task=task, **labels)
    return {
        **nearness.compare_with_samples(model, sentences, most=COMPARED),
        "compared": min(len(sentences), COMPARED),
        "num_samples": model.num_samples,
        "score": {name: as_fraction(scores[name][MEASURES[task]]) for name in _SYSTEMS},
    }


def distilled_rows(scores: dict[str, Any], task: str) -> list[list[str]]:
    """Cells of a table, one column per system."""
    divergences = (f"{scores[key]:.5f}" for key in ("kl", "kl_of_samples", "kl_of_one_pass"))
    rows = [
        ["one pass for M", "distilled", f"M = {scores['num_samples']}", "M = 0"],
        ["KL to 32 samples", *divergences],
        ["F1" if task == "ner" else "accuracy", *map(in_percent, scores["score"].values())],
    ]
    for name, key in (("labels not O", "same_labels_not_o"), ("gate", "same_gate")):
        if key in scores:
            rows.append([f"{name} as by M", in_percent(scores[key]), "", ""])
    return rows


def counted(count: int, one: str) -> str:
    """``count`` with the regular noun ``one`` in singular or plural."""
    return f"{count:,} {one if count == 1 else f'{one}s'}"


@contextlib.contextmanager
def one_pass(model: Any) -> Iterator[None]:
    """Within this context the model tags in one pass without dropout and without refinement.

    So its answers are a softmax tagger's own probabilities and their entropy.
    """
    gate = model.gate
    gamma = None if gate is None else gate.gamma.numpy()
    with other_options(model, num_samples=0, sampling="exact", calibrated=False):
        try:
            if gate is not None:
                gate.gamma.assign(math.inf)  # not by ``threshold``, which has no infinity
            yield
        finally:
            if gate is not None:
                gate.gamma.assign(gamma)
