"""The training run: from a configuration to a run directory."""

import contextlib
import json
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from uanet_lite.sentence import Sentence
from uanet_tf.config import Config
from uanet_tf.data.batching import BatchBuilder, batched_dataset, plan_batches
from uanet_tf.metrics.run_metrics import in_percent, metrics_text, scaled_scores
from uanet_tf.models.nearness import compare_with_samples, nearness_text
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.devices import gpu_text, out_of_memory_as, share_gpus, tensor_float_32
from uanet_tf.settings import other_options
from uanet_tf.training.confidence_fit import calibrate
from uanet_tf.training.development import (
    choose_threshold,
    development_reference,
    score_corpus,
    warn_of_cost,
    warn_of_empty,
)
from uanet_tf.training.distillation import distill
from uanet_tf.training.draft_memory import DraftMemory
from uanet_tf.training.fill_vectors import round_differences
from uanet_tf.training.init_model import go_back, init_model, slower
from uanet_tf.training.optimizers import AVERAGE_EVERY, WeightAverage
from uanet_tf.training.prepare import Prepared, prepare
from uanet_tf.training.replicas import (
    Replicas,
    check_alike,
    check_possible,
    check_same_state,
    chiefs_metrics,
    make_replicas,
    reported_loss_of_workers,
)
from uanet_tf.training.run_directory import RunDirectory, file_hashes, hash_sentences
from uanet_tf.training.saved_state import (
    Progress,
    StateKeeper,
    copy_weights,
    load_weights,
    save_weights,
)
from uanet_tf.training.stop_request import StopRequest
from uanet_tf.training.trainer import Trainer
from uanet_tf.training.training_logs import TrainingLogs, progress_bar

Metrics = dict[str, Any]

_COMPARED = 500  # sentences on which the distilled draft is compared with samples


def fit(
    config: Config,
    run_dir: str | os.PathLike,
    *,
    given: Collection[str] = (),
    bars: bool | None = None,
    held: Mapping[str, Sequence[Sentence]] = MappingProxyType({}),
    model: Tagger | None = None,
) -> Metrics:
    """Trains a tagger, or resumes a run that was stopped at any moment.

    Args:
      run_dir: directory of the run; created if it does not exist.
      given: names of the settings that the user gave: each must be read by the chosen parts.
      bars: whether bars with the scores of each epoch are shown, see ``progress_bar``.
      held: sentences of "train", "dev" or "test" in place of the files, which are written.
      model: of ``--init``, if it is loaded.

    Returns:
      The content of ``metrics.json``, scores in percent.

    Raises:
      InputError: a file, a setting or the run directory is not usable.
    """
    share_gpus()
    replicas = make_replicas(config.training.strategy)  # first of all that TensorFlow does
    run = RunDirectory(run_dir)
    tf.keras.utils.set_random_seed(config.training.seed)
    if config.training.deterministic:
        tf.config.experimental.enable_op_determinism()
    run.check(config)  # all that the user can get wrong is found before anything is written
    check_possible(replicas, config)
    finished = run.finished_metrics()
    if finished is not None:
        hashes = {f"{name}_path": hash_sentences(sentences) for name, sentences in held.items()}
        run.check_data(config, file_hashes(config.data) | hashes)
        logging.info("%s is complete; its metrics are in %s", run.path, run.metrics)
        return finished
    device = gpu_text(every=config.training.strategy != "none")
    logging.info("training on %s", device or "the processor")
    init = init_model(config.training.init, run, model) if config.training.init else None
    prepared = prepare(config, given, held, init)
    begun = run.claim(prepared.config, prepared.hashes) if replicas.is_chief else True
    try:
        if replicas.is_chief:
            run.keep(held)
            run.keep_init(init)
        with reported_loss_of_workers(replicas):
            check_alike(replicas, prepared.config, prepared.hashes)
            # Steps may be in TF32; what is scored and fitted afterwards is as in tagging.
            with tensor_float_32(True), out_of_memory_as(_out_of_memory(prepared.config)):
                return _Training(prepared.config, run, prepared, replicas, bars).run(resume=begun)
    finally:
        run.release()


def _out_of_memory(config: Config) -> str:
    return (
        "There is no memory for a batch: free some, and the same command continues from the last "
        f"saved state; or lower `batch_size={config.data.batch_size}` (or `batch_tokens="
        f"{config.data.batch_tokens}`) in another `run_dir`."
    )


