r"""What ``--init`` gains over training from nothing, and what it costs of the old types.

    python -m benchmarks.going_on --vectors=GLOVE --pool=btc_ner/dev.conll --take=1501 \
        --test=btc_ner/test.conll --old=uner_ewt_test.conll --sentences=100
    python -m benchmarks.going_on --vectors=GLOVE --pool=ewt_pos/train.conll \
        --test=ewt_pos/test.conll --old=uner_ewt_test.conll --sentences=300 --type_of=CD

Trains on the first sentences of a shuffled pool, chooses on the 200 after them, from en_ner and
from nothing (with its settings), and prints F1 on a test file, and of old types on their own.
--type_of makes entities of a new type of the tokens with that part of speech.
"""

import json
import random
import sys
from typing import Any

import uanet_tf
from benchmarks.command_line import make_parser
from uanet_tf.formats.labelled_data import labelled_sentences
from uanet_tf.training.development import score_corpus

Data = list[tuple[list[str], list[str]]]
MODEL, NEW = "en_ner", "NEW"
DEVELOPMENT = 200
FROM_NOTHING = {
    "recipe": "vectors",
    "vector_limit": 80_000,
    "min_word_count": 2,
    "hidden_width": 320,
    "refiner_embeddings": "shared",
    "refiner_context": "sentence",
    "sampling": "distilled",
}


def read(path: str, tag: str = "") -> Data:
    """Sentences of a file; with a tag, those tokens are entities of the new type."""
    found = [(list(tokens), list(labels)) for tokens, labels in uanet_tf.read(path)]
    return [(tokens, chunks(labels, tag)) for tokens, labels in found] if tag else found


def chunks(tags: list[str], wanted: str) -> list[str]:
    """Runs of a tag as labels of entities."""
    before = ["", *tags[:-1]]
    return [
        "O" if tag != wanted else f"{'I' if last == wanted else 'B'}-{NEW}"
        for tag, last in zip(tags, before, strict=True)
    ]


def f1(model: Any, data: Data, without: set[str]) -> float:
    """In percent."""
    return score_corpus(model, labelled_sentences(data, "data"), "ner", without=without)["f1"]


def main(given: Any) -> None:
    """Prints a line of JSON for each seed and start."""
    test, old = read(given.test, given.type_of), read(given.old)
    old_types = {label[2:] for _, labels in old for label in labels if label != "O"}
    for seed in given.seeds:
        pool = read(given.pool, given.type_of)[: given.take or None]
        random.Random(seed).shuffle(pool)
        train, dev = pool[: given.sentences], pool[given.sentences :][:DEVELOPMENT]
        for start in ("init", "nothing"):
            settings: dict[str, Any] = {"init": MODEL}
            if start == "nothing":
                settings = {**FROM_NOTHING, "word_vectors": given.vectors}
            model = uanet_tf.train(train, dev, verbose=0, seed=seed, **settings).model
            row = {
                "seed": seed,
                "start": start,
                "f1": f1(model, test, old_types if given.type_of else set()),
                "old_f1": f1(model, old, {NEW}),
            }
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    parser = make_parser("going_on", __doc__)
    for name in ("vectors", "pool", "test", "old"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--take", type=int, default=0, help="the first sentences of the pool")
    parser.add_argument("--sentences", type=int, required=True)
    parser.add_argument("--type_of", default="")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    main(parser.parse_args())
