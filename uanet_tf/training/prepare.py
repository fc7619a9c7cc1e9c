"""From files to the inputs of training: the task, sentences, vocabulary, model, encoded corpus."""

import collections
import dataclasses
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import tensorflow as tf
from absl import logging

from uanet_lite.notes import Notes
from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import convert, detect_scheme, repair
from uanet_lite.tokenizer import Tokenizer
from uanet_lite.windows import split
from uanet_tf.config import Config, DataConfig
from uanet_tf.data.batching import EncodedCorpus, encode_corpus
from uanet_tf.data.documents import marks_documents, passages
from uanet_tf.data.label_doubts import (
    check_chunk_labels,
    entity_like_labels,
    said_of_uneven,
    stray_labels,
    uneven_sentences,
    without_entities,
)
from uanet_tf.data.lookup import normalize_words
from uanet_tf.data.unlabelled import read_unlabelled
from uanet_tf.data.vocabulary import (
    Vocabulary,
    class_labels,
    count_chars,
    count_symbols,
    longest_entity,
)
from uanet_tf.errors import InputError, SentencesError
from uanet_tf.formats.table import Reading, read_labelled
from uanet_tf.metrics.scoring import unknown_labels
from uanet_tf.models.build import check_parts, make_tagger
from uanet_tf.models.tagger import Tagger
from uanet_tf.text.tokenizer_choice import (
    choose_tokenizer,
    fitted_tokenizer,
    is_written_without_blanks,
)
from uanet_tf.training.fill_vectors import add_pretrained, fill_embeddings
from uanet_tf.training.init_model import carry_weights, extend, keep_types, long_enough
from uanet_tf.training.run_directory import hash_json, hash_sentences

Splits = dict[str, list[Sentence]]


@dataclasses.dataclass(frozen=True)
class Prepared:
    """The inputs of ``fit``.

    Attributes:
      config: the settings, with what was found from the files in place of "auto".
      task: "ner" (scored by entity F1) or "pos" (by accuracy).
      splits: sentences of "train", "dev" and, if given, "test".
      tagger: the model, with initial weights.
      corpus: the training sentences as arrays, long ones cut, those of a passage joined.
      unlabelled: the same of --distill_path; its label ids are -1. None: there is none.
      hashes: {flag that names a file: hash of what was read of it}.
      kept: {"train": types of entities that it does not label, and the model of --init does, ...}.
      begun: of --init without new labels: the trainable weights that training begins with.
    """

    config: Config
    task: str
    splits: Splits
    tagger: Tagger
    corpus: EncodedCorpus
    unlabelled: EncodedCorpus | None
    hashes: dict[str, str]
    kept: Mapping[str, Collection[str]]
    begun: Sequence[np.ndarray]


def prepare(
    config: Config,
    given: Collection[str] = (),
    held: Mapping[str, Sequence[Sentence]] = MappingProxyType({}),
    init: Tagger | None = None,
) -> Prepared:
    """Reads the files and builds the model.

    Args:
      given, held: see ``fit``.
      init: the model of --init.

    Raises:
      InputError: a file is missing, empty or broken, or its labels do not fit the task.
    """
    check_parts(config)
    splits = read_splits(config.data, held)
    config = with_refiner_context(config, splits)
    further = read_further(config.data)
    hashes = {f"{name}_path": hash_sentences(part) for name, part in splits.items()}
    if further:
        hashes["distill_path"] = hash_sentences(further)
    task, scheme = find_task(config.data, splits["train"])
    warn_uneven(splits)
    warn_shared(splits)
    if task == "ner":
        for name, part in splits.items():
            try:
                check_chunk_labels(part)
            except SentencesError as error:
                raise error.of_file(getattr(config.data, f"{name}_path")) from None
        warn_without_entities(splits)
    splits = {
        name: repair_labels(align_scheme(part, scheme, name), scheme, name)
        for name, part in splits.items()
    }
    train, table = splits["train"], None
    vocabulary = build_vocabulary(config.data, train, scheme)
    vocabulary = dataclasses.replace(vocabulary, tokenizer=find_tokenizer(config.data, train))
    counts = count_words(config.data, train)
    kept: dict[str, set[str]] = {}
    if init is None:
        vocabulary, table = add_pretrained(config, vocabulary, counts)
    else:
        vocabulary = extend(vocabulary, counts, init)
        if len(vocabulary.labels) > len(init.vocabulary.labels):
            config = long_enough(config, given)
        if scheme is not None and config.training.keep_types:
            splits, kept = keep_types(splits, init, scheme)
    if table is not None:
        hashes["word_vectors"] = table.digest(vocabulary.words)
    for name in ("dev", "test"):
        if name in splits:
            warn_unknown_labels(splits[name], splits["train"], scheme, name)
    tagger = make_tagger(config, vocabulary, given)
    if further and (tagger.drafter.distilled is None or not config.training.distill_samples):
        raise InputError(
            f"`distill_path={config.data.distill_path}` is for the head of `sampling=distilled`, "
            f"and none is trained with `encoder={config.encoder.encoder}`, `decoder="
            f"{config.decoder.decoder}` and `distill_samples={config.training.distill_samples}`."
        )
    if tagger.vocabulary.pretrained is not None:
        hashes["pretrained"] = hash_json(tagger.vocabulary.pretrained.to_dict())
    if table is not None:
        fill_embeddings(tagger, table)
    begun = [] if init is None else carry_weights(init, tagger)
    tagger.calibration.await_map()
    corpus = _encode(splits["train"], "train", config.data, tagger)
    if config.decoder.refiner_context == "document":
        corpus = _with_documents(corpus, splits["train"], config.data)
    unlabelled = _encode(further, "`distill_path`", config.data, tagger) if further else None
    return Prepared(config, task, splits, tagger, corpus, unlabelled, hashes, kept, begun)


