"""Tokenizers of pretrained encoders, from tokenizer.json or the files of their vocabularies."""

import base64
import contextlib
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from uanet_lite.strict_json import parse_json, read_bytes, shown
from uanet_tf.data.encoder_spec import BPE, UNIGRAM, WORDPIECE, TokenizerSpec
from uanet_tf.data.subword_lookup import read_message
from uanet_tf.errors import InputError, one_line
from uanet_tf.representation.transformer.encoder_types import EncoderType, value_of

MAX_VOCABULARY_BYTES = 2**27
TOKENIZER, OPTIONS = "tokenizer.json", "tokenizer_config.json"
_MODELS = {"WordPiece": WORDPIECE, "BPE": BPE, "Unigram": UNIGRAM}
_UNUSUAL = (
    *("byte_fallback", "ignore_merges", "dropout"),
    *("continuing_subword_prefix", "end_of_word_suffix"),
)
# RE2 knows blanks of ASCII only.
_BLANK = r"[\s\p{Z}\x{0b}\x{85}]"
Steps = list[tuple[str, ...]]
# What ALBERT's and other tokenizers of SentencePiece do where there is no tokenizer.json.
_TRIMMED: Steps = [("replace", rf"^{_BLANK}+|{_BLANK}+$", "")]
_METASPACE: Steps = [("replace", rf"{_BLANK}+", "▁")]
_PREFIX: dict[str, Steps] = {
    BPE: [("replace", r"^([^ ]|$)", r" \1")],
    UNIGRAM: [("replace", "^([^▁])", r"▁\1")],
}


def read_tokenizer(folder: pathlib.Path, kind: EncoderType) -> TokenizerSpec:
    """The tokenizer of a folder: of its tokenizer.json, else of the vocabulary's files.

    tokenizer_config.json, if there is one, names the special sub-words and decides on case, accents
    and blanks.

    Raises:
      InputError: there is none, it cannot be read, or it works otherwise than can be done here.
    """
    options = read_object(folder / OPTIONS) if (folder / OPTIONS).exists() else {}
    if not (folder / TOKENIZER).exists():
        return tokenizer_of_vocabulary(kind, _vocabulary_files(folder, kind), options)
    saved = read_object(folder / TOKENIZER)
    with _reading(TOKENIZER):
        name, vocabulary, scores, merges = _model(saved)
        steps, charsmap = _steps(kind, name, vocabulary, options, saved)
    ids = _special_ids(kind, vocabulary, options)
    return TokenizerSpec(name, vocabulary, *ids, tuple(steps), scores, charsmap, merges)


def tokenizer_of_vocabulary(
    kind: EncoderType, data: Sequence[bytes], options: Mapping[str, Any]
) -> TokenizerSpec:
    """The tokenizer of a type's vocabulary; InputError where it cannot be read.

    ``data`` is what the files ``kind.vocabulary`` hold, ``options`` those of tokenizer_config.json.
    """
    scores: tuple[float, ...] = ()
    merges: tuple[str, ...] = ()
    charsmap = ""
    with _reading(" and ".join(kind.vocabulary)):
        if kind.tokenizer == UNIGRAM:
            vocabulary, scores, charsmap = _sentencepiece(data[0], kind)
        elif kind.tokenizer == BPE:
            vocabulary = _by_number(parse_json(data[0]))
            lines = data[1].decode("utf-8").split("\n")
            merges = tuple(line for line in lines if line and not line.startswith("#version"))
        else:
            # By line feeds only: some vocabularies hold other characters that end lines.
            text = data[0].decode("utf-8").replace("\r\n", "\n").removesuffix("\n")
            vocabulary = tuple(text.split("\n"))
    steps, _ = _steps(kind, kind.tokenizer, vocabulary, options, None)
    ids = _special_ids(kind, vocabulary, options)
    return TokenizerSpec(kind.tokenizer, vocabulary, *ids, tuple(steps), scores, charsmap, merges)


def _special_ids(
    kind: EncoderType, vocabulary: Sequence[str], options: Mapping[str, Any]
) -> tuple[int, int, int]:
    """Ids of the first, the last and the unknown sub-word."""
    names = [
        _text(options.get(f"{role}_token"), default)
        for role, default in zip(("cls", "sep", "unk"), kind.special, strict=True)
    ]
    missing = [name for name in dict.fromkeys(names) if name not in vocabulary]
    if missing:
        raise InputError(f"the vocabulary lacks {', '.join(missing)}")
    first, last, unknown = (vocabulary.index(name) for name in names)
    return first, last, unknown


def _vocabulary_files(folder: pathlib.Path, kind: EncoderType) -> list[bytes]:
    """What the files of the vocabulary hold."""
    if kind.vocabulary and all((folder / name).exists() for name in kind.vocabulary):
        return [_read(folder / name) for name in kind.vocabulary]
    names = f"{' with '.join(kind.vocabulary)} or " if kind.vocabulary else ""
    raise InputError(
        f"there is no {names}{TOKENIZER}; `save_pretrained` of its tokenizer in the package "
        "transformers writes it"
    )


