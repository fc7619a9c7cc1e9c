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
    SCORER,
    Evaluation,
    above_threshold,
    counted,
    groups_of_answers,
    in_percent,
    trust_rows,
    word_rows,
)
from uanet_tf.metrics import breakdown, scoring
from uanet_tf.metrics.breakdown import confusion
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
_GAMMAS = 41


@dataclasses.dataclass(frozen=True)
class ReportInput:
    """What a page is made of.

    Attributes:
      title: name of the run.
      data: name of the labelled file.
      evaluation: its scores.
      gold: labels of the file, a sequence for each sentence.
      tagged: answers for the same sentences.
      plain: answers of one pass without dropout and refinement.
      threshold: Gamma, nats; None: there is no gate.
      known: for each token whether the training data had its word; None: not known.
      shown: what there is to show a person; None: labels are no chunks.
      targets: what the tagger promises, see ``Tagger.targets``.
      samples: rows of (M, score, sentences per second); [] where M was not varied.
      sample_sentences: how many sentences these rows are of.
    """

    title: str
    data: str
    evaluation: Evaluation
    gold: scoring.Labels
    tagged: Sequence[TaggedSentence]
    plain: Sequence[TaggedSentence]
    threshold: float | None
    known: Sequence[Sequence[bool]] | None = None
    shown: Shown | None = None
    targets: Mapping[str, float] = dataclasses.field(default_factory=dict)
    samples: Sequence[tuple[int, float, float]] = ()
    sample_sentences: int = 0

    @property
    def measure(self) -> str:
        """Name of the score."""
        return "F1" if self.evaluation.task == "ner" else "Accuracy"


def report_page(given: ReportInput) -> str:
    """The page, as text."""
    labels = [sentence.labels for sentence in given.tagged]
    counts = confusion(given.gold, labels, task=given.evaluation.task)
    parts = [
        _head(given),
        _section("Scores", _scores(given)),
        _section("Can the confidence be believed?", _trust(given)),
        _section("What it costs to miss little", _costs(given)),
        _section("Where it is right", _groups(given)),
        _section("Gamma and M", _sweeps(given)),
        _section("Confusion", figures.confusion_table(counts)),
        *_examples(given),
    ]
    style = resources.files("uanet_tf.evaluation").joinpath(_STYLE).read_text("utf-8")
    title = html.escape(f"{given.title} on {given.data}")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body><main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main></body></html>\n"
    )


def _section(title: str, body: str) -> str:
    return f"<section><h2>{html.escape(title)}</h2>\n{body}</section>" if body else ""


def _head(given: ReportInput) -> str:
    evaluation = given.evaluation
    key = "f1" if evaluation.task == "ner" else "accuracy"
    (score,) = evaluation.system_cells("final", [key])
    if "final" in evaluation.nothing:
        told = f"{given.measure} <strong>-</strong>: {NO_ENTITIES}"
    else:
        told = f"{given.measure} <strong>{score} %</strong>"
    gate = "" if given.threshold is None else f", Gamma {given.threshold:g} nats"
    return (
        f"<h1>{html.escape(given.title)} on {html.escape(given.data)}</h1>"
        f"<p>{told}; {counted(evaluation.sentences, 'sentence')}, "
        f"{counted(evaluation.tokens, 'token')}{gate}.</p>"
    )


def _scores(given: ReportInput) -> str:
    evaluation = given.evaluation
    keys = ("precision", "recall", "f1") if evaluation.task == "ner" else ()
    heads = [*keys, "accuracy"]
    systems = [
        [evaluation.system_name(name), *evaluation.system_cells(name, heads)]
        for name in evaluation.systems
    ]
    types = [
        [
            name or "(untyped)",
            *(in_percent(each[key]) for key in ("precision", "recall", "f1")),
            f"{each['support']:,}",
        ]
        for name, each in sorted(evaluation.types.items(), key=lambda row: -row[1]["support"])
    ]
    by = "type" if keys else "label"
    shown = [head.replace("f1", "F1") for head in heads]
    scorer = f" ({SCORER})" if keys else ""
    parts = [figures.table(f"All, percent{scorer}", ["", *shown], systems)]
    if types:
        heads = [by, "precision", "recall", "F1", "in the file"]
        parts.append(figures.table(f"By {by}, percent", heads, types))
    if rows := word_rows(evaluation):
        parts.append(figures.table("By words that training had or not", rows[0], rows[1:]))
    if evaluation.unknown_labels:
        names = ", ".join(
            f"{name} ({count:,})" for name, count in evaluation.unknown_labels.items()
        )
        told = html.escape(f"Labels that the tagger does not know, scored as errors: {names}.")
        parts.append(f"<p>{told}</p>")
    return "".join(parts)


