"""One self-contained HTML page on a tagger and a labelled file: scores, charts, examples."""

import dataclasses
import html
from collections.abc import Mapping, Sequence
from importlib import resources

import numpy as np

from uanet_lite.sentence_html import legend_html, sentence_html, text_html
from uanet_lite.tag_schemes import Span
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.evaluation import report_figures as figures
from uanet_tf.evaluation.evaluation import (
    GROUPS,
    NO_ENTITIES,
    Evaluation,
    above_threshold,
    counted,
    groups_of_answers,
    system_rows,
    trust_rows,
    type_rows,
    word_rows,
)
from uanet_tf.metrics import breakdown, scoring
from uanet_tf.metrics.answer_group import AnswerGroup, answer_groups
from uanet_tf.metrics.run_metrics import MEASURES
from uanet_tf.metrics.target_precision import ERROR
from uanet_tf.metrics.target_recall import Shown, cost_curve, cost_rows, promised_costs
from uanet_tf.metrics.threshold_sweep import sweep_thresholds

_STYLE = "report_page.css"
# The page travels alone, so it explains itself; in full: docs/lab/uncertainty.md.
_CHARTS = (
    "Reliability: points on the dashed line are right as often as their confidence says; below it "
    "the tagger is too sure. Larger points are more answers. Risk-coverage: the share of wrong "
    "answers when only the most confident ones are taken; the lower the line, the better. One "
    "pass: the plain softmax within the same model."
)
_COLUMNS = (
    "Wrong: share of wrong answers. AUROC: how often a wrong answer has a lower confidence than a "
    "right one, 50 is chance, 100 is best; by nats: the same, with the uncertainty in place of the "
    "confidence. AUPR: how well low confidence finds wrong answers; chance gives the share of "
    "wrong ones, 100 is best. AURC: mean share of wrong answers over all shares taken, the most "
    "confident first; E-AURC: what of it a perfect order would save; 0 is best for both. Brier: "
    "mean of (confidence - right)², from 0, the best, to 1. ECE: mean distance of the confidence "
    "from the share that is right; 0 is best."
)
_TARGETS = (
    "Shown: the entities of the file that are given, or are candidates of a probability that "
    "keeps the target on other such text with a probability of 0.9. To look at: what a person "
    "sees for it. A dash: the file has too few entities, or the candidates do not reach so many."
)
_EXAMPLES = 12
_CONTEXT = 15  # tokens on each side of an example
_GAMMAS = 41


@dataclasses.dataclass(frozen=True)
class ReportInput:
    """What a page is made of.

    Attributes:
      title, data: names of the run and of the labelled file.
      gold: labels of the file; ``tagged``: answers for the same sentences.
      plain: answers of one pass without dropout and refinement.
      threshold: Gamma, nats; None: there is no gate.
      known: for each token whether the training data had its word; None: not known.
      shown: what there is to show a person; None: labels are no chunks.
      targets: what the tagger promises, see ``Tagger.targets``.
    """

    title: str
    data: str
    evaluation: Evaluation
    gold: scoring.Labels
    tagged: Sequence[TaggedSentence]
    plain: Sequence[TaggedSentence]
    threshold: float | None
    known: Sequence[Sequence[bool]] | None
    shown: Shown | None
    targets: Mapping[str, float]

    @property
    def task(self) -> str:
        """See ``Evaluation``."""
        return self.evaluation.task

    @property
    def measure(self) -> str:
        """Name of the score."""
        return "F1" if self.task == "ner" else "Accuracy"

    @property
    def labels(self) -> list[Sequence[str]]:
        """The labels given."""
        return [sentence.labels for sentence in self.tagged]