def _steps(
    kind: EncoderType,
    name: str,
    vocabulary: Sequence[str],
    options: Mapping[str, Any],
    saved: Mapping[str, Any] | None,
) -> tuple[Steps, str]:
    """What is done to a token's text, and the map of characters of a tokenizer.json."""
    read = None if saved is None else _normalizers(saved, name)
    if name == WORDPIECE:
        return _bert_steps(options, vocabulary, None if read is None else read[0]), ""
    prefix = value_of(options, "add_prefix_space", (bool, type(None)), None, file=OPTIONS)
    if saved is not None:
        before, of_file = _pre_tokenizers(saved, name)
        prefix = of_file if prefix is None else prefix
    else:
        before = [] if name == BPE else [*_TRIMMED, *_METASPACE]
    # RoBERTa's needs the blank for words, and the file says otherwise.
    prefix = prefix is not False or (name == BPE and kind.vocabulary != ())
    before = before + (_PREFIX[name] if prefix else [])
    if read is not None:
        return read[0] + before, read[1]
    steps: Steps = []
    is_albert = kind.special == ("[CLS]", "[SEP]", "<unk>")
    if is_albert:
        steps = [("replace", "``|''", '"')]
        if not value_of(options, "keep_accents", bool, False, file=OPTIONS):
            steps += [("form", "NFKD"), ("marks",)]
    if name == UNIGRAM:
        if value_of(options, "do_lower_case", bool, is_albert, file=OPTIONS):
            steps.append(("lower",))
        steps.append(("charsmap",))
    return steps + before, ""


def _bert_steps(
    options: Mapping[str, Any], vocabulary: Sequence[str], found: Steps | None
) -> Steps:
    """tokenizer_config.json overrides tokenizer.json. Without both, no capital means lower case."""
    no_capitals = all(word == word.lower() for word in vocabulary if not word.startswith("["))
    by_default = no_capitals if found is None else ("lower",) in found
    lowercase = value_of(options, "do_lower_case", bool, by_default, file=OPTIONS)
    accents = value_of(options, "strip_accents", (bool, type(None)), None, file=OPTIONS)
    if accents is None and found is not None and "do_lower_case" not in options:
        accents = ("accents",) in found
    split = value_of(
        options, "tokenize_chinese_chars", bool, not found or ("chinese",) in found, file=OPTIONS
    )
    return _bert(found is None or ("clean",) in found, split, accents, lowercase)


def _bert(clean: bool, chinese: bool, accents: bool | None, lower: bool) -> Steps:
    """Their tokenizer's rule: by default accents are removed where text is lower-cased."""
    done = (clean, chinese, lower if accents is None else accents, lower)
    names = ("clean", "chinese", "accents", "lower")
    return [(name,) for name, wanted in zip(names, done, strict=True) if wanted]


def _model(saved: dict[str, Any]) -> tuple[str, tuple[str, ...], tuple[float, ...], Any]:
    """Kind, vocabulary, scores and merges of a tokenizer.json, with its added sub-words."""
    model = value_of(saved, "model", dict, file=TOKENIZER)
    name = model.get("type")
    if name is None:  # old files
        name = "BPE" if "merges" in model else "Unigram" if "unk_id" in model else "WordPiece"
    if name not in _MODELS:
        raise InputError(f"{TOKENIZER} has a model of type {shown(name)}, which is not read")
    kind = _MODELS[name]
    usual = {"continuing_subword_prefix": "##"} if kind == WORDPIECE else {}
    for key in _UNUSUAL:
        if model.get(key) and model[key] != usual.get(key):
            raise InputError(f"{TOKENIZER} has {key} of its model, which is not read")
    added = {each["content"]: each["id"] for each in saved.get("added_tokens") or ()}
    if kind != UNIGRAM:
        pairs = (p if isinstance(p, str) else " ".join(p) for p in model.get("merges", ()))
        return kind, _by_number({**model["vocab"], **added}), (), tuple(pairs)
    scores = {number: float(score) for number, (_, score) in enumerate(model["vocab"])}
    scores |= dict.fromkeys(added.values(), 0.0)
    numbers = {piece: number for number, (piece, _) in enumerate(model["vocab"])}
    words = _by_number({**numbers, **added})
    return kind, words, tuple(scores.get(number, 0.0) for number in range(len(words))), ()


def _by_number(numbers: Any) -> tuple[str, ...]:
    """Sub-words in the order of their numbers; one that is left out gets a name of its own."""
    words = {number: word for word, number in numbers.items()}
    if not all(type(number) is int and number >= 0 for number in words):
        raise ValueError("the vocabulary has no numbers")
    most = max(words, default=-1) + 1
    if most > 2 * len(words) + 1_000:
        raise ValueError(f"it has {len(words)} sub-words with numbers up to {most}")
    return tuple(words.get(number, f"\x00{number}") for number in range(most))


