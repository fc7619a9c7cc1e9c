"""The settings of a run in groups: frozen dataclasses, their documentation and their limits.

One field is one flag of ``train.py`` and one key of a run's ``config.json``. "paper": Gui et al.
(EMNLP 2020), section 4.3 or an equation; "released code": their repository.
"""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

from uanet_lite.argument_checks import MAX_GAMMA
from uanet_lite.input_error import InputError
from uanet_lite.tokenizer import KINDS as TOKENIZERS
from uanet_tf.option import check_option, did_you_mean, factor, heads, layers, option, width
from uanet_tf.option import count as _count
from uanet_tf.option import rate as _rate
from uanet_tf.registry import DECODERS, ENCODERS, REFINED_DECODERS, REPRESENTATIONS

SAMPLING = ("exact", "distilled")
MAX_SEED = 2**31 - 1  # seeds are int32 in the graph
# They need a refiner and its gate.
OF_THE_GATE = ("threshold", "refine_all")
# What to do with marks of a text that overlap: labels of tokens cannot hold them.
REFUSE, LONGEST, FIRST = OVERLAPS = ("refuse", "longest", "first")
SUBWORD_POOLING = ("first", "mean")
# A pretrained encoder reads tokens by its own rules.
_NOT_TRANSFORMER = {
    "representation": tuple(name for name in REPRESENTATIONS if name != "transformer")
}


@dataclasses.dataclass(frozen=True)
class InferenceOptions:
    """Options of inference: chosen in training, stored in the run, changeable afterwards.

    The flags of train, evaluate, tag and export and a model's card follow from the fields; each is
    an attribute of ``Tagger``.
    """

    num_samples: int = _count(
        8, "Monte Carlo samples M (paper: 8); 0: one pass without dropout.", low=0, high=10_000
    )
    mc_seed: int = option(
        1,
        "Seed of the fixed sampling masks; negative: new masks at each call, for research.",
        high=MAX_SEED,
    )
    sampling: str = option(
        "exact",
        "Where mean and disagreement of the samples come from: M passes (exact), or one pass and a "
        "head that was trained on samples to predict their result (distilled).",
        choices=SAMPLING,
    )
    threshold: float = factor(
        0.35, "Gamma, nats: tokens more uncertain than this get the refined label.", high=MAX_GAMMA
    )
    refine_all: bool = option(
        False,
        "Refine tokens up to Gamma too, for their `refined_labels`, which else follow the draft; "
        "no other answer differs. Slower.",
        commands=("export",),
    )
    calibrated: bool = option(
        True,
        "Calibrate confidence on the development data after training, and apply it where a "
        "label is given; without it, confidence is the model's own probability of the label.",
    )
    valid_labels: bool = option(
        True,
        "Take the most probable label sequence that the tag scheme allows; without it, labels are "
        "decided token by token and read as conlleval does.",
    )
    return_mutual_information: bool = option(
        False,
        "Also return the mutual information of each label: the part of the uncertainty that comes "
        "from disagreement of the samples.",
        commands=("tag", "export"),
    )
    return_alternatives: int = _count(
        0,
        "Also return so many labels of each token, with their calibrated probabilities, most "
        "probable first; 0: none.",
        low=0,
        commands=("tag", "export"),
    )
    return_candidates: bool = option(
        False,
        "Also return candidates: spans of text, which may overlap, that are an entity with at "
        "least the probability that the run's target recall needs (0.05 without a target).",
        commands=("tag", "export"),
    )
    return_probabilities: bool = option(
        False, "Also return the distribution that each label comes from.", commands=()
    )

    def replace(self, **changes: Any) -> "InferenceOptions":
        """A copy with these fields changed.

        Raises:
          InputError: there is no such option, or a value is of another type or outside its limits.
        """
        fields = {field.name: field for field in dataclasses.fields(self)}
        for name, value in changes.items():
            if name not in fields:
                hint = option_hint(name) or "."
                raise InputError(f"There is no inference option {name!r}{hint}")
            changes[name] = check_option(fields[name], value, f"`{name}`")
        return dataclasses.replace(self, **changes)