def report_page(given: ReportInput) -> str:
    """The page, as text."""
    confusion = breakdown.confusion(given.gold, given.labels, task=given.task)
    sections = {
        "Scores": _scores(given),
        "Can the confidence be believed?": _trust(given),
        "What it costs to miss little": _costs(given),
        "Where it is right": _groups(given),
        "Gamma": _gamma(given),
        "Confusion": figures.confusion_table(confusion),
        **_examples(given),
    }
    title = html.escape(f"{given.title} on {given.data}")
    style = resources.files("uanet_tf.evaluation").joinpath(_STYLE).read_text("utf-8")
    parts = [
        f"<section><h2>{html.escape(name)}</h2>\n{body}</section>"
        for name, body in sections.items()
        if body
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body><main>\n"
        + "\n".join([f"<h1>{title}</h1><p>{_summary(given)}</p>", *parts])
        + "\n</main></body></html>\n"
    )


def _summary(given: ReportInput) -> str:
    evaluation = given.evaluation
    (score,) = evaluation.system_cells("final", [MEASURES[given.task]])
    nothing = "final" in evaluation.nothing
    told = f"{given.measure} <strong>{score}{'' if nothing else ' %'}</strong>"
    gate = "" if given.threshold is None else f", Gamma {given.threshold:g} nats"
    return (
        f"{told}{f': {NO_ENTITIES}' if nothing else ''}; "
        f"{counted(evaluation.sentences, 'sentence')}, "
        f"{counted(evaluation.tokens, 'token')}{gate}."
    )


def _scores(given: ReportInput) -> str:
    evaluation = given.evaluation
    parts = [
        figures.table(title, rows)
        for title, rows in (
            ("All, percent", system_rows(evaluation)),
            ("By type, percent", type_rows(evaluation)),
            ("By words that training had or not", word_rows(evaluation)),
        )
        if rows
    ]
    if evaluation.unknown_labels:
        counts = evaluation.unknown_labels.items()
        names = ", ".join(f"{name} ({count:,})" for name, count in counts)
        told = html.escape(f"Labels that the tagger does not know, scored as errors: {names}.")
        parts.append(f"<p>{told}</p>")
    return "".join(parts)


def _trust(given: ReportInput) -> str:
    uncertain = above_threshold(given.tagged, given.threshold)
    groups, plain = (
        groups_of_answers(given.gold, answers, task=given.task, uncertain=uncertain)
        for answers in (given.tagged, given.plain)
    )
    trust = given.evaluation.trust["tagger"]
    charts = [
        figures.reliability_figure(GROUPS[name], groups[name], trust[name])
        for name in ("tokens", "uncertain_tokens", "entities")
        if name in groups
    ]
    charts += [
        figures.risk_figure(name, groups[name], plain.get(name))
        for name in ("tokens", "entities")
        if name in groups
    ]
    named = trust_rows(given.evaluation.trust)
    rows = [[name.replace("  ", "\N{EN DASH} "), *cells] for name, *cells in named]
    table = figures.table("Finding errors, percent", rows)
    return f"<p>{_CHARTS}</p>{_grid(charts)}{table}<p>{_COLUMNS}</p>"


def _costs(given: ReportInput) -> str:
    """What a person looks at, so that a share of the file's entities is shown."""
    if given.shown is None or not len(given.shown.score):
        return ""
    accepts = "precision" in given.targets
    costs = promised_costs(given.shown, error=ERROR / 2 if accepts else ERROR, accepts=accepts)
    rows = cost_rows({"accepts": accepts, "costs": costs})
    curve = figures.cost_figure(cost_curve(given.shown, accepts=accepts))
    table = figures.table("Targets, as uanet calibrate finds them on this file", rows)
    return f"{table}<p>{_TARGETS}</p>{_grid([curve])}"