def _trust(given: ReportInput) -> str:
    task, gold = given.evaluation.task, given.gold
    uncertain = above_threshold(given.tagged, given.threshold)
    groups, plain = (
        groups_of_answers(gold, answers, task=task, uncertain=uncertain)
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
    head, *rows = trust_rows(given.evaluation.trust)
    rows = [[name.replace("  ", "\N{EN DASH} "), *cells] for name, *cells in rows]
    return (
        f"<p>{_CHARTS}</p>{_grid(charts)}"
        f"{figures.table('Finding errors, percent', head, rows)}<p>{_COLUMNS}</p>"
    )


def _costs(given: ReportInput) -> str:
    """What a person looks at, so that a share of the file's entities is shown."""
    if given.shown is None or not len(given.shown.score):
        return ""
    accepts = "precision" in given.targets
    error = ERROR / 2 if accepts else ERROR
    costs = promised_costs(given.shown, error=error, accepts=accepts)
    head, *rows = cost_rows({"accepts": accepts, "costs": costs})
    curve = figures.cost_figure(cost_curve(given.shown, accepts=accepts))
    table = figures.table("Targets, as uanet calibrate finds them on this file", head, rows)
    return f"{table}<p>{_TARGETS}</p>{_grid([curve])}"


def _groups(given: ReportInput) -> str:
    task, gold = given.evaluation.task, given.gold
    labels = [sentence.labels for sentence in given.tagged]
    unit = "entity" if task == "ner" else "token"
    groups = {
        "length of the sentence": breakdown.scores_by_sentence_length(gold, labels, task=task)
    }
    if task == "ner":
        groups["length of the entity"] = breakdown.scores_by_entity_length(gold, labels)
    if given.known is not None:
        known = breakdown.scores_by_known_words(gold, labels, given.known, task=task)
        groups["words of the training data"] = known
    # A score of nothing is 0 whatever the tagger says.
    groups = {name: [each for each in found if each.size] for name, found in groups.items()}
    return _grid(
        [
            figures.group_figure(f"{given.measure} by {name}", found, unit)
            for name, found in groups.items()
            if found
        ]
    )


def _sweeps(given: ReportInput) -> str:
    charts = []
    if given.threshold is not None:
        points = sweep_thresholds(
            given.gold,
            [sentence.draft_labels for sentence in given.tagged],
            [sentence.refined_labels for sentence in given.tagged],
            [sentence.uncertainty for sentence in given.tagged],
            task=given.evaluation.task,
            thresholds=_thresholds(given.tagged, given.threshold),
        )
        if given.evaluation.has_score:
            charts.append(figures.gamma_figure(points, given.threshold, given.measure))
        charts.append(figures.gamma_cost_figure(points, given.threshold))
    if given.samples and given.evaluation.has_score:
        charts.append(figures.samples_figure(given.samples, given.measure, given.sample_sentences))
    return _grid(charts)


def _thresholds(tagged: Sequence[TaggedSentence], own: float) -> list[float]:
    """Values of Gamma at even distances, so that a line between them is no guess; and the run's."""
    top = max(value for sentence in tagged for value in sentence.uncertainty)
    return sorted({own, *np.round(np.linspace(0.0, 1.02 * top, _GAMMAS), 3).tolist()})


def _examples(given: ReportInput) -> list[str]:
    task = given.evaluation.task
    found = find_examples(given.gold, given.tagged, task=task)
    what = "entities" if task == "ner" else "labels"
    sections = []
    for title, chosen in (
        (f"The surest wrong {what}", surest_wrong(found, _EXAMPLES)),
        (f"The most uncertain right {what}", most_doubtful_right(found, _EXAMPLES)),
    ):
        items = "".join(example_html(each, given.tagged) for each in chosen)
        accepts = any(each.accepted is not None for each in given.tagged)
        body = (
            f"{legend_html(accepts=accepts)}<ol>{items}</ol>" if items else "<p>There are none.</p>"
        )
        sections.append(_section(title, body))
    return sections


def _grid(charts: Sequence[str]) -> str:
    return f'<div class="figures">{"".join(charts)}</div>' if charts else ""


_CONTEXT = 15  # tokens on each side


@dataclasses.dataclass(frozen=True)
class Example:
    """An answer: an entity, or a token where labels are no chunks.

    Attributes:
      sentence: its position in the file.
      span: its tokens and its type or label.
      confidence: probability that it is right.
      uncertainty: nats.
      right: whether the file has the same.
      gold: what the file has in its place, for people.
    """

    sentence: int
    span: Span
    confidence: float
    uncertainty: float
    right: bool
    gold: str


def find_examples(
    gold: scoring.Labels, tagged: Sequence[TaggedSentence], *, task: str
) -> list[Example]:
    """All answers with what the file has in their place."""
    found = []
    for index, (labels, sentence) in enumerate(zip(gold, tagged, strict=True)):
        truth = scoring.items_of(labels, task)
        for span, confidence, uncertainty in _answers(sentence):
            there = [each for each in truth if each.start < span.end and span.start < each.end]
            told = ", ".join(_told(each, sentence.tokens) for each in there) or "nothing"
            found.append(
                Example(index, span, confidence, uncertainty, span in there, told),
            )
    return found


def surest_wrong(examples: Sequence[Example], most: int) -> list[Example]:
    """Wrong answers, the highest confidence first, one of each sentence."""
    wrong = [each for each in examples if not each.right]
    return _one_of_each_sentence(sorted(wrong, key=lambda each: -each.confidence))[:most]


def most_doubtful_right(examples: Sequence[Example], most: int) -> list[Example]:
    """Right answers, the highest uncertainty first, one of each sentence."""
    right = [each for each in examples if each.right]
    return _one_of_each_sentence(sorted(right, key=lambda each: -each.uncertainty))[:most]


def _one_of_each_sentence(examples: Sequence[Example]) -> list[Example]:
    """The first of each: a list of names may hold a dozen."""
    first: dict[int, Example] = {}
    for example in examples:
        first.setdefault(example.sentence, example)
    return list(first.values())


def example_html(example: Example, tagged: Sequence[TaggedSentence]) -> str:
    """An answer with the tokens round it, coloured as in a notebook."""
    sentence, span = tagged[example.sentence], example.span
    given = _told(span, sentence.tokens)
    said = (
        f"Sentence {example.sentence + 1:,}: <bdi>{text_html(given)}</bdi>, "
        f"confidence {example.confidence:.2f}, {example.uncertainty:.2f} nats"
    )
    if not example.right:
        said += f". The file has: <bdi>{text_html(example.gold)}</bdi>"
    shown = sentence_html(sentence.part(max(0, span.start - _CONTEXT), span.end + _CONTEXT))
    return f'<li><div class="said">{said}</div>{shown}</li>'


def _answers(sentence: TaggedSentence) -> list[tuple[Span, float, float]]:
    if sentence.scheme is None:
        return [
            (Span(label, place, place + 1), sentence.confidence[place], sentence.uncertainty[place])
            for place, label in enumerate(sentence.labels)
        ]
    return [
        (
            Span(entity.type, entity.token_start, entity.token_end),
            entity.confidence,
            entity.uncertainty,
        )
        for entity in sentence.entities
    ]


def _told(span: Span, tokens: Sequence[str]) -> str:
    return f"{' '.join(tokens[span.start : span.end])} ({span.type})"
