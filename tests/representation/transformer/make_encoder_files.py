"""Small random encoders of every type that is read, with ids and states of transformers.

    pip install torch transformers==5.24.0 sentencepiece protobuf    # in their own environment
    python make_encoder_files.py encoders.zip [texts]

Writes an archive with a folder for each type, as `save_pretrained` makes it, and in it
``reference.npz``: rows of ids with their lengths, the states of the last layer, and the ids of the
words of ``texts.json``. With a number of texts the ids of so many are written, and tokenizers of
SentencePiece have its whole map of characters (NFKC) in place of a small one.
"""

import copy
import json
import pathlib
import random
import shutil
import sys
import tempfile
import unicodedata
import zipfile

import numpy as np
import sentencepiece
import tokenizers
import torch
import transformers

SENTENCES = """
Ada Lovelace met Charles Babbage in London, and they talked about engines for hours.
Angela Merkel wohnt in Berlin; die Straße heißt „Am Kupfergraben“, schön weiß und groß.
Où est l'été dernier ? Marie Curie naquit à Varsovie, en Pologne, et mourut à Passy.
El niño comió piñas en Bogotá, ¿verdad? ¡Qué día más extraño!
A ação não é fácil; São Paulo fica no Brasil, à beira do rio Tietê.
Perché la città di Forlì è così tranquilla? Dante visse più a Ravenna.
De koning woont in 's-Gravenhage, vlak bij zee; ideeën zijn geïmporteerd.
Århus och Malmö är städer; Åsa köpte sju fräscha äpplen för två kronor.
Łódź i Kraków są piękne; żółć, gęś i jaźń pisze się przez ogonki.
Příliš žluťoučký kůň úpěl ďábelské ódy v Plzni.
İstanbul'da ıslak ışıklar var; Iğdır'dan gelen Şule güldü.
Đường phố Hà Nội rất đông người; Nguyễn Văn Ổn uống cà phê sữa đá.
Анна Ахматова жила в Санкт-Петербурге, ёлка стоит у её окна.
Київ — столиця України; її ґанок має п'ять сходів.
Η ΑΘΗΝΑ είναι πρωτεύουσα της Ελλάδας· ο ΟΔΥΣΣΕΑΣ γύρισε στην Ιθάκη.
ירושלים היא עיר עתיקה; שָׁלוֹם לכולם מתל אביב.
القاهرة عاصمة مصر، والكِتَابُ على الطاولة منذ ٢٠٢٤.
तेहरान और नई दिल्ली बड़े शहर हैं, क्षत्रिय लोग हिन्दी बोलते हैं।
กรุงเทพมหานคร เป็น เมืองหลวง ของ ประเทศไทย น้ำ ร้อน
東京 は 日本 の 首都 です 。 カタカナ と ひらがな ｶﾅ
北京 是 中国 的 首都 ， 他们 喜欢 吃 饺子 。
서울 은 대한민국 의 수도 이다 . 한국어 를 배운다
თბილისი საქართველოს დედაქალაქია და მტკვარზე დგას
Երևանը Հայաստանի մայրաքաղաքն է, մարդիկ խոսում են հայերեն
""".strip().splitlines()
RARE = """
😀 👩‍👩‍👧 🇩🇪 ❤️ 👍🏽 1️⃣ ﬁ ½ ² Ⅷ ㎞ Ａｂｃ ａ̈ ÿ́ é ñ Å ạ̈ ﷺ ΐ ß ẞ ŉ ǆ ﬃ ſ K Ω … ‥ ´ ¨ ª ·
© ™ € ₿ ∑ ∞ → ≠ don't we'll I'M 's x's 3.14 1,000 2024-01-01 a_b C++ #tag @me http://x.yz/?q=1&r=2
𝔘𝔫𝔦 𐍈 𒀀 🜁 ꙮ ༄ ᚠ ⠓ Ꭰ ߐ ა ⴰ ℵ ﹏ ︙ ｢ 〜 ・ ـ ‿ '' `` " \\ ^ ~ ` | [x] {y} <z> ## ▁ ▁a Ġ _
""".split()  # noqa: SIM905
RARE += ["\u00adx", "a\u200bb", "a\u200db", "\ufeffq", "\u202ar", "\u0345", "\u20dd", "\u0e33"]
TYPES = {
    "bert": {"position_embedding_type": "absolute"},
    "distilbert": {},
    "roberta": {"type_vocab_size": 1, "layer_norm_eps": 1e-5},
    "xlm-roberta": {"type_vocab_size": 1, "layer_norm_eps": 1e-5},
    "camembert": {"type_vocab_size": 1, "layer_norm_eps": 1e-5},
    "electra": {"embedding_size": 12},
    "albert": {"embedding_size": 12, "num_hidden_layers": 4, "num_hidden_groups": 2},
    "deberta-v2": {
        "relative_attention": True,
        "position_buckets": 8,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": "p2c|c2p",
        "position_biased_input": False,
        "max_relative_positions": -1,
        "type_vocab_size": 0,
    },
    "modernbert": {
        "num_hidden_layers": 4,
        "local_attention": 8,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
        "cls_token_id": 0,
        "sep_token_id": 2,
    },
}
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 48,
}
OF_DISTILBERT = {
    "hidden_size": "dim",
    "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads",
    "intermediate_size": "hidden_dim",
}
BYTE_TYPES, PIECE_TYPES = (
    ("roberta", "modernbert"),
    ("xlm-roberta", "camembert", "albert", "deberta-v2"),
)