def _groups(given: ReportInput) -> str:
    task, gold, labels = given.task, given.gold, given.labels
    of_lengths = breakdown.scores_by_sentence_length(gold, labels, task=task)
    groups = {"length of the sentence": of_lengths}
    if task == "ner":
        groups["length of the entity"] = breakdown.scores_by_entity_length(gold, labels)
    if given.known is not None:
        known = breakdown.scores_by_known_words(gold, labels, given.known, task=task)
        groups["words of the training data"] = known
    tables = []
    for name, found in groups.items():
        rows = [
            [each.name, f"{each.score:.1f}", f"{each.low:.1f} to {each.high:.1f}", f"{each.size:,}"]
            for each in found
            if each.size  # a score of nothing is 0 whatever the tagger says
        ]
        what = "entities" if task == "ner" else "tokens"
        head = [name, given.measure, "95 % interval", what]
        if rows:
            tables.append(figures.table(f"{given.measure} by {name}, percent", [head, *rows]))
    return _grid(tables)


def _gamma(given: ReportInput) -> str:
    if given.threshold is None:
        return ""
    # At even distances, so that a line between them is no guess; and the run's.
    top = max(value for sentence in given.tagged for value in sentence.uncertainty)
    gammas = {given.threshold, *np.round(np.linspace(0.0, 1.02 * top, _GAMMAS), 3).tolist()}
    points = sweep_thresholds(
        given.gold,
        [sentence.draft_labels for sentence in given.tagged],
        [sentence.refined_labels for sentence in given.tagged],
        [sentence.uncertainty for sentence in given.tagged],
        task=given.task,
        thresholds=sorted(gammas),
    )
    charts = [figures.gamma_cost_figure(points, given.threshold)]
    if given.evaluation.has_score:
        charts.insert(0, figures.gamma_figure(points, given.threshold, given.measure))
    return _grid(charts)


def _examples(given: ReportInput) -> dict[str, str]:
    what, name = ("entities", "entities") if given.task == "ner" else ("labels", "tokens")
    group = answer_groups(given.gold, given.tagged, given.task)[name]
    legend = legend_html(accepts=any(each.accepted is not None for each in given.tagged))
    sections = {}
    for title, wanted, scores in (
        (f"The surest wrong {what}", ~group.right, group.confidence),
        (f"The most uncertain right {what}", group.right, group.uncertainty),
    ):
        chosen = first_of_each_sentence(group, wanted, scores)[:_EXAMPLES]
        items = "".join(_example(given, group, number) for number in chosen)
        sections[title] = f"{legend}<ol>{items}</ol>" if items else "<p>There are none.</p>"
    return sections


def first_of_each_sentence(group: AnswerGroup, wanted: np.ndarray, scores: np.ndarray) -> list[int]:
    """Numbers of the answers ``wanted``, the highest score first, one of each sentence."""
    # A list of names may hold a dozen.
    first: dict[int, int] = {}
    for number in np.argsort(-scores, kind="stable"):
        if wanted[number]:
            first.setdefault(int(group.sentences[number]), int(number))
    return list(first.values())


def _example(given: ReportInput, group: AnswerGroup, number: int) -> str:
    """An answer with the tokens round it, coloured as in a notebook."""
    index = int(group.sentences[number])
    sentence = given.tagged[index]
    span = Span(str(group.types[number]), *group.places[number].tolist())
    said = (
        f"Sentence {index + 1:,}: {_told([span], sentence.tokens)}, "
        f"confidence {group.confidence[number]:.2f}, {group.uncertainty[number]:.2f} nats"
    )
    if not group.right[number]:
        truth = scoring.items_of(given.gold[index], given.task)
        there = [each for each in truth if each.start < span.end and span.start < each.end]
        said += f". The file has: {_told(there, sentence.tokens)}"
    shown = sentence_html(sentence.part(max(0, span.start - _CONTEXT), span.end + _CONTEXT))
    return f'<li><div class="said">{said}</div>{shown}</li>'


def _told(spans: Sequence[Span], tokens: Sequence[str]) -> str:
    texts = [f"{' '.join(tokens[span.start : span.end])} ({span.type})" for span in spans]
    return f"<bdi>{text_html(', '.join(texts) or 'nothing')}</bdi>"


def _grid(charts: Sequence[str]) -> str:
    return f'<div class="figures">{"".join(charts)}</div>' if charts else ""
