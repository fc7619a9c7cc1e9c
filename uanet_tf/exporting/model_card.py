"""The card of an exported model: what it was made from, how good it is, how to call it."""

import dataclasses
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from absl import logging

from uanet_lite import answers
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.exporting.signatures import ENTITIES
from uanet_tf.metrics.run_metrics import read_run_metrics
from uanet_tf.models.tagger import Tagger
from uanet_tf.settings import OF_THE_GATE

FILE = "MODEL_CARD.md"
_PARTS = {"draft": "draft", "refined": "all refined"}
_LAST = {
    "class": "C",
    "alternative": "K",
    "span": "S",
}  # axes of answers with several values for a token
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
    signatures: Mapping[str, Any],
    *,
    title: str,
    foreign: Iterable[str] = (),
) -> str:
    """The card in Markdown.

    Args:
      model: as exported.
      metrics: of its run, see ``read_metrics``.
      signatures: of the loaded SavedModel.
      title: name and version of the model.
      foreign: operations that are not of TensorFlow's core.
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
        scores = metrics[split]
        values = [scores.get(key) for key in (*names, *parts.values())]
        rows.append([split, *map(_number, values)])
    note = (
        "In percent, of the run's own M and Gamma at training. Entities are counted strictly, as "
        "by conlleval and seqeval. The draft is the sampled network's labels before the gate."
    )
    return f"{_table(rows)}\n\n{note}"


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
    if options.sampling == "distilled" and "distilled" in metrics:
        lines.append(_nearness(metrics["distilled"]))
    lines += _confidence(model)
    lines.append("- Inference options of the export: " + _options(model) + ".")
    for split in ("dev", "test"):
        lines += _split_calibration(split, metrics.get(split, {}))
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


def _options(model: Tagger) -> str:
    values = dataclasses.asdict(model.options)
    if model.gate is None:
        values = {name: value for name, value in values.items() if name not in OF_THE_GATE}
    return ", ".join(f"`{name}={value}`" for name, value in values.items())


def _nearness(scores: Metrics) -> str:
    gate = ""
    if "same_gate" in scores:
        gate = f", and of the tokens above Gamma in either {100 * scores['same_gate']:.1f} %"
    return (
        "- One pass replaces the samples: on dev its KL divergence from 32 samples is "
        f"{scores['kl']:.5f} nats (of the run's own M samples: {scores['kl_of_samples']:.5f}); "
        f"of the labels that are not O {100 * scores['same_labels_not_o']:.1f} % are as "
        f"sampled{gate}."
    )


def _split_calibration(split: str, scores: Metrics) -> list[str]:
    lines = []
    right, wrong = scores.get("uncertainty_correct"), scores.get("uncertainty_wrong")
    if right is not None and wrong is not None:
        ratio = f", {wrong / right:.1f} times as much" if right else ""
        lines.append(
            f"- {split}: mean uncertainty {right:.3f} nats where the draft is right, {wrong:.3f} "
            f"where it is wrong{ratio}.{_refined(scores)}"
        )
    error = scores.get("calibration_error")
    if error is not None:
        lines.append(f"- {split}: expected calibration error of the confidence {error:.2f} %.")
    return lines


def _refined(scores: Metrics) -> str:
    share = scores.get("refined_fraction")
    mended, spoilt = scores.get("wrong_to_right"), scores.get("right_to_wrong")
    if share is None or mended is None or spoilt is None:
        return ""
    return (
        f" {100 * share:.1f} % of tokens are above Gamma; the gate corrected {mended:,} labels "
        f"and spoilt {spoilt:,}."
    )


def _limits(model: Tagger) -> str:
    return "\n".join(
        [
            "- Scores hold for text like the training data, tokenised the same way; on other text "
            "nothing was measured.",
            "- Confidence and uncertainty rank answers; they are no guarantee, least of all for "
            "text unlike the training data.",
            "- The uncertainty is the total predictive one, of model and data together.",
            "- A sentence is read in one piece, and memory grows with its length: split texts into "
            f"sentences; training read at most {model.max_tokens} tokens at once.",
            "- Words not in the training data are read by characters or sub-words, if at all.",
            "- The labels repeat the biases and gaps of the training data.",
        ]
    )


def _signatures(signatures: Mapping[str, Any]) -> str:
    rows = [["signature", "inputs", "outputs"], ["---"] * 3]
    for name in sorted(signatures, key=lambda name: (name != "serving_default", name)):
        call = signatures[name]
        inputs, outputs = call.structured_input_signature[1], call.structured_outputs
        axes = ("B", "E") if name == ENTITIES else ("B", "T")
        rows.append([f"`{name}`", _specs(inputs, axes), _specs(outputs, axes)])
    outputs = {name for call in signatures.values() for name in call.structured_outputs}
    known = [*answers.tensors().values(), *(row.tensors[0] for row in answers.TOKEN_PLACES)]
    meanings = "\n".join(f"- `{each.name}`: {each.about}" for each in known if each.name in outputs)
    note = (
        "Sentences are padded on the right to any width; only `lengths` tells where they end. "
        'Outputs beyond it are "", 0 and false. A server that batches requests answers as wide '
        "as the widest of them."
    )
    if any("starts" in call.structured_outputs for call in signatures.values()):
        note += (
            " `starts` and `ends` are positions in the text, in characters (code points). A text "
            "is one sentence, whatever it holds."
        )
    if ENTITIES in signatures:
        note += (
            f" `{ENTITIES}` gives the entities of each text, `count` of them: `start` and `end` "
            "are characters of the text, `token_start` and `token_end` positions among its tokens."
        )
        if "candidate_count" in signatures[ENTITIES].structured_outputs:
            note += " Those of candidates are as wide as the most candidates of a text."
    return f"{_table(rows)}\n\n{meanings}\n\n{note}"


def _specs(specs: Mapping[str, tf.TensorSpec], all_axes: Sequence[str]) -> str:
    parts = []
    for name, spec in sorted(specs.items()):
        rank = spec.shape.rank
        axes = ", ".join(all_axes[: rank or 0]) if rank is not None else "..."
        if rank == 3 and name in answers.tensors():
            axes = f"B, T, {_LAST[answers.tensors()[name].axes[-1]]}"
        parts.append(f"`{name}` {spec.dtype.name} [{axes}]")
    return "<br>".join(parts)


def _loading(foreign: list[str]) -> str:
    if not foreign:
        return "All operations are of TensorFlow's core: no other package is needed to load it."
    return (
        f"Needs the operations of tensorflow-text ({', '.join(foreign)}): TensorFlow Serving has "
        "them; elsewhere `import tensorflow_text` before loading."
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _table(rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
