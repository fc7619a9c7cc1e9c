"""Protocol buffers of TF Serving that are not part of TensorFlow, described in a few lines.

The package tensorflow-serving-api has them too; a local server should not need it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

Field = descriptor_pb2.FieldDescriptorProto
PACKAGE = "uanet_tf.serving"
# {message: [(field, its number, its type or the message it holds, whether it is repeated)]}.
# A map is a repeated message with `key` and `value`.
Messages = Mapping[str, Sequence[tuple[str, int, int | str, bool]]]


def new_message(messages: Messages, name: str) -> Any:
    """An empty message ``name``; its own pool of descriptions collides with no other."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{PACKAGE}.proto", package=PACKAGE)
    file.syntax = "proto3"
    for message_name, fields in messages.items():
        message = file.message_type.add(name=message_name)
        for field_name, number, kind, repeated in fields:
            field = message.field.add(name=field_name, number=number)
            field.label = Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL
            if isinstance(kind, str):
                field.type, field.type_name = Field.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
            else:
                field.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))()
