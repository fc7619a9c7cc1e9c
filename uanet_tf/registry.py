"""Names to parts: one line for each value of --representation, --encoder and --decoder.

A line names a class as "module:class". So reading the names imports nothing, and a program loads
the parts that it uses and no others. A part is made by its class method

    from_settings(config, vocabulary, **kwargs)

which takes its constructor's arguments from the settings. docs/extending.md adds a part.
"""

import importlib
from typing import Any

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
