"""Training speed: whole steps, both optimizers included.

python -m benchmarks.training --recipes=uanet,uanet_fast
"""

import sys
from collections.abc import Callable

from benchmarks.command_line import make_parser
from benchmarks.measure import matmul_rate, timed
from benchmarks.systems import recipe, sentences_like, tagger_for
from uanet_lite.sentence import Sentence
from uanet_tf.config import Config
from uanet_tf.data.batching import BatchBuilder, batched_dataset, encode_corpus, plan_batches
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.graphs import graph_function
from uanet_tf.training.trainer import Trainer

TYPES, LENGTH = 4, 16


def table(configs: dict[str, Config], *, count: int, repeats: int) -> str:
    """Sentences per second of training, as a Markdown table, one row per recipe.

    The share is that of the products of tokens with weights (``token_flops``) in what a large
    matrix product, measured beside it, would reach in the time.

    Args:
      configs: name of the recipe to its settings.
      count: sentences in a pass.
      repeats: timed passes.
    """
    lines = [
        "| recipe | batch | tokens per sentence | sentences/s | GFLOP/s of weights' products | "
        "large product | share |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    sentences = sentences_like(TYPES, LENGTH, count)
    tokens = sum(len(sentence.tokens) for sentence in sentences)
    for name, config in configs.items():
        tagger = tagger_for(config, sentences)
        timing = timed(epoch(tagger, sentences), repeats=repeats)
        rate, peak = tokens * token_flops(tagger) / timing.median, matmul_rate()
        lines.append(
            f"| {name} | {config.data.batch_size} | {tokens / count:.1f} | {timing.rate(count)} | "
            f"{rate / 1e9:.0f} | {peak / 1e9:.0f} | {100 * rate / peak:.0f} % |"
        )
    return "\n".join(lines)


def token_flops(tagger: Tagger) -> int:
    """Floating-point operations for a token in a step: its products with weights.

    Two for each weight forward, two for the gradient of the input, two for that of the weight.
    Left out is what does not grow with tokens (distances) or has no weights (attention), and what
    is done once per distinct word (characters).
    """
    weights = 0
    for part in tagger.layers:
        if "representation" not in part.name:
            weights += sum(
                variable.shape.num_elements()
                for variable in part.trainable_variables
                if variable.shape.rank == 2
                and not any(name in variable.name for name in ("embedding", "position_kernel"))
            )
    return 6 * weights


def epoch(tagger: Tagger, sentences: list[Sentence]) -> Callable[[], None]:
    """A function that trains on every sentence once."""
    config = tagger.settings
    corpus = encode_corpus(sentences, tagger.vocabulary, tagger.lookup)
    data = config.data
    plan = plan_batches(
        corpus.lengths, batch_size=data.batch_size, batch_tokens=data.batch_tokens, seed=1
    )
    trainer = Trainer(
        tagger,
        config.training,
        steps_per_epoch=len(plan),
        num_tokens=len(corpus.form_index),
        dropout_rate=config.encoder.variational_dropout,
    )
    dataset = batched_dataset(BatchBuilder(corpus), lambda: plan)
    step = graph_function()(trainer.step)
    step = step.get_concrete_function(*dataset.element_spec)

    def run() -> None:
        for features, labels in dataset:
            step(features, labels)

    return run


def main() -> None:
    """Prints the table."""
    parser = make_parser("training", __doc__)
    parser.add_argument(
        "--recipes", default="uanet,uanet_fast", help="names in configs/, with commas between"
    )
    parser.add_argument("--mixed_bfloat16", action="store_true", help="multiply in bfloat16")
    parser.add_argument("--count", type=int, default=800, help="sentences in a pass")
    given = parser.parse_args()
    configs = {
        name: recipe(name).replace(mixed_bfloat16=given.mixed_bfloat16)
        for name in given.recipes.split(",")
    }
    sys.stdout.write(table(configs, count=given.count, repeats=5) + "\n")


if __name__ == "__main__":
    main()