OPTION_NAMES = tuple(field.name for field in dataclasses.fields(InferenceOptions))


def option_hint(name: str) -> str:
    """The end of a message on a misspelt inference option; "" where none is close to it."""
    return did_you_mean(name, OPTION_NAMES)


@contextlib.contextmanager
def other_options(model: Any, **changes: Any) -> Iterator[None]:
    """Within this context the model has other inference options; the gate's, if it has one."""
    if model.gate is None:
        changes = {name: value for name, value in changes.items() if name not in OF_THE_GATE}
    before = {name: getattr(model, name) for name in changes}
    try:
        for name, value in changes.items():
            setattr(model, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(model, name, value)


def check_threshold(value: Any) -> float:
    """The value as a float; raises InputError unless it is at least 0 and finite as a float32."""
    return float(InferenceOptions().replace(threshold=value).threshold)


@dataclasses.dataclass(frozen=True)
class DataConfig:
    """Files, columns and the preparation of tokens."""

    train_path: str = option("", "CoNLL-style training file.")
    dev_path: str = option("", "Development file: early stopping, best epoch, Gamma.")
    test_path: str = option("", "Test file, scored once with the best epoch's weights.")
    distill_path: str = option(
        "",
        "Further text to train the head of --sampling=distilled on, such as "
        "text of the kind to be tagged: files separated by commas, in columns as the training file "
        "(labels are not read) or one sentence per line, its tokens between blanks.",
    )
    task: str = option(
        "auto",
        "What the labels are: chunks scored by entity F1 (ner), one label per token scored by "
        "accuracy (pos), or found from the training labels (auto).",
        choices=("auto", "ner", "pos"),
    )
    data_format: str = option(
        "auto",
        "Format of the labelled files: one of those of `uanet data convert`, or found by name and "
        "content (auto).",
    )
    token_column: str = option(
        "0",
        "Column of the token: a number, from 0, or from the end if negative; or a name that the "
        "file gives (a header, # global.columns).",
        or_number=True,
    )
    label_column: str = option(
        "-1",
        "Column of the label, as of the token; of CoNLL-U's KEY=VALUE pairs MISC:KEY.",
        or_number=True,
    )
    label_names: str = option(
        "", "Names of labels that are numbers (Hugging Face), in order: O,B-PER,I-PER,..."
    )
    overlaps: str = option(
        "refuse",
        "Marks of a text that overlap: refuse the file, keep the longest, or the one that begins "
        "first.",
        choices=OVERLAPS,
    )
    skip_blank_tokens: bool = option(
        False, "Leave out tokens of columns that are empty or blank; else they are refused."
    )
    accept_suggested: bool = option(
        False,
        "Files of annotation tools: take texts whose suggested marks nobody changed. doccano does "
        "not say whether a person has looked at them: export the approved ones only, and give this "
        "flag.",
    )
    tokenizer: str = option(
        "auto",
        "Tokenizer of raw text: the one that fits the training tokens (auto), or the one named.",
        choices=("auto", *TOKENIZERS),
    )
    normalize_digits: bool = option(
        True, "Read every digit as 0 (Lample et al., 2016).", needs=_NOT_TRANSFORMER
    )
    lowercase_words: bool = option(
        False,
        "Look words up in lower case; characters keep their case (Ma & Hovy, 2016, with GloVe).",
        needs=_NOT_TRANSFORMER,
    )
    max_chars: int = _count(
        40, "Characters of a word that are read; a longer word keeps its two ends.", low=2
    )
    max_tokens: int = _count(
        512, "Longest sentence in one piece, tokens; longer ones are read in windows.", low=8
    )
    context: str = option(
        "sentence",
        "Unit that is read in one piece: each sentence by itself, or the sentences of a document "
        "together, up to --max_tokens (Strubell et al., 2017). For files that mark documents "
        "(-DOCSTART- lines, # newdoc).",
        choices=("sentence", "document"),
    )
    word_vectors: str = option(
        "", "Pretrained vectors: GloVe or fastText text (.txt .vec .gz) or word2vec (.bin)."
    )
    vector_limit: int = _count(
        0,
        "How many words of --word_vectors, its first and so most frequent ones, are known when "
        "tagging; those of the training data are known beside them. 0: all.",
        low=0,
        needs={"word_vectors": ()},
    )
    min_word_count: int = _count(1, "Training words rarer than this share the unknown word.")
    batch_size: int = _count(10, "Sentences in a training batch (released code: 10).")
    batch_tokens: int = _count(
        16384, "Most tokens in a batch, padding included: bounds memory.", low=16
    )


@dataclasses.dataclass(frozen=True)
class RepresentationConfig:
    """From a token to its vector."""

    representation: str = option(
        "char_cnn", "How a word becomes a vector.", choices=REPRESENTATIONS.keys()
    )
    pretrained: str = option(
        "",
        "Pretrained encoder: folder in Hugging Face's or keras_nlp's format, or a preset's name.",
    )
    subword_pooling: str = option(
        "first",
        "A token's vector is the state of its first sub-word, or the mean of all.",
        choices=SUBWORD_POOLING,
    )
    word_width: int = width(100, "Width of word vectors (paper: 100).")
    char_width: int = width(30, "Width of character vectors (released code: 30).")
    char_filters: int = width(50, "Filters of the character CNN (released code: 50).")
    char_hidden_width: int = width(
        50,
        "Width of the character LSTM or GRU, both directions (Lample et al., 2016: 50), even.",
        low=2,
    )
    intnet_layers: int = layers(7, "Convolutional layers of IntNet (Xin et al., 2018: 7), odd.")
    embedding_dropout: float = _rate(0.5, "Dropout on the word representation (paper: 0.5).")
    unknown_word_rate: float = factor(
        0.0,
        "In training a word seen n times is read as unknown with probability rate / (rate + n) "
        "(Kiperwasser & Goldberg, 2016: 0.25). 0: never.",
    )


@dataclasses.dataclass(frozen=True)
class EncoderConfig:
    """From word vectors to contextual states."""

    encoder: str = option("variational_bilstm", "The contextual encoder.", choices=ENCODERS.keys())
    hidden_width: int = width(
        400, "Width of the states, both directions together (paper: 400), even.", low=2
    )
    encoder_layers: int = layers(1, "Number of stacked encoder layers (paper: 1).")
    variational_dropout: float = _rate(
        0.25,
        "Rate of the mask on the encoder's input, tied over time (Eq. 3; paper: 0.25); ordinary "
        "dropout for bilstm.",
    )
    recurrent_dropout: float = _rate(
        0.25,
        "Rate of the mask on the previous hidden state, tied over time (Eq. 3; paper: 0.25); on "
        "each layer of id_cnn and relative_transformer.",
    )
    output_dropout: float = _rate(
        0.0,
        "Rate of a mask on the encoder's output, tied over time (paper: none; released code: "
        "0.25); ordinary dropout for bilstm.",
    )
    projection_width: int = width(
        0, "Width of a tanh layer behind a BiLSTM or BiGRU; 0: none (Rei et al., 2016: 50).", low=0
    )
    encoder_heads: int = heads(8, "Attention heads of --encoder=relative_transformer.")
    encoder_attention_dropout: float = _rate(0.0, "Attention dropout of relative_transformer.")
    cnn_iterations: int = layers(3, "How often id_cnn applies its block (Strubell et al., 2017).")
    score_iterates: bool = option(
        True, "Train id_cnn on the states after every iterate (its Eq. 10), not only the last."
    )


@dataclasses.dataclass(frozen=True)
class DecoderConfig:
    """From states to labels; the refiner's settings are for ``--decoder=uanet`` only."""

    decoder: str = option("uanet", "How labels are decided.", choices=DECODERS.keys())
    refiner_layers: int = layers(2, "Layers of the two-stream refiner (paper: 2; OntoNotes: 3).")
    refiner_heads: int = heads(7, "Attention heads (paper: 5, 7 or 9).")
    refiner_head_width: int = width(80, "Width of a head (paper: 80, 120 or 160).")
    refiner_dropout: float = _rate(0.2, "Dropout of the refiner's layers (released code: 0.2).")
    attention_dropout: float = _rate(0.15, "Dropout on attention weights (released code: 0.15).")
    label_input: str = option(
        "expected",
        "Draft labels as their expected embedding (ours), the best one's (paper), or not read.",
        choices=("expected", "argmax", "none"),
    )
    label_layers: str = option(
        "all",
        "Layers in which the label stream attends: all (Eq. 8), or the last (released code).",
        choices=("all", "last"),
        needs={"label_input": ("expected", "argmax")},
    )
    label_residual: str = option(
        "labels",
        "What the first label stream is added to: draft labels (Eq. 8), words, none (their code).",
        choices=("labels", "words", "none"),
        needs={"label_input": ("expected", "argmax")},
    )
    refiner_embeddings: str = option(
        "own",
        "The refiner's word and character embeddings: its own (released code), or the drafter's.",
        choices=("own", "shared"),
    )
    refiner_states: bool = option(
        False, "The refiner reads the drafter's hidden states beside the words (not in the paper)."
    )
    refiner_context: str = option(
        "sentence",
        "What the refiner reads of other sentences: nothing, or the drafts of the same words in "
        "the document, up to --max_tokens (not in the paper). The drafter reads sentences. auto: "
        "document where the files mark documents, unless --context=document.",
        choices=("sentence", "document", "auto"),
    )
    lan_layers: int = layers(
        2, "BiLSTM layers of --decoder=lan above the encoder, label attention after each."
    )
    lan_heads: int = heads(5, "Label attention heads of lan; must divide --hidden_width.")
    label_width: int = width(50, "Width of label embeddings (seq2seq, seq2biseq).")
    label_hidden_width: int = width(
        0, "Width of the label LSTM or GRUs (seq2seq, seq2biseq); 0: that of the states.", low=0
    )
    beam_width: int = _count(1, "Label sequences kept in decoding (seq2seq); 1: greedy.", high=512)
    decoder_dropout: float = _rate(0.0, "Dropout inside lan, seq2seq and seq2biseq, in training.")

    @property
    def is_refined(self) -> bool:
        """Whether the decoder's labels are a draft, which a refiner and a gate follow."""
        return self.decoder in REFINED_DECODERS

    decoder_optimizers: int = _count(
        1,
        "Optimizers of --decoder=seq2biseq: one for the sum of both losses, or one for each "
        "direction's loss, both of which then train the layers below.",
        high=2,
    )


@dataclasses.dataclass(frozen=True)
class TrainingConfig:
    """Optimizers, schedules and the run itself."""

    init: str = option(
        "",
        "Go on from a model: a run, or a model that comes with the package. Its weights, words, "
        "characters, labels and settings are those to begin with; what the training file has "
        "beyond them is added, and a flag that is given changes a setting. A new label has ten "
        "epochs at least, unless --epochs is given.",
    )
    keep_types: bool = option(
        True,
        "Where the files do not label a type of entities that the model of --init knows, its "
        "answers stand in for labels, so that it is not forgotten.",
        needs={"init": ()},
    )
    epochs: int = _count(100, "Most passes over the training data (released code: 100).")
    min_steps: int = _count(0, "Least steps in an epoch; a small file is read again.", low=0)
    min_epochs: int = _count(
        1, "First epoch that may be kept as the best: scores of barely trained weights can mislead."
    )
    patience: int = _count(
        0, "Epochs without a better development score before stopping; 0: never stop.", low=0
    )
    seed: int = option(
        1, "Seed of initial weights, data order and training dropout.", low=0, high=MAX_SEED
    )
    strategy: str = option(
        "none",
        "Share each batch among the GPUs of this machine, or among the processes that the "
        "environment variable TF_CONFIG names; the run learns the same, up to rounding.",
        choices=("none", "mirrored", "multi_worker"),
    )
    deterministic: bool = option(
        False, "Force deterministic kernels, for bit-identical runs where an op needs it."
    )
    mixed_bfloat16: bool = option(
        False,
        "Matrix products in bfloat16 in training; weights, states and sums stay float32, and the "
        "saved model computes in float32. Faster where the processor has it (avx512_bf16, GPUs).",
    )
    drafter_optimizer: str = option(
        "sgd", "Optimizer of the drafter (paper: sgd).", choices=("sgd", "adam", "adadelta")
    )
    drafter_learning_rate: float = factor(
        0.015, "Initial learning rate of the drafter (paper: 0.015; WSJ: 0.2)."
    )
    drafter_momentum: float = _rate(
        0.9, "Momentum of SGD (released code: 0.9).", needs={"drafter_optimizer": ("sgd",)}
    )
    drafter_decay: float = factor(
        0.05,
        "Inverse-time decay of the drafter's rate: lr / (1 + decay * epoch) (released code: 0.05).",
        needs={"drafter_schedule": ("inverse_time",)},
    )
    drafter_schedule: str = option(
        "inverse_time",
        "Schedule of the drafter's rate: inverse-time decay by epoch, or warm-up, then linear.",
        choices=("inverse_time", "linear"),
    )
    refiner_learning_rate: float = factor(
        1e-4, "Peak learning rate of the refiner's Adam (paper: 1e-4).", optimizer="refined"
    )
    pretrained_learning_rate: float = factor(
        3e-5,
        "Peak rate of the pretrained encoder's Adam (Devlin et al., 2019: 2e-5 to 5e-5); 0: "
        "frozen.",
        optimizer="pretrained",
    )
    pretrained_weight_decay: float = factor(
        0.01,
        "Decoupled weight decay of the pretrained encoder, per step (Devlin: 0.01).",
        optimizer="pretrained",
    )
    freeze_layers: int = option(
        0,
        "Embeddings and so many of the first layers of the pretrained encoder are not trained.",
        low=0,
        high=1_000,
        optimizer="pretrained",
    )
    warmup: float = factor(
        0.1,
        "Share of all steps over which a linear schedule, and a pretrained encoder's rate, warm up "
        "(released code and Devlin: 0.1).",
        high=1.0,
    )
    clip_norm: float = factor(
        5.0,
        "Gradients of each part are scaled to at most this norm (their code: 5); 0: no clipping.",
    )
    loss_reduction: str = option(
        "sum",
        "The batch's loss: sum over its tokens (released code), or their mean.",
        choices=("sum", "mean"),
    )
    l2: float = factor(
        1.0, "Factor on the L2 term (1 - r) / (2N) ||theta||^2 of Eq. 9, word vectors left out."
    )
    expectation_linear: float = factor(
        0.0,
        "Factor on the squared distance of the encoder's states with and without dropout (Ma et "
        "al., 2017; Strubell et al., 2017, for id_cnn).",
    )
    tune_threshold: bool = option(
        False, "Choose Gamma on the development set after training and store it in the run."
    )
    distill_samples: int = _count(
        16,
        "After training, a small head learns from this many samples of training text to predict "
        "their mean and disagreement in one pass, for --sampling=distilled. 0: none is trained.",
        low=0,
        high=10_000,
    )
    average_decay: float = _rate(
        0.0,
        "Decay per step of a moving average of the weights, which is scored and saved; 0: none.",
    )
    save_seconds: int = _count(
        60,
        "Seconds between two saves of the training state, which a killed run resumes from.",
        low=0,
    )
    target_precision: float = _rate(
        0.0,
        "Mark as accepted the entities (or tokens, where labels are no chunks) whose confidence is "
        "enough for this precision, with a probability of 0.9: found on half of the development "
        "file. 0: nothing is marked.",
    )
    target_recall: float = _rate(
        0.0,
        "Of entities: find the probability from which spans are candidates (--return_candidates) "
        "so that this share of a text's entities is among those given (or accepted, with a "
        "--target_precision) and the candidates, with a probability of 0.9. 0: none is promised.",
    )
    target_by_type: bool = option(
        False,
        "Promise --target_precision and --target_recall for each type by itself, each with a "
        "threshold of its own.",
    )
