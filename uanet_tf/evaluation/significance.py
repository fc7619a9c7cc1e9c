"""Whether systems that were compared differ by more than chance, on the sentences of a file."""

import pathlib
from collections.abc import Sequence

import numpy as np

from uanet_tf.config import load_config
from uanet_tf.data.columns_file import read_corpus
from uanet_tf.metrics.randomization import approximate_randomization
from uanet_tf.metrics.sentence_counts import sentence_counts


def differences_from_first(
    out: pathlib.Path, systems: Sequence[str], seeds: int, path: str
) -> dict[str, float]:
    """P of the difference of each further system from the first, see ``metrics.randomization``.

    Args:
      out: directory with the runs, SYSTEM/seedN, of which all are complete.
      systems: at least one.
      seeds: the runs of a system are seed1 to this.
      path: labelled file on which they are compared.

    Raises:
      InputError: a run or the file cannot be read.
    """
    counts = [
        sum(_counts(out / system / f"seed{seed}", path) for seed in range(1, seeds + 1))
        for system in systems
    ]
    first, *others = map(np.asarray, counts)
    found = (approximate_randomization(first, other) for other in others)
    return dict(zip(systems[1:], found, strict=True))


def _counts(run_dir: pathlib.Path, path: str) -> np.ndarray:
    """[N, 3] counts of the run's answers for N sentences."""
    from uanet_tf.models.loading import load_model
    from uanet_tf.tagging.document_context import tag_in_context

    data = load_config(str(run_dir)).data
    sentences = read_corpus(path, token_column=data.token_column, label_column=data.label_column)
    model = load_model(run_dir)
    if model.gate is not None:
        model.refine_all = False
    labels = [answer.labels for _, answer in tag_in_context(model, sentences)]
    task = "pos" if model.label_scheme is None else "ner"
    return sentence_counts([sentence.labels for sentence in sentences], labels, task=task)
