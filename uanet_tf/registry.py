"""Names to parts: one line for each value of --representation, --encoder and --decoder.

A line names a class as "module:class". So reading the names imports nothing, and a program loads
the parts that it uses and no others. A part is made by its class method

    from_settings(config, vocabulary, **kwargs)

which takes its constructor's arguments from the settings. docs/extending.md adds a part.

Parts that are not of this package are added by ``add_part``: in a module that --import names, or by
an entry point "decoder.NAME" of the group ``uanet_tf.parts`` of an installed package.
"""

import importlib
import importlib.metadata
import os
import sys
import warnings
from typing import Any

from uanet_tf.errors import InputError

# A layer over the characters of a word is combined with the word embedding (WordRepresentation).
REPRESENTATIONS = {
    "words": "uanet_tf.representation.word_representation:WordRepresentation",
    "char_cnn": "uanet_tf.representation.char_cnn:CharCNN",
    "char_bilstm": "uanet_tf.representation.char_recurrence:CharBiLSTM",
    "char_gru": "uanet_tf.representation.char_recurrence:CharGRU",
    "char_attention": "uanet_tf.representation.char_attention:CharAttention",
    "intnet": "uanet_tf.representation.intnet:IntNet",
    "word_shape": "uanet_tf.representation.word_shape:WordShape",
    "transformer": "uanet_tf.representation.transformer.transformer_representation:"
    "TransformerRepresentation",
}

ENCODERS = {
    "variational_bilstm": "uanet_tf.encoders.recurrent_encoders:VariationalBiLSTM",
    "bilstm": "uanet_tf.encoders.recurrent_encoders:BiLSTM",
    "bigru": "uanet_tf.encoders.recurrent_encoders:BiGRU",
    "id_cnn": "uanet_tf.encoders.iterated_dilated_cnn:IteratedDilatedCNN",
    "relative_transformer": "uanet_tf.encoders.relative_transformer:RelativeTransformer",
    "bigru_transformer": "uanet_tf.encoders.bigru_transformer:BiGRUTransformer",
    "none": "uanet_tf.encoders.encoder:NoEncoder",
}

# UANet drafts with a softmax; a tagger with a decoder of REFINED_DECODERS has a refiner and a gate.
DECODERS = {
    "uanet": "uanet_tf.decoders.softmax:SoftmaxDecoder",
    "softmax": "uanet_tf.decoders.softmax:SoftmaxDecoder",
    "crf": "uanet_tf.decoders.crf:CRFDecoder",
    "lan": "uanet_tf.decoders.label_attention:LabelAttentionDecoder",
    "seq2seq": "uanet_tf.decoders.seq2seq:Seq2SeqDecoder",
    "seq2biseq": "uanet_tf.decoders.seq2biseq:Seq2BiseqDecoder",
}
REFINED_DECODERS = ("uanet",)


def find(line: str) -> Any:
    """The class that a line of a table names."""
    module, _, name = line.partition(":")
    return getattr(importlib.import_module(module), name)


KINDS = {"representation": REPRESENTATIONS, "encoder": ENCODERS, "decoder": DECODERS}
GROUP = "uanet_tf.parts"
IMPORTED: list[str] = []  # modules that --import named, which processes of commands import too


def add_part(kind: str, name: str, part: type | str) -> None:
    """Adds a part of your own, as a value of --representation, --encoder or --decoder.

    Args:
      kind: "representation", "encoder" or "decoder".
      name: the value of the flag.
      part: the class, or "module:class".

    Raises:
      InputError: there is no such kind, or another part of this name.

    Example:
      >>> uanet_tf.add_part("decoder", "prototype", PrototypeDecoder)
      >>> uanet_tf.train("train.conll", "dev.conll", decoder="prototype", recipe=None)
    """
    if kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}. Received: {kind!r:.60}")
    line = part if isinstance(part, str) else f"{part.__module__}:{part.__qualname__}"
    if KINDS[kind].setdefault(name, line) != line:
        raise InputError(f"There is a {kind} {name!r} already: {KINDS[kind][name]}.")


def import_parts(module: str) -> None:
    """Imports a module that adds parts, from Python's path or the present directory.

    Raises InputError if there is no such module.
    """
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())  # of the command's script only its own folder is searched
    try:
        importlib.import_module(module)
    except (ImportError, ValueError) as error:
        raise InputError(f"`import={module}` cannot be imported: {error}.") from error
    IMPORTED.append(module)


def add_installed_parts() -> None:
    """Adds the parts of installed packages; one that cannot be is warned of."""
    for entry in importlib.metadata.entry_points(group=GROUP):
        kind, _, name = entry.name.partition(".")
        try:
            add_part(kind, name, entry.value)
        except InputError as error:
            warnings.warn(f"entry point {entry.name} of {GROUP}: {error}", stacklevel=2)


add_installed_parts()
