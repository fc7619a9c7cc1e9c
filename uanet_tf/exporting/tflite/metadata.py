"""Metadata of a TensorFlow Lite file, in the format of tflite-support.

The tensors are described in a flatbuffer of its own (schema: metadata_schema.fbs, identifier
M001) inside the model; the files that belong to it (labels, vocabularies) are appended to the model
as a zip archive, not compressed. So Android's and iOS' libraries can read them, and so can
``unzip NAME.tflite``. The few tables that are needed are written here by hand.
"""

import collections
import dataclasses
import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import flatbuffers
import numpy as np
from tensorflow.lite.python import schema_py_generated as schema
from tensorflow.lite.tools import flatbuffer_utils

_ENTRY = b"TFLITE_METADATA"
_IDENTIFIER = b"M001"
_MIN_PARSER_VERSION = "1.0.1"  # the first with vocabularies
# Kinds of files (AssociatedFileType).
DESCRIPTION, VALUE_LABELS, VOCABULARY = 1, 3, 5
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # so that the same model gives the same bytes


@dataclasses.dataclass(frozen=True)
class File:
    """A file that belongs to a model: its content, its description, and its kind."""

    content: bytes
    description: str
    kind: int


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """Description of an input or output, and the names of the files that explain its values."""

    description: str
    axes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def add_metadata(
    model: bytes,
    *,
    main: str,
    name: str,
    description: str,
    version: str,
    tensors: Mapping[str, TensorInfo],
    files: Mapping[str, File],
) -> bytes:
    """The model with metadata, and with the files appended.

    Args:
      model: of a converter, with named signatures.
      main: the signature that becomes the first subgraph, run by those who name no signature.
      version: of the model or the program that made it.
      tensors: {name of an input or output of a signature: what it is}.
      files: {name: file}; those that no tensor names belong to the model.
    """
    tree = flatbuffer_utils.convert_bytearray_to_object(bytearray(model))
    _put_first(tree, main)
    builder = _Builder()
    named = {file for info in tensors.values() for file in info.files}
    metadata = builder.table(
        name=builder.text(name),
        description=builder.text(description),
        version=builder.text(version),
        subgraph_metadata=builder.vector(_subgraphs(builder, tree, tensors, files)),
        author=0,
        license=0,
        associated_files=builder.vector(
            [builder.file(key, file) for key, file in files.items() if key not in named]
        ),
        min_parser_version=builder.text(_MIN_PARSER_VERSION),
    )
    buffer = schema.BufferT()
    buffer.data = np.frombuffer(builder.finish(metadata), np.uint8)
    tree.buffers.append(buffer)
    entry = schema.MetadataT()
    entry.name, entry.buffer = _ENTRY, len(tree.buffers) - 1
    tree.metadata = [*(tree.metadata or []), entry]
    stream = io.BytesIO(aligned_model(tree))
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as archive:
        for key, file in files.items():
            archive.writestr(zipfile.ZipInfo(key, _EARLIEST), file.content)
    return stream.getvalue()


def _put_first(tree: Any, main: str) -> None:
    """Makes a signature's subgraph the first one; the converter sorts them by name.

    No operation calls a signature's subgraph, so nothing else refers to it by its number.
    """
    (chosen,) = (item for item in tree.signatureDefs if item.signatureKey == main.encode())
    place = chosen.subgraphIndex
    tree.subgraphs[0], tree.subgraphs[place] = tree.subgraphs[place], tree.subgraphs[0]
    for item in tree.signatureDefs:
        item.subgraphIndex = {0: place, place: 0}.get(item.subgraphIndex, item.subgraphIndex)


def _subgraphs(
    builder: "_Builder", tree: Any, tensors: Mapping[str, TensorInfo], files: Mapping[str, File]
) -> list[int]:
    """A table for each signature, in the order of the model's subgraphs; tensors in theirs."""
    tables = []
    for definition in sorted(tree.signatureDefs, key=lambda item: item.subgraphIndex):
        subgraph = tree.subgraphs[definition.subgraphIndex]
        sides = []
        both = (definition.inputs, subgraph.inputs), (definition.outputs, subgraph.outputs)
        for maps, order in both:
            names = collections.defaultdict(list)  # one tensor may be several outputs
            for item in maps:
                names[item.tensorIndex].append(item.name.decode())
            found = [names[int(index)].pop(0) for index in order]
            described = [builder.tensor(name, tensors[name], files) for name in found]
            sides.append(builder.vector(described))
        tables.append(
            builder.table(
                name=builder.text(definition.signatureKey.decode()),
                description=0,
                input_tensor_metadata=sides[0],
                output_tensor_metadata=sides[1],
            )
        )
    return tables


class _Builder:
    """Writes tables; an offset of 0 means a field that is left out."""

    def __init__(self) -> None:
        self._builder = flatbuffers.Builder(1024)

    def text(self, value: str) -> int:
        return self._builder.CreateString(value)

    def vector(self, offsets: Sequence[int]) -> int:
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        return self._builder.EndVector()

    def table(self, **fields: int) -> int:
        """Offsets of all fields, in the order of the schema; those at its end may be missing."""
        self._builder.StartObject(len(fields))
        for slot, offset in enumerate(fields.values()):
            self._builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
        return self._builder.EndObject()

    def file(self, name: str, file: File) -> int:
        texts = self.text(name), self.text(file.description)
        self._builder.StartObject(3)
        for slot, offset in enumerate(texts):
            self._builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
        self._builder.PrependInt8Slot(2, file.kind, 0)
        return self._builder.EndObject()

    def tensor(self, name: str, info: TensorInfo, files: Mapping[str, File]) -> int:
        present = [key for key in info.files if key in files]
        return self.table(
            name=self.text(name),
            description=self.text(info.description),
            dimension_names=self.vector([self.text(axis) for axis in info.axes]),
            content=0,
            process_units=0,
            stats=0,
            associated_files=self.vector([self.file(key, files[key]) for key in present]),
        )

    def finish(self, root: int) -> bytes:
        self._builder.Finish(root, file_identifier=_IDENTIFIER)
        return bytes(self._builder.Output())


_MODEL_IDENTIFIER = b"TFL3"
# Bytes. The schema asks for 16; the runtime reads weights where they stand in the file, and wide
# registers take longer across the border of a cache line.
_LEAST, _ALIGNMENT = 16, 64
_LARGE = 1024  # and so worth some bytes more


def aligned_model(tree: Any) -> bytes:
    """The bytes of a model, whose large arrays start at multiples of 64 bytes.

    So are their addresses, where the file is mapped, as by ``model_path`` of an interpreter.
    ``flatbuffer_utils`` of TensorFlow writes them at multiples of 4. ``tree`` is a ``ModelT``.
    """
    builder = _AlignedBuilder(1024)
    builder.Finish(tree.Pack(builder), file_identifier=_MODEL_IDENTIFIER)
    return bytes(builder.Output())


class _AlignedBuilder(flatbuffers.Builder):
    def CreateNumpyVector(self, x: np.ndarray) -> int:
        self.Prep(_ALIGNMENT if x.nbytes >= _LARGE else _LEAST, x.nbytes)
        return super().CreateNumpyVector(x)