def _encode(
    sentences: Sequence[Sentence], name: str, config: DataConfig, tagger: Tagger
) -> EncodedCorpus:
    """Sentences as arrays, long ones cut, with --context=document those of a passage joined."""
    sentences = cut_long(sentences, config.max_tokens, name)
    corpus = encode_corpus(sentences, tagger.vocabulary, tagger.lookup)
    if config.context == "document":
        corpus = corpus.joined([len(p) for p in passages(sentences, config.max_tokens)])
    return corpus


def _with_documents(
    corpus: EncodedCorpus, sentences: Sequence[Sentence], config: DataConfig
) -> EncodedCorpus:
    """The corpus with its documents; of one of over --max_tokens the passages that are read."""
    sentences = cut_long(sentences, config.max_tokens)
    read = [len(passage) for passage in passages(sentences, config.max_tokens, padded=True)]
    return corpus.in_documents(read, [token for each in sentences for token in each.tokens])


def with_refiner_context(config: Config, splits: Mapping[str, Sequence[Sentence]]) -> Config:
    """The settings with "auto" replaced by "document" or "sentence"; else unchanged.

    The refiner reads documents if each file marks them, if the drafter does not read them as one
    sentence (``--context=document``), and if no replicas share the run, which have no memory of
    drafts in common.
    """
    if config.decoder.refiner_context != "auto":
        return config
    strategy, marked = config.training.strategy, all(map(marks_documents, splits.values()))
    if config.data.context == "document" or not marked:
        return config.replace(refiner_context="sentence")
    said = ": the refiner reads them (`refiner_context`)"
    if strategy != "none":
        said = f", but with `strategy={strategy}` the refiner reads sentences"
    if config.decoder.is_refined:
        logging.info("the files mark documents%s", said)
    return config.replace(refiner_context="document" if strategy == "none" else "sentence")


def read_further(config: DataConfig) -> list[Sentence]:
    """Reads the files of --distill_path, whose labels are not looked at."""
    paths = config.distill_path.split(",") if config.distill_path else []
    if not all(paths):
        raise InputError(
            f"`distill_path={config.distill_path}` has an empty name between its commas."
        )
    column = Reading.of_settings(config).token_column
    return [each for path in paths for each in read_unlabelled(path, token_column=column)]


def read_splits(
    config: DataConfig, held: Mapping[str, Sequence[Sentence]] = MappingProxyType({})
) -> Splits:
    """Reads the training, development and test files, or takes what is held in their place."""
    paths = {"train": config.train_path, "dev": config.dev_path, "test": config.test_path}
    for name in ("train", "dev"):
        if not paths[name]:
            raise InputError(f"`{name}` is required: a labelled file.")
    splits = {}
    for name, path in paths.items():
        if name in held:
            splits[name] = list(held[name])
        elif path:
            notes = Notes()
            splits[name] = read_labelled(path, Reading.of_settings(config), notes)
            for line in notes.lines():
                logging.warning("%s: %s", path, line)
    if config.context == "document":
        for name, sentences in splits.items():
            if not marks_documents(sentences):
                raise InputError(
                    f"`context=document`, but {paths[name]} does not mark documents: it has "
                    "no -DOCSTART- line, CoNLL-2012 mark or # newdoc comment between sentences."
                )
    return splits