def _normalizers(saved: Mapping[str, Any], kind: str) -> tuple[Steps, str]:
    """The steps of the normalizer of a tokenizer.json, and its map of characters."""
    steps: Steps = []
    charsmap = ""
    for part in _parts(saved.get("normalizer"), "normalizers"):
        if part["type"] == "Precompiled" and kind == UNIGRAM and not charsmap:
            charsmap = part["precompiled_charsmap"] or ""
            steps.append(("charsmap",))
        else:
            steps += _normalizer(part)
    return steps, charsmap


def _pre_tokenizers(saved: Mapping[str, Any], kind: str) -> tuple[Steps, bool | None]:
    """The steps of the pre_tokenizer, and whether it puts a blank before words, if it says so."""
    known = {WORDPIECE: "BertPreTokenizer", BPE: "ByteLevel", UNIGRAM: "Metaspace"}[kind]
    parts = _parts(saved.get("pre_tokenizer"), "pretokenizers")
    names = [part["type"] for part in parts]
    steps: Steps = []
    if names == ["WhitespaceSplit", known] and kind == UNIGRAM:
        steps = [*_TRIMMED, *_METASPACE]
    elif names == [known] and kind == UNIGRAM:
        steps = [("replace", " ", "▁")]
    elif names != [known] or not parts[0].get("use_regex", True):
        told = f"the pre_tokenizer {shown(' '.join(names))}"
        raise InputError(f"{TOKENIZER} has {told}, which is not read")
    prefix = parts[-1].get("add_prefix_space")
    if "prepend_scheme" in parts[-1]:
        prefix = parts[-1]["prepend_scheme"] != "never"
    return steps, prefix


def _parts(part: Mapping[str, Any] | None, key: str) -> list[Mapping[str, Any]]:
    """A part, or those of a sequence."""
    if part is None:
        return []
    if part["type"] != "Sequence":
        return [part]
    return [each for inner in part[key] for each in _parts(inner, key)]


_NORMALIZERS: dict[str, tuple[str, ...]] = {
    **{form: ("form", form) for form in ("NFC", "NFD", "NFKC", "NFKD")},
    "Lowercase": ("lower",),
    "StripAccents": ("marks",),
}


def _normalizer(part: Mapping[str, Any]) -> Steps:
    name = part["type"]
    if name == "BertNormalizer":
        keys = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
        return _bert(*(part[key] for key in keys))
    if name in _NORMALIZERS:
        return [_NORMALIZERS[name]]
    if name == "Strip":
        ends = {rf"^{_BLANK}+": part["strip_left"], rf"{_BLANK}+$": part["strip_right"]}
        return [("replace", pattern, "") for pattern, done in ends.items() if done]
    if name == "Replace":
        ((form, pattern),) = part["pattern"].items()
        if form == "String":
            pattern = re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", pattern)
        return [("replace", pattern.replace(r"\s", _BLANK), part["content"].replace("\\", r"\\"))]
    raise InputError(f"{TOKENIZER} has the normalizer {shown(name)}, which is not read")


def _sentencepiece(
    data: bytes, kind: EncoderType
) -> tuple[tuple[str, ...], tuple[float, ...], str]:
    """Sub-words, scores and map of characters of SentencePiece's own file."""
    before, after, left_out = kind.pieces
    fields = read_message(data)
    trainer = [dict(read_message(value)) for number, value in fields if number == 2]
    if any(each.get(3, 1) != 1 for each in trainer):
        raise ValueError("it is of another model than unigram")
    read = [dict(read_message(value)) for number, value in fields if number == 1][left_out:]
    maps = [dict(read_message(value)).get(2, b"") for number, value in fields if number == 3]
    words = (*before, *(each[1].decode("utf-8") for each in read), *after)
    scores = (*[0.0] * len(before), *(each.get(2, 0.0) for each in read), *[0.0] * len(after))
    return words, scores, base64.b64encode(b"".join(maps)).decode("ascii")


def _text(token: Any, default: str) -> str:
    """A special sub-word of tokenizer_config.json: text, or an object with it."""
    token = token.get("content") if isinstance(token, dict) else token
    return token if isinstance(token, str) else default


def _read(path: pathlib.Path) -> bytes:
    with _reading(path.name):
        return read_bytes(path, MAX_VOCABULARY_BYTES)


def read_object(path: pathlib.Path) -> dict[str, Any]:
    """The object in a JSON file; raises InputError for anything else."""
    with _reading(path.name):
        values = parse_json(read_bytes(path, MAX_VOCABULARY_BYTES))
        if not isinstance(values, dict):
            raise ValueError("it holds no JSON object")
        return values


@contextlib.contextmanager
def _reading(name: str) -> Iterator[None]:
    """Says in one sentence which file cannot be read."""
    try:
        yield
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} cannot be read: {one_line(error)}") from error
