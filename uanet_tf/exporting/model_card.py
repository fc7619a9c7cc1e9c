"""The card of an exported model: what it was made from, how good it is, how to call it."""

import dataclasses
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

from absl import logging

from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.metrics.run_metrics import read_run_metrics
from uanet_tf.models.tagger import Tagger
from uanet_tf.settings import OF_THE_GATE

FILE = "MODEL_CARD.md"
_PARTS = {"draft": "draft", "refined": "all refined"}
_SCORES = ("f1", "precision", "recall", "accuracy")
Metrics = Mapping[str, Any]


def read_metrics(run_dir: pathlib.Path) -> Metrics:
    """``metrics.json`` of a run; empty, with a warning, if it cannot be read."""
    try:
        return read_run_metrics(run_dir / "metrics.json")
    except InputError as error:
        logging.warning("%s; the model card has no scores", error)
        return {}


def model_card(
    model: Tagger,
    metrics: Metrics,
    signatures: Iterable[str],
    *,
    title: str,
    foreign: Iterable[str] = (),
) -> str:
    """The card of a model as exported, in Markdown.

    ``metrics`` is of ``read_metrics``; ``foreign`` operations are not of TensorFlow's core.
    """
    config = model.settings
    parts = [
        f"# {title}",
        _purpose(model, config),
        "## Data",
        _data(model, config),
        "## Scores",
        _scores(metrics),
        "## Uncertainty, gate and calibration",
        _gate(model, config, metrics),
        "## Limits",
        _limits(model),
        "## Signatures",
        _signatures(signatures),
        _loading(sorted(foreign)),
    ]
    return "\n\n".join(parts) + "\n"


def _purpose(model: Tagger, config: Config) -> str:
    kind = "chunks (entities)" if model.label_scheme else "a label for each token"
    return (
        f"A sequence labeller of uanet_tf that gives {kind}, with an uncertainty for each token: "
        f"representation `{config.representation.representation}`, encoder "
        f"`{config.encoder.encoder}`, decoder `{config.decoder.decoder}`."
    )


def _data(model: Tagger, config: Config) -> str:
    files = {name: getattr(config.data, f"{name}_path") for name in ("train", "dev", "test")}
    lines = [f"- {name}: `{pathlib.Path(path).name}`" for name, path in files.items() if path]
    if config.data.word_vectors:
        lines.append(f"- word vectors: `{pathlib.Path(config.data.word_vectors).name}`")
    scheme = f", in {model.label_scheme}" if model.label_scheme else ""
    labels = ", ".join(f"`{label}`" for label in model.label_names)
    words, chars = len(model.vocabulary.words), len(model.vocabulary.chars)
    lines += [
        f"- known: {words:,} words, {chars:,} characters",
        f"- {len(model.label_names)} labels{scheme}: {labels}",
    ]
    return "\n".join(lines)


def _scores(metrics: Metrics) -> str:
    splits = [name for name in ("dev", "test") if name in metrics]
    if not splits:
        return "The run holds no scores."
    names = [name for name in _SCORES if name in metrics[splits[0]]]
    main = names[0]
    parts = {f"{kind} {main}": f"{key}_{main}" for key, kind in _PARTS.items()}
    parts = {head: key for head, key in parts.items() if key in metrics[splits[0]]}
    heads = [*names, *parts]
    rows = [["data", *heads], ["---"] * (len(heads) + 1)]
    for split in splits:
        values = [metrics[split].get(key) for key in (*names, *parts.values())]
        rows.append([split, *("-" if value is None else f"{value:.2f}" for value in values)])
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    note = (
        "In percent, of the run's own M and Gamma at training. Entities are counted strictly, as "
        "by conlleval and seqeval. The draft is the sampled network's labels before the gate."
    )
    return f"{table}\n\n{note}"