def make_texts(number: int) -> list[list[str]]:
    """Texts of words: those of a language, changed here and there, with rare ones among them."""
    rng = random.Random(1)
    words = [sentence.split() for sentence in SENTENCES]
    texts = []
    for count in range(number):
        text = rng.choices(words[count % len(words)], k=rng.randint(3, 7))
        text += rng.sample(RARE, k=2)
        for _ in range(2):
            place = rng.randrange(len(text))
            change = rng.choice([str.upper, str.lower, str.title, reverse, accent, twice])
            text[place] = change(text[place])
        char = chr(rng.choice([rng.randrange(0x21, 0x3000), rng.randrange(0x1F300, 0x1FAFF)]))
        texts.append([*text, f"{char}", f"a{char}b"])
    return texts


def reverse(word: str) -> str:
    """Marks come first."""
    return word[::-1]


def accent(word: str) -> str:
    """With combining marks that no composed character has."""
    return f"{word[:1]}\u0301{word[1:]}\u0323"


def twice(word: str) -> str:
    """Longer than any sub-word."""
    return word * 2


def write_rules(path: pathlib.Path) -> None:
    """A part of NFKC: what some blocks of Unicode decompose into, and are composed of."""
    rules = {}
    blocks = (
        range(0xA0, 0x3FF),
        range(0x1E00, 0x1F00),
        range(0x2000, 0x2190),
        range(0xFB00, 0xFB06),
    )
    for char in map(chr, [*(c for block in blocks for c in block), *range(0xFF01, 0xFFA0)]):
        plain, parts = unicodedata.normalize("NFKC", char), unicodedata.normalize("NFD", char)
        if plain != char:
            rules[char] = plain
        if len(parts) > 1 and parts != plain:
            rules[parts] = plain
    codes = lambda text: " ".join(f"{ord(char):X}" for char in text)  # noqa: E731
    lines = [f"{codes(source)}\t{codes(target)}" for source, target in sorted(rules.items())]
    path.write_text("\n".join(lines) + "\n")


def make_tokenizer(
    kind: str, folder: pathlib.Path, whole_map: bool
) -> transformers.PreTrainedTokenizerBase:
    """Trains a tokenizer and saves it as the type's own class does."""
    folder.mkdir(parents=True)
    texts = folder / "texts.txt"
    texts.write_text("\n".join(SENTENCES * 20), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({"model_type": kind}))
    if kind in PIECE_TYPES:
        name = {"albert": "spiece", "deberta-v2": "spm"}.get(kind, "sentencepiece.bpe")
        special = {
            "albert": {
                "pad_id": 0,
                "unk_id": 1,
                "bos_id": -1,
                "eos_id": -1,
                "control_symbols": "[CLS],[SEP],[MASK]",
                "pad_piece": "<pad>",
            },
            "deberta-v2": {
                "pad_id": 0,
                "bos_id": 1,
                "eos_id": 2,
                "unk_id": 3,
                "pad_piece": "[PAD]",
                "bos_piece": "[CLS]",
                "eos_piece": "[SEP]",
                "unk_piece": "[UNK]",
                "control_symbols": "[MASK]",
            },
        }.get(kind, {"unk_id": 0, "bos_id": 1, "eos_id": 2})
        if not whole_map:
            write_rules(folder / "rules.tsv")
            special["normalization_rule_tsv"] = str(folder / "rules.tsv")
        sentencepiece.SentencePieceTrainer.train(
            input=str(texts),
            model_prefix=str(folder / name),
            vocab_size=420,
            hard_vocab_limit=False,
            character_coverage=0.98,
            minloglevel=2,
            num_threads=1,
            **special,
        )
    else:
        own = (
            tokenizers.ByteLevelBPETokenizer()
            if kind in BYTE_TYPES
            else tokenizers.BertWordPieceTokenizer(lowercase=kind != "electra", strip_accents=None)
        )
        special = (
            ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
            if kind in BYTE_TYPES
            else ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        )
        own.train(files=[str(texts)], vocab_size=450, special_tokens=special, min_frequency=2)
        own.save_model(str(folder))
    if kind == "modernbert":
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=own._tokenizer,
            cls_token="<s>",
            sep_token="</s>",
            unk_token="<unk>",
            pad_token="<pad>",
            mask_token="<mask>",
        )
        tokenizer._tokenizer.post_processor = tokenizers.processors.RobertaProcessing(
            ("</s>", 2), ("<s>", 0), add_prefix_space=False
        )
        return tokenizer
    more = {"add_prefix_space": True} if kind == "roberta" else {}
    more |= {"do_lower_case": False} if kind == "electra" else {}
    return transformers.AutoTokenizer.from_pretrained(str(folder), **more)