def find_tokenizer(config: DataConfig, train: Sequence[Sentence]) -> Tokenizer:
    """The tokenizer of raw text: that of the settings, or the one that fits the training tokens."""
    tokens = [sentence.tokens for sentence in train]
    labels = [sentence.labels for sentence in train]
    if is_written_without_blanks(tokens):
        logging.warning(
            "train: text without blanks between words is not cut into such tokens: give sentences "
            "as tokens (columns, JSON lines with tokens, lists in Python) when tagging"
        )
    cut = sum(sentence.text is not None for sentence in train)
    if 2 * cut > len(train):  # the tokens are this tokenizer's
        return Reading.of_settings(config).tokenizer
    if config.tokenizer != "auto":
        return fitted_tokenizer(config.tokenizer, tokens, labels)
    choice = choose_tokenizer(tokens, labels)
    scores = ", ".join(f"{kind} {score:.1f}" for kind, score in choice.scores.items())
    logging.info(
        "tokenizer of raw text: %s (F1 of the training tokens: %s)", choice.tokenizer.kind, scores
    )
    return choice.tokenizer


def align_scheme(sentences: list[Sentence], scheme: str | None, name: str) -> list[Sentence]:
    """Converts chunk labels of a file in another scheme than train's, and says so."""
    if scheme is None:
        return sentences
    found = detect_scheme([sentence.labels for sentence in sentences])
    # IOB1 and IOB2 share their prefixes: what one of them calls wrong is left to the repair.
    if found is None or found == scheme or {found, scheme} <= {"IOB1", "IOB2"}:
        return sentences
    logging.info("%s: its labels are in %s and were converted to %s", name, found, scheme)
    return [
        dataclasses.replace(sentence, labels=tuple(convert(sentence.labels, found, scheme)))
        for sentence in sentences
    ]


def repair_labels(sentences: list[Sentence], scheme: str | None, name: str) -> list[Sentence]:
    """Makes chunk labels valid in their scheme, and says how many were changed."""
    if scheme is None:
        return sentences
    repaired, count = [], 0
    for sentence in sentences:
        labels, changed = repair(sentence.labels, scheme)
        count += changed
        if changed:
            sentence = dataclasses.replace(sentence, labels=tuple(labels))
        repaired.append(sentence)
    if count:
        logging.warning("%s: %d labels were not valid %s and were repaired", name, count, scheme)
    return repaired


def build_vocabulary(
    config: DataConfig, train: Sequence[Sentence], scheme: str | None
) -> Vocabulary:
    """Words, characters and labels of only the training data, whose tag scheme is ``scheme``."""
    spelled = _normalized(train, config.normalize_digits, lowercase=False)
    known, counts = count_symbols(count_words(config, train), min_count=config.min_word_count)
    return Vocabulary(
        words=tuple(known),
        word_counts=tuple(counts),
        chars=tuple(count_chars(spelled)),
        labels=tuple(class_labels((s.labels for s in train), scheme)),
        scheme=scheme,
        longest=longest_entity((s.labels for s in train), scheme),
    )


def count_words(config: DataConfig, train: Sequence[Sentence]) -> collections.Counter[str]:
    """Counts of each normalised word in the training data."""
    return _normalized(train, config.normalize_digits, config.lowercase_words)


def _normalized(
    train: Sequence[Sentence], digits: bool, lowercase: bool
) -> collections.Counter[str]:
    """Counts of the normalised tokens."""
    forms = collections.Counter(token for sentence in train for token in sentence.tokens)
    keys = list(forms)
    words = normalize_words(tf.constant(keys, tf.string), digits=digits, lowercase=lowercase)
    counts: collections.Counter[str] = collections.Counter()
    for key, word in zip(keys, words.numpy(), strict=True):
        counts[word.decode("utf-8")] += forms[key]
    return counts


def warn_unknown_labels(
    sentences: Sequence[Sentence], train: Sequence[Sentence], scheme: str | None, name: str
) -> None:
    """Warns of labels that the training data does not have; they are scored as errors."""
    known = class_labels((s.labels for s in train), scheme)
    task = "pos" if scheme is None else "ner"
    counts = unknown_labels([sentence.labels for sentence in sentences], known, task)
    if counts:
        listed = ", ".join(f"{label} ({n})" for label, n in list(counts.items())[:5])
        more = "" if len(counts) <= 5 else f" and {len(counts) - 5} more labels"
        logging.warning(
            "%s: labels that the training file does not have count as errors: %s%s",
            name,
            listed,
            more,
        )