def _gate(model: Tagger, config: Config, metrics: Metrics) -> str:
    options = model.options
    samples = (
        f"M = {options.num_samples} Monte Carlo samples, masks of seed {options.mc_seed}"
        if options.num_samples and model.drafter.samples_differ
        else "one pass without dropout"
    )
    if options.sampling == "distilled":
        samples = "one pass, with a head trained to predict the mean of the samples"
    gate = (
        f"a token above Gamma = {model.threshold:g} nats gets the refined label"
        if model.gate is not None
        else "this decoder has no refiner, so `refined` is false everywhere"
    )
    lines = [
        f"- Uncertainty: entropy, in nats, from {samples}; nothing is drawn at a call: a "
        "sentence gets the same answer on every replica, in every batch and row.",
        f"- Gate: {gate}. Gamma belongs to this model and its labels: entropy grows with the "
        "logarithm of their number.",
    ]
    if model.gate is not None and not options.refine_all:
        lines.append(
            "- Tokens up to Gamma are not refined: `refined_labels` follow the draft there. No "
            "other answer differs."
        )
    lines += _confidence(model)
    values = dataclasses.asdict(options)
    kept = [name for name in values if model.gate is not None or name not in OF_THE_GATE]
    listed = ", ".join(f"`{name}={values[name]}`" for name in kept)
    lines.append(f"- Inference options of the export: {listed}.")
    for split in ("dev", "test"):
        lines += _uncertainty(split, metrics.get(split, {}))
    return "\n".join(lines)


def _confidence(model: Tagger) -> list[str]:
    is_calibrated = model.calibrated and model.calibration.is_fitted
    lines = ["- Confidence: the model's own probability of the label, not calibrated."]
    if is_calibrated:
        lines = [
            "- Confidence: calibrated on labelled sentences that the weights were not fitted to; "
            "an entity has the lowest of its tokens."
        ]
    target = model.acceptance.target_value
    if is_calibrated and target:
        lines.append(
            f"- `accepted`: those answers were found to have a precision of at least {target:g}, "
            "with a probability of 0.9, on text like the calibration's. An entity is accepted if "
            "all its tokens are."
        )
    recall = model.targets.get("recall")
    if recall:
        lines.append(
            f"- Candidates (`return_candidates`): of the entities of a text at least {recall:g} "
            "are among those given (accepted, with a target precision) and the candidates, with a "
            "probability of 0.9."
        )
    if model.targets:
        lines.append(
            "- What is promised holds for text that is exchangeable with that of the calibration: "
            "text that could as well have been in that file, of the same sources, time and way "
            "of annotating. It does not hold for other text; `uanet tag --monitor` tells when a "
            "stream differs."
        )
    return lines


def _uncertainty(split: str, scores: Metrics) -> list[str]:
    lines = []
    right, wrong = scores.get("uncertainty_correct"), scores.get("uncertainty_wrong")
    if right is not None and wrong is not None:
        lines.append(
            f"- {split}: mean uncertainty {right:.3f} nats where the draft is right, {wrong:.3f} "
            "where it is wrong."
        )
    error = scores.get("calibration_error")
    if error is not None:
        lines.append(f"- {split}: expected calibration error of the confidence {error:.2f} %.")
    return lines


def _limits(model: Tagger) -> str:
    return (
        "- Scores hold for text like the training data, tokenised the same way; on other text "
        "nothing was measured.\n"
        "- Confidence and uncertainty rank answers; they are no guarantee, least of all for text "
        "unlike the training data.\n"
        "- The uncertainty is the total predictive one, of model and data together.\n"
        "- A sentence is read in one piece, and memory grows with its length: split texts into "
        f"sentences; training read at most {model.max_tokens} tokens at once.\n"
        "- Words not in the training data are read by characters or sub-words, if at all.\n"
        "- The labels repeat the biases and gaps of the training data."
    )


def _signatures(names: Iterable[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in sorted(names))
    return (
        f"{listed}. `saved_model_cli show` lists their inputs and outputs. Sentences are padded on "
        'the right to any width; only `lengths` tells where they end. Outputs beyond it are "", 0 '
        "and false. Positions in a text are characters (code points)."
    )


def _loading(foreign: list[str]) -> str:
    if not foreign:
        return "All operations are of TensorFlow's core: no other package is needed to load it."
    return (
        f"Needs the operations of tensorflow-text ({', '.join(foreign)}): TensorFlow Serving has "
        "them; elsewhere `import tensorflow_text` before loading."
    )