def make_folder(kind: str, folder: pathlib.Path, texts: list[list[str]], whole_map: bool) -> None:
    """Writes a model, its tokenizer, and what they answer."""
    with tempfile.TemporaryDirectory() as place:
        raw = pathlib.Path(place) / kind
        tokenizer = make_tokenizer(kind, raw, whole_map)
        tokenizer.save_pretrained(str(folder))
        for name in (
            "spm.model",
            "spiece.model",
            "sentencepiece.bpe.model",
            "vocab.txt",
            "vocab.json",
            "merges.txt",
        ):
            if (raw / name).exists() and kind in (
                "bert",
                "roberta",
                "albert",
                "deberta-v2",
                "xlm-roberta",
            ):
                shutil.copy(raw / name, folder / f"legacy-{name}")
    sizes = {OF_DISTILBERT.get(k, k) if kind == "distilbert" else k: v for k, v in SIZES.items()}
    settings = {**sizes, "vocab_size": len(tokenizer), **TYPES[kind]}
    config = transformers.AutoConfig.for_model(kind, **settings)
    torch.manual_seed(3)
    model = transformers.AutoModel.from_config(config, attn_implementation="eager").eval()
    generator = torch.Generator().manual_seed(4)
    for parameter in model.parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        parameter.data += (0.3 if parameter.ndim == 1 else 0.2) * noise
        parameter.data = parameter.data.half().float()
    copy.deepcopy(model).half().save_pretrained(str(folder))
    rng = np.random.default_rng(5)
    lengths = np.array([40, 17, 3])
    ids = rng.integers(5, len(tokenizer), [3, 40])
    mask = np.arange(40) < lengths[:, None]
    ids[~mask] = tokenizer.pad_token_id or 0
    with torch.no_grad():
        states = model(
            input_ids=torch.tensor(ids), attention_mask=torch.tensor(mask.astype(np.int64))
        ).last_hidden_state.numpy()
    rows = []
    for text in texts:
        encoded = tokenizer(text, is_split_into_words=True)
        of_words: list[list[int]] = [[] for _ in text]
        for number, word in zip(encoded["input_ids"], encoded.word_ids(), strict=True):
            if word is not None:
                of_words[word].append(number)
        rows += of_words
    np.savez_compressed(
        folder / "reference.npz",
        ids=ids.astype(np.int32),
        lengths=lengths,
        states=states,
        word_ids=np.array([n for row in rows for n in row], np.int16),
        word_sizes=np.array([len(row) for row in rows], np.int16),
        row=np.array(tokenizer(["a"], is_split_into_words=True)["input_ids"], np.int32),
    )


def main() -> None:
    """See above."""
    target = pathlib.Path(sys.argv[1])
    texts = make_texts(int(sys.argv[2]) if len(sys.argv) > 2 else 96)
    with tempfile.TemporaryDirectory() as place:
        for kind in TYPES:
            make_folder(kind, pathlib.Path(place) / kind, texts, len(sys.argv) > 2)
        (pathlib.Path(place) / "texts.json").write_text(json.dumps(texts, ensure_ascii=False))
        with zipfile.ZipFile(target, "w", zipfile.ZIP_LZMA) as archive:
            for path in sorted(pathlib.Path(place).rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(place))
    print(target, target.stat().st_size)


if __name__ == "__main__":
    main()