class _Training:
    """The loop over epochs of one run."""

    def __init__(
        self,
        config: Config,
        run: RunDirectory,
        prepared: Prepared,
        replicas: Replicas,
        bars: bool | None = None,
    ):
        self.bars = bars if replicas.is_chief else False
        self.config = config
        self.directory = run
        self.prepared = prepared
        self.tagger = prepared.tagger
        self.measure = "f1" if prepared.task == "ner" else "accuracy"
        if self.tagger.sampling == "distilled":
            self.tagger.sampling = "exact"  # until the head is trained
        self.replicas = replicas
        if replicas.is_chief:
            run.write(run.vocabulary, self.tagger.vocabulary.to_json())
            self.logs = TrainingLogs(run.logs)
        training, memory = config.training, None
        if self.tagger.refiner_context == "document":
            memory = DraftMemory(prepared.corpus, len(self.tagger.class_names))
        with replicas.scope():
            # What is trained; the tagger itself is scored and saved.
            self.trained = self.tagger
            if replicas.count > 1:
                self.trained = Tagger.from_config(self.tagger.get_config())
                copy_weights(self.tagger, self.trained)
            self.trainer = Trainer(
                self.trained,
                slower(training) if prepared.begun else training,
                steps_per_epoch=len(self._plan(0)),
                num_tokens=len(prepared.corpus.form_index),
                dropout_rate=config.encoder.variational_dropout,
                memory=memory,
                num_replicas=replicas.count,
            )
            self.average = (
                WeightAverage(self.trained.trainable_variables, training.average_decay)
                if training.average_decay
                else None
            )
        self.stop = StopRequest()
        self.progress = Progress()
        self.keeper = StateKeeper(
            run.state, self.trainer, self.progress, self.average, read_only=not replicas.is_chief
        )
        self.batches = replicas.share(
            batched_dataset(
                BatchBuilder(prepared.corpus),
                lambda: self._plan(self.progress.epoch)[self.progress.step :],
            )
        )
        self.step = replicas.graph_of(self.trainer.step, self.batches)

    def run(self, *, resume: bool) -> Metrics:
        resumed = resume and self.keeper.restore()
        check_same_state(self.replicas, self.progress, self.directory)
        if resumed:
            logging.info(
                "resuming %s in epoch %d at step %d",
                self.directory.path,
                self.progress.epoch + 1,
                self.progress.step,
            )
        try:
            with self.stop:
                while not self._finished():
                    self._run_epoch()
            with tensor_float_32(False):
                metrics = self._finish() if self.replicas.is_chief else None
            self.replicas.agree()  # the others end with the chief
            return metrics or chiefs_metrics(self.directory)
        except KeyboardInterrupt:
            logging.info("stopped; the same command continues from the last saved state")
            raise

    def _plan(self, epoch: int) -> list[np.ndarray]:
        data = self.config.data
        return plan_batches(
            self.prepared.corpus.lengths,
            batch_size=data.batch_size,
            batch_tokens=data.batch_tokens,
            seed=self.config.training.seed,
            epoch=epoch,
            min_batches=self.config.training.min_steps,
        )

    def _finished(self) -> bool:
        training, done = self.config.training, self.progress.epoch
        if done >= training.epochs:
            return True
        best = self.progress.record["best_epoch"]
        return bool(training.patience and best and done - best >= training.patience)

    def _run_epoch(self) -> None:
        epoch, done = self.progress.epoch, self.progress.step
        name = f"epoch {epoch + 1}/{self.config.training.epochs}"
        with progress_bar(name, len(self._plan(epoch)), done, stays=self.bars) as bar:
            self._train_epoch(bar)
            self._end_epoch(bar)

    def _train_epoch(self, bar: Any) -> None:
        """The steps left of the epoch; saved only between two, where weights and counts agree."""
        training = self.config.training
        step, start = int(self.trainer.global_step.numpy()), time.monotonic()
        saved = start
        for batch in self.batches:
            loss = self.step(*batch)
            step, now = step + 1, time.monotonic()
            self.progress.advance(1, now - start)
            start = now
            # By the step of the whole run, which continues in a resumed run.
            if self.average is not None and step % AVERAGE_EVERY == 0:
                self.average.update()
            if self.stop.made or now - saved >= training.save_seconds:
                self.keeper.save()
                saved = start = time.monotonic()
            if self.stop.made:
                self.stop.interrupt()
            if not bar.disable:
                bar.update()
                bar.set_postfix(loss=f"{float(loss):.4f}", refresh=False)

    def _end_epoch(self, bar: Any) -> None:
        """Scores the epoch, keeps the best weights, saves the state; in this order.

        A run killed in between repeats the rest from the last saved state, with the same result.
        """
        seconds = self.progress.seconds
        loss = self.trainer.epoch_loss(self.progress.epoch + 1)
        sentences = sum(map(len, self._plan(self.progress.epoch)))
        if self.average is not None:
            self.average.update()  # an epoch of few steps counts too
        entry: Metrics = {
            "epoch": self.progress.epoch + 1,
            "seconds": seconds,
            "sentences_per_second": sentences / max(seconds, 1e-9),
            "loss": loss,
            **self.trainer.parts_of_epoch(),
        }
        training, is_chief = self.config.training, self.replicas.is_chief
        eligible = entry["epoch"] >= min(training.min_epochs, training.epochs)
        with self._averaged(), tensor_float_32(False):
            score = 0.0
            if is_chief:
                entry["dev"] = self._score("dev")
                score = entry["dev"][self.measure]
            score = self.replicas.agree(score)
            if self.progress.finish_epoch(entry, score, eligible=eligible) and is_chief:
                with self.directory.writing(self.directory.best) as part:
                    save_weights(self.tagger, part)
        self.trainer.start_epoch()
        self.keeper.save()
        if is_chief:
            self._write_metrics()
            self._report(entry, bar)
        if self.stop.made:
            self.stop.interrupt()

    def _finish(self) -> Metrics:
        """Best weights, threshold, calibration, final scores, model.keras; metrics last."""
        load_weights(self.tagger, self.directory.best)
        if self.prepared.begun:
            go_back(self.tagger, self.prepared.begun)
        round_differences(self.tagger)
        dev, seed = self.prepared.splits["dev"], self.config.training.seed
        with (
            progress_bar("finishing", 4, unit="step", stays=self.bars) as bar,
            other_options(self.tagger, refine_all=True),  # the graph that the epochs were scored by
        ):
            distilled = self._distill()
            bar.update()
            if self.config.training.tune_threshold and self.tagger.gate is not None:
                choose_threshold(self.tagger, dev, self.prepared.task)
            bar.update()
            calibrated = self._calibrate()
            bar.update()
            reference = development_reference(self.tagger, dev, seed)
            names = [name for name in ("dev", "test") if name in self.prepared.splits]
            final = {name: self._score(name, by_type=True) for name in names}
            bar.update()
        warn_of_cost(final["dev"], self.prepared.task)
        steps, averaged = int(self.trainer.global_step.numpy()), self.average is not None
        warn_of_empty(final["dev"], dev, self.prepared.task, steps, averaged=averaged)
        with self.directory.writing(self.directory.model) as part:
            self.tagger.save(part)
        return self._write_metrics(**distilled, **calibrated, **reference, **final)

    def _calibrate(self) -> dict[str, Metrics]:
        """Fits the confidence, and from which on answers are accepted."""
        if not self.config.inference.calibrated:
            return {}
        training = self.config.training
        report = calibrate(
            self.tagger,
            self.prepared.splits["dev"],
            self.prepared.task,
            target_precision=training.target_precision,
            target_recall=training.target_recall,
            target_by_type=training.target_by_type,
            seed=training.seed,
        )
        return {"calibration": report}

    def _distill(self) -> dict[str, Metrics]:
        """Trains the head of ``--sampling=distilled``, before anything depends on it."""
        training, drafter = self.config.training, self.tagger.drafter
        if drafter.distilled is None or not training.distill_samples:
            return {}
        start = time.perf_counter()
        corpora = [self.prepared.corpus, self.prepared.unlabelled]
        distill(
            drafter,
            [corpus for corpus in corpora if corpus is not None],
            num_samples=training.distill_samples,
            seed=training.seed,
        )
        seconds = time.perf_counter() - start
        nearness = compare_with_samples(self.tagger, self.prepared.splits["dev"], most=_COMPARED)
        logging.info("%s", nearness_text(nearness))
        if self.config.inference.sampling == "distilled":
            self.tagger.sampling = "distilled"
        return {"distilled": {"seconds": seconds, **nearness}}

    @contextlib.contextmanager
    def _averaged(self) -> Iterator[None]:
        """Within this context the tagger has the weights trained so far, averaged."""
        if self.average is not None:
            self.average.swap()
        try:
            if self.trained is not self.tagger:
                copy_weights(self.trained, self.tagger)
            yield
        finally:
            if self.average is not None:
                self.average.swap()

    def _score(self, name: str, *, by_type: bool = False) -> Metrics:
        sentences, task = self.prepared.splits[name], self.prepared.task
        without = self.prepared.kept.get(name, ())
        return score_corpus(self.tagger, sentences, task, by_type=by_type, without=without)

    def _write_metrics(self, **final: Metrics) -> Metrics:
        record = self.progress.record
        kept = {name: record[name] for name in ("epochs", "best_epoch")}
        text = metrics_text({"task": self.prepared.task, **kept, **final})
        self.directory.write(self.directory.metrics, text)
        return in_percent(json.loads(text))

    def _report(self, entry: Metrics, bar: Any) -> None:
        self.logs.write({**entry, "dev": scaled_scores(entry["dev"], 0.01)})
        scores, measure = entry["dev"], self.measure
        shown = {"loss": f"{entry['loss']:.4f}", f"dev {measure}": f"{scores[measure]:.2f}"}
        parts = ""
        if self.tagger.refiner is not None:
            draft, refined = (scores[f"{name}_{measure}"] for name in ("draft", "refined"))
            parts = f" (draft {draft:.2f}, all refined {refined:.2f})"
            shown |= {"draft": f"{draft:.2f}", "refined": f"{refined:.2f}"}
        bar.set_postfix(shown)
        bar.close()
        logging.info(
            "epoch %d: loss %.4f, dev %s %.2f%s, %d sentences/s, best epoch %s",
            entry["epoch"],
            entry["loss"],
            measure,
            scores[measure],
            parts,
            entry["sentences_per_second"],
            self.progress.record["best_epoch"] or "none yet",
        )
