"""The gain of refining the uncertain sentences of several batches together.

    python -m benchmarks.refined_together --run_dir=RUN --data=FILE [--repeats=15]

As it is, a batch is drafted and refined in one graph. Together: one graph drafts; the tokens of
sentences with a token above Gamma wait, with the word vectors that the refiner reads; when enough
wait, another graph refines them. Both ways batches run side by side, one thread each. It is an
experiment: no tagger does so.
"""

import collections
import statistics
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

import uanet_tf
from benchmarks.command_line import make_parser
from benchmarks.measure import matmul_rate, timed
from uanet_lite.columns_file import read_corpus
from uanet_tf.exporting.sample_inputs import pad
from uanet_tf.models.label_refiner import LabelRefiner
from uanet_tf.models.results import Decision, Draft
from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.masking import keep, sequence_mask
from uanet_tf.representation.representation import features_of_rows
from uanet_tf.tagging.batches import Sizes, _batches, limits_for
from uanet_tf.tagging.parallel_batches import BatchThreads, run_each_on_one_thread, threads_for

# So many make a batch to refine: as a batch of one pass holds.
TOKENS = 4_000
Batch = tuple[np.ndarray, np.ndarray]  # tokens [B, T], lengths [B]
Answers = dict[str, np.ndarray]


class Uncertain(NamedTuple):
    """The sentences of a batch to refine.

    Attributes:
      batch: its number.
      rows: [R], their numbers in the batch.
      lengths: [R], their tokens.
      tokens: of their N tokens, one after another, word vectors [N, D], p [N, C] and u [N].
    """

    batch: int
    rows: np.ndarray
    lengths: np.ndarray
    tokens: list[np.ndarray]


def table(run_dir: str, data: str, *, sampling: str = "distilled", repeats: int = 15) -> str:
    """Milliseconds for the whole file both ways, as Markdown.

    Args:
      run_dir: a trained run with a refiner.
      data: CoNLL file.
      sampling: of the draft.
      repeats: timed rounds over both ways.
    """
    run_each_on_one_thread()
    model = uanet_tf.load_model(run_dir, sampling=sampling)
    together = Together(model)
    with BatchThreads(threads_for(model)) as threads:
        sentences = [list(sentence.tokens) for sentence in read_corpus(data)]
        batches = batched(model, sentences, threads.count)
        ways: dict[str, Callable[[], list[Answers]]] = {
            "as it is": lambda: list(threads.map(lambda batch: model.tag_batch(*batch), batches)),
            "together": lambda: together.tag(batches, threads),
        }
        equal = same_labels([way() for way in ways.values()], batches)
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(repeats):
            for name, way in ways.items():
                seconds[name].append(timed(way, repeats=1, warm_up=0).median)
    times = [[1e3 * one for one in row] for row in seconds.values()]
    ratio = statistics.median(new / old for old, new in zip(*times, strict=True))
    lines = ["| refined | milliseconds |", "| --- | --- |"]
    lines += [
        f"| {name} | {statistics.median(row):.0f} ({min(row):.0f} to {max(row):.0f}) |"
        for name, row in zip(ways, times, strict=True)
    ]
    tail = (
        f"{len(batches)} batches; together takes {ratio:.2f} of the time (median over the rounds); "
        f"{100 * equal:.2f} % of the labels are equal. Large matrix product "
        f"{matmul_rate() / 1e9:.0f} GFLOP/s on one thread."
    )
    return "\n".join([*lines, "", tail])


def batched(model: Any, sentences: Sequence[list[str]], threads: int) -> list[Batch]:
    """The batches that ``tag`` makes of sentences, without its filling up."""
    lengths = np.array([len(tokens) for tokens in sentences])
    limits = limits_for(model, Sizes(None, None), int(lengths.sum()), threads)
    padded = [pad([sentences[row] for row in rows]) for rows in _batches(lengths, limits)]
    return [(batch["tokens"], batch["lengths"]) for batch in padded]


def same_labels(both: Sequence[list[Answers]], batches: Sequence[Batch]) -> float:
    """The share of the tokens that get the same label both ways."""
    equal = [
        (a["labels"] == b["labels"])[np.arange(tokens.shape[1]) < lengths[:, np.newaxis]]
        for a, b, (tokens, lengths) in zip(*both, batches, strict=True)
    ]
    return float(np.mean(np.concatenate(equal)))