def cut_long(sentences: Sequence[Sentence], max_tokens: int, name: str = "train") -> list[Sentence]:
    """Cuts training sentences of over ``max_tokens``; says how many. No token is in two pieces."""
    pieces, cut = [], 0
    for sentence in sentences:
        length = len(sentence.tokens)
        if length <= max_tokens:
            pieces.append(sentence)
            continue
        cut += 1
        for window in split(length, max_tokens):
            kept = slice(window.keep_start, window.keep_end)
            first = sentence.new_document and not window.keep_start
            tokens, labels = sentence.tokens[kept], sentence.labels[kept]
            piece = dataclasses.replace(sentence, tokens=tokens, labels=labels, new_document=first)
            pieces.append(piece)
    if cut:
        were = "sentence was" if cut == 1 else "sentences were"
        logging.info("%s: %d %s cut, as of over %d tokens", name, cut, were, max_tokens)
    return pieces


def find_task(config: DataConfig, train: Sequence[Sentence]) -> tuple[str, str | None]:
    """Returns the task ("ner" or "pos") and the tag scheme (None for pos)."""
    if config.task == "pos":
        return "pos", None
    scheme = detect_scheme([sentence.labels for sentence in train])
    if scheme is not None:
        return "ner", scheme
    _refuse_text(config.train_path, train)
    _refuse_strays(config.train_path, train)
    if config.task == "ner":
        raise InputError(
            f"`task=ner`, but the labels of {config.train_path} are not chunk labels such as "
            "B-PER, I-PER, O: is `label_column` right?"
        )
    warn_entity_like(train)
    return "pos", None


def _refuse_text(path: str, train: Sequence[Sentence]) -> None:
    """Raises InputError if the lines of most sentences are as uneven as those of text."""
    uneven = uneven_sentences(train)
    if 2 * len(uneven) > len(train):
        raise InputError(
            f"{path}:{uneven[0].uneven_line}: has another number of columns than the lines before, "
            "and so it is in most sentences: the file needs a line for each token, with its label "
            "as last column, and an empty line between sentences; or name `label_column`."
        )


def warn_uneven(splits: Mapping[str, Sequence[Sentence]]) -> None:
    """Warns of lines that have more or fewer columns than those before them in a sentence."""
    for name, sentences in splits.items():
        if uneven := uneven_sentences(sentences):
            logging.warning("%s: %s", name, said_of_uneven(len(uneven), uneven[0].uneven_line))


def _refuse_strays(path: str, train: Sequence[Sentence]) -> None:
    """Raises InputError if a few labels keep a file of chunk labels from being one."""
    counts = collections.Counter(label for sentence in train for label in sentence.labels)
    if strays := stray_labels(counts):
        label = min(strays, key=lambda label: (strays[label], label))
        line = next(sentence.line for sentence in train if label in sentence.labels)
        times = f", {strays[label]:,} times" if strays[label] > 1 else ""
        others = f", and so are {len(strays) - 1} others" if len(strays) > 1 else ""
        raise InputError(
            f"{path}:{line}: the label {label!r} in the sentence that begins here{times} is no "
            f"label of entities (B-PER, I-PER, O, ...){others}, while most labels are: correct "
            "it, or name `task=pos` if each label is of a single token."
        )


def warn_without_entities(splits: Mapping[str, Sequence[Sentence]]) -> None:
    """Warns of a training or development file in which there is no entity."""
    told = {
        "train": "no entity can be learnt from it",
        "dev": "no epoch is better than another there, and the last one is kept",
    }
    for name, said in told.items():
        if without_entities(splits[name]):
            logging.warning("%s: the file has no entity: %s", name, said)


def warn_shared(splits: Mapping[str, Sequence[Sentence]]) -> None:
    """Warns of a file whose sentences are mostly in the training file too."""
    train = {sentence.tokens for sentence in splits["train"]}
    told = {
        "dev": "scores, calibrated confidence and what else is chosen on dev are too good",
        "test": "its scores are too good",
    }
    for name, said in told.items():
        sentences = splits.get(name, ())
        shared = sum(sentence.tokens in train for sentence in sentences)
        if 2 * shared > len(sentences):
            logging.warning(
                "%s: %d of %d sentences are in the training file too: %s",
                name,
                shared,
                len(sentences),
                said,
            )


def warn_entity_like(train: Sequence[Sentence]) -> None:
    """Warns of labels that look like those of entities in no scheme, as B_PER does."""
    counts = collections.Counter(label for sentence in train for label in sentence.labels)
    if labels := entity_like_labels(counts):
        logging.warning(
            "train: labels such as %s look like those of entities, but are in no known scheme "
            "(B-PER, I-PER, O, ...): each is a label of single tokens; `task=pos` says that "
            "this is meant",
            ", ".join(map(repr, labels[:3])),
        )
