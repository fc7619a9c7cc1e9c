"""Packs the model of a run into a few megabytes, as models that come with the package are.

    python tools/pack_model.py RUN_DIR OUT_DIR DATA [TRAIN [BITS]]

Weights are rounded to 9 significant bits, or BITS (float16 has 11, bfloat16 8), which compress. The
packed model tags DATA, a labelled file, beside the run's: the share of equal labels and both scores
are printed. What `uanet tag --monitor` compares a stream with is taken from the packed model's
answers for it: DATA is the development file. Settings that name files keep only the file's name.
With TRAIN, the training file, the tokenizer of raw text is fitted to it anew.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

BITS = 9


def main() -> None:
    """Packs and compares."""
    if len(sys.argv) not in (4, 5, 6):
        sys.exit(__doc__)
    run_dir, out_dir, data, *train = map(pathlib.Path, sys.argv[1:5])
    bits = int(sys.argv[5]) if len(sys.argv) == 6 else BITS
    pack(run_dir, out_dir, train[0] if train else None, bits)
    watch(out_dir, data)
    compare(run_dir, out_dir, data)


def pack(
    run_dir: pathlib.Path,
    out_dir: pathlib.Path,
    train: pathlib.Path | None = None,
    bits: int = BITS,
) -> None:
    """Writes model.keras, config.json and metrics.json to ``out_dir``.

    Args:
      run_dir: a trained run.
      out_dir: where to write; made if it is missing.
      train: the training file, for the tokenizer; None: it stays as it is.
      bits: significant ones of a weight.
    """
    import uanet_tf
    from uanet_tf.training.prepare import find_tokenizer

    model = uanet_tf.load_model(run_dir)
    if train is not None:
        tokenizer = find_tokenizer(model.settings.data, uanet_tf.read(train))
        model.vocabulary = dataclasses.replace(model.vocabulary, tokenizer=tokenizer)
    for weight in model.trainable_weights:
        weight.assign(rounded(weight.numpy(), bits))
    names = {
        field: pathlib.Path(value).name
        for field, value in dataclasses.asdict(model.settings.data).items()
        if isinstance(value, str) and (field.endswith("_path") or field == "word_vectors")
    }
    model.settings = model.settings.replace(**names)
    out_dir.mkdir(parents=True, exist_ok=True)
    model.save(out_dir / "model.keras")
    settings = json.dumps(model.settings.to_dict(), indent=2)
    (out_dir / "config.json").write_text(settings + "\n", encoding="utf-8")
    if out_dir.resolve() != run_dir.resolve():
        shutil.copy(run_dir / "metrics.json", out_dir)


def rounded(values: np.ndarray, bits: int = BITS) -> np.ndarray:
    """The nearest float32 numbers of so many significant bits: what is left of them compresses."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits).astype(np.float32)


def watch(out_dir: pathlib.Path, data: pathlib.Path) -> None:
    """Writes what the packed model makes of its development file into its metrics.json."""
    import uanet_tf
    from uanet_tf.metrics.run_metrics import metrics_text, read_run_metrics
    from uanet_tf.training.development import development_reference

    model, path = uanet_tf.load_model(out_dir), out_dir / "metrics.json"
    metrics = read_run_metrics(path)
    metrics |= development_reference(model, uanet_tf.read(data))
    path.write_text(metrics_text(metrics), encoding="utf-8")


def compare(run_dir: pathlib.Path, out_dir: pathlib.Path, data: pathlib.Path) -> None:
    """Prints how far the packed model tags as the run's does."""
    import uanet_tf

    sentences = uanet_tf.read(data)
    words = [list(sentence.tokens) for sentence in sentences]
    gold = [label for sentence in sentences for label in sentence.labels]
    own, packed = (
        [
            label
            for tagged in uanet_tf.tag(uanet_tf.load_model(path), words)
            for label in tagged.labels
        ]
        for path in (run_dir, out_dir)
    )
    size = (out_dir / "model.keras").stat().st_size
    lines = [
        f"{size:,} bytes",
        f"{100 * np.mean(np.equal(own, packed)):.3f} % of {len(gold):,} labels are equal",
        f"accuracy: {100 * np.mean(np.equal(own, gold)):.2f} of the run, "
        f"{100 * np.mean(np.equal(packed, gold)):.2f} of the packed model",
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