class Together:
    """Drafts batch by batch, then refines the uncertain sentences of several batches at once.

    Args:
      model: a tagger with a refiner that reads words and drafts of the sentence.
    """

    def __init__(self, model: Any):
        self._model = model
        numbers = tf.TensorSpec([None], tf.int32)
        self._draft = graph_function([tf.TensorSpec([None, None], tf.string), numbers])(
            self._drafted
        )
        width = (model.refiner.representation or model.drafter.representation).output_width
        widths = [[width], [len(model.class_names)], []]
        vectors = [tf.TensorSpec([None, *shape], tf.float32) for shape in widths]
        self._refine = graph_function([*vectors, numbers])(self._refined)

    def tag(self, batches: Sequence[Batch], threads: Any) -> list[Answers]:
        """The answers for each batch."""
        answers: dict[int, Answers] = {}
        refined: list[tuple[list[Uncertain], Answers]] = []
        waiting: list[Uncertain] = []
        lock = threading.Lock()

        def draft(number: int) -> None:
            """Drafts a batch; then refines what waits, if that is enough for a batch."""
            answer, rows, *tokens = self._draft_batch(batches[number])
            answers[number], group = answer, []
            with lock:
                if len(rows):
                    waiting.append(Uncertain(number, rows, batches[number][1][rows], tokens))
                if sum(one.lengths.sum() for one in waiting) >= TOKENS:
                    group, waiting[:] = list(waiting), []
            if group:
                refined.append((group, self._refine_group(group)))

        collections.deque(threads.map(draft, range(len(batches))), maxlen=0)
        half = len(waiting) // 2
        rest = [group for group in (waiting[:half], waiting[half:]) if group]
        refined += zip(rest, threads.map(self._refine_group, rest), strict=True)
        for group, changed in refined:
            place = 0
            for part in group:
                stop, width = place + len(part.rows), part.lengths.max()
                for name, values in changed.items():
                    answers[part.batch][name][part.rows, :width] = values[place:stop, :width]
                place = stop
        return [answers[number] for number in range(len(batches))]

    def _draft_batch(self, batch: Batch) -> list:
        answer, *rest = self._draft(tf.constant(batch[0], tf.string), tf.constant(batch[1]))
        values = {name: values.numpy().copy() for name, values in answer.items()}
        return [values, *(part.numpy() for part in rest)]

    def _refine_group(self, group: list[Uncertain]) -> Answers:
        parts = [np.concatenate(part) for part in zip(*(one.tokens for one in group), strict=True)]
        lengths = np.concatenate([one.lengths for one in group])
        found = self._refine(*map(tf.constant, (*parts, lengths)))
        return {name: values.numpy() for name, values in found.items()}

    def _drafted(self, tokens: Any, lengths: Any) -> tuple:
        """Answers of the draft; rows to refine [R]; of their N tokens vectors, p and u."""
        model = self._model
        features = model.features({"tokens": tokens, "lengths": lengths})
        draft = model.draft(features)
        decision = model._calibrated(Decision(draft.label_ids, draft.probabilities, draft))
        wanted = keep(draft.mask, model.gate.passes(draft.uncertainty), False)
        rows = tf.cast(tf.where(tf.reduce_any(wanted, axis=1))[:, 0], tf.int32)
        part = draft.rows(rows)
        of_rows, refiner = features_of_rows(features, rows), model.refiner
        own = part.words
        if refiner.representation is not None:
            own = refiner.representation(of_rows)
        words = refiner._words(own, of_rows, part)
        kept = [words, part.probabilities, part.uncertainty]
        flat = [tf.boolean_mask(values, part.mask) for values in kept]
        return (model.answers.positions(decision, model.graph_options), rows, *flat)

    def _refined(self, words: Any, probabilities: Any, uncertainty: Any, lengths: Any) -> Any:
        """What refining changes in the answers of these sentences, [R, T] each."""
        model = self._model
        mask = sequence_mask(lengths, tf.reduce_max(lengths))
        places = tf.where(mask)

        def padded(values: Any) -> Any:
            shape = tf.concat([tf.shape(mask), tf.shape(values)[1:]], axis=0)
            block = tf.scatter_nd(places, values, tf.cast(shape, places.dtype))
            return tf.ensure_shape(block, [None, None, *values.shape[1:]])

        words, p, u = map(padded, (words, probabilities, uncertainty))
        wanted = model.gate.passes(u) & mask
        draft = Draft(tf.zeros_like(mask, tf.int32), p, u, mask, words)
        # Without a representation of its own it reads the draft's word vectors, which these are.
        refiner = LabelRefiner(model.refiner.stack)
        features = {"form_index": tf.zeros_like(mask, tf.int32), "lengths": lengths}
        gated = model.gate.passed(refiner.refine(features, draft, wanted), wanted, mask)
        (ids,) = model.drafter.sequences(
            [gated.label_ids], [gated.probabilities], mask, model.graph_options
        )
        decision = model._calibrated(Decision(ids, gated.probabilities, draft, ids, gated.refined))
        answers = model.answers.positions(decision, model.graph_options)
        changed = ("labels", "refined_labels", "confidence", "refined", "accepted")
        return {name: answers[name] for name in changed if name in answers}


def main() -> None:
    """Prints the table."""
    parser = make_parser("refined_together", __doc__)
    parser.add_argument("--run_dir", required=True)
    parser.add_argument("--data", required=True, metavar="FILE")
    parser.add_argument("--sampling", choices=("distilled", "exact"), default="distilled")
    parser.add_argument("--repeats", type=int, default=15)
    given = parser.parse_args()
    text = table(given.run_dir, given.data, sampling=given.sampling, repeats=given.repeats)
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
