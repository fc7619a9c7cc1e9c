"""Archives and weight files that do more than hold a model, where a loader lets them.

Each builder of ``CONFIGS`` takes the marker, a file that what is executed makes, and gives the
``config.json`` of an archive. ``MODULE`` is a module of the attacker's that makes it when it is
imported.
"""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

MODULE = "hostile_module"
Config = dict[str, Any]


def write_module(folder: Path, marker: Path) -> None:
    """Writes the attacker's module; it has what a loader might ask for."""
    text = f"open({str(marker)!r}, 'w').close()\nclass Thing:\n    pass\ndef function(*a): pass\n"
    (folder / f"{MODULE}.py").write_text(text)


def write_archive(path: Path, members: dict[str, bytes], compression=zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def keras_object(class_name: str, module: str = "keras.layers", **config: Any) -> Config:
    return {"module": module, "class_name": class_name, "config": config, "registered_name": None}


def function(module: str, name: str) -> Config:
    return {"module": module, "class_name": "function", "config": name, "registered_name": name}


THING = keras_object("Thing", MODULE)


def functional(*layers: Config) -> Config:
    return {
        "module": "keras.src.engine.functional",
        "class_name": "Functional",
        "registered_name": "Functional",
        "config": {
            "name": "tagger",
            "trainable": True,
            "layers": list(layers),
            "input_layers": [],
            "output_layers": [],
        },
    }


def called(layer: Config, value: Any, **arguments: Any) -> Config:
    """A layer of a functional model that is called with a constant when the model is made."""
    nodes = [["_CONSTANT_VALUE", -1, value, arguments]]
    return {**layer, "name": layer["config"]["name"], "inbound_nodes": nodes}


def python_call(module: str, name: str, value: Any, **arguments: Any) -> Config:
    """A functional model that calls a function of Python by way of a Lambda layer."""
    layer = keras_object(
        "Lambda",
        name="call",
        function=function(module, name),
        function_type="function",
        module=module,
        output_shape=None,
        output_shape_type="raw",
        output_shape_module=None,
        arguments=arguments,
    )
    return functional(called(layer, value))


def tensorflow_call(symbol: str, value: Any, **arguments: Any) -> Config:
    layer = keras_object("TFOpLambda", name="call", function=symbol)
    return functional(called(layer, value, **arguments))


def of_ours(class_name: str, **config: Any) -> Config:
    registered = f"uanet_tf>{class_name}"
    return {**keras_object(class_name, "x", **config), "registered_name": registered}


CONFIGS: dict[str, Callable[[Path], Config]] = {
    "os.system": lambda marker: python_call("os", "system", f"touch {marker}"),
    "tf.io.write_file": lambda marker: tensorflow_call(
        "io.write_file", str(marker), contents="written"
    ),
    "module": lambda marker: THING,
    "module of a function": lambda marker: function(MODULE, "function"),
    "module of another Tagger": lambda marker: {
        **of_ours("Tagger2"),
        "class_name": "Thing",
        "module": MODULE,
    },
    "module of a Lambda's function": lambda marker: python_call(MODULE, "function", "text"),
    "part of a layer of ours": lambda marker: of_ours("WordRepresentation", char_layer=THING),
}


def _put(file: h5py.File, place: str, item: Any) -> None:
    del file[place]
    file[place] = item


def _make(file: h5py.File, place: str, **options: Any) -> None:
    del file[place]
    file.create_dataset(place, **options)


def _secret(file: h5py.File, ending: str) -> str:
    """What a link would read, in the folder of the weight file."""
    return str(Path(file.filename).parent / f"secret.{ending}")


def _link_to_a_group(file: h5py.File, place: str, values: np.ndarray) -> None:
    _put(file, place.rpartition("/")[0], h5py.ExternalLink(_secret(file, "h5"), "/"))


def _soft_link(file: h5py.File, place: str, values: np.ndarray) -> None:
    _put(file, place, h5py.SoftLink("/elsewhere"))
    file["elsewhere"] = values


def _storage_elsewhere(file: h5py.File, place: str, values: np.ndarray) -> None:
    parts = [(_secret(file, "bin"), 0, h5py.h5f.UNLIMITED)]
    _make(file, place, shape=values.shape, dtype=values.dtype, external=parts)


def _virtual_data_set(file: h5py.File, place: str, values: np.ndarray) -> None:
    layout = h5py.VirtualLayout(values.shape, values.dtype)
    layout[...] = h5py.VirtualSource(_secret(file, "h5"), "values", values.shape)
    del file[place]
    file.create_virtual_dataset(place, layout)


# What is done to a weight file, with the place of its first array and its values. Here the array
# stands elsewhere, by every way that HDF5 has.
LINKS: dict[str, Callable[[h5py.File, str, np.ndarray], None]] = {
    "external link": lambda file, place, _: _put(
        file, place, h5py.ExternalLink(_secret(file, "h5"), "/values")
    ),
    "external link of a group": _link_to_a_group,
    "soft link": _soft_link,
    "external storage": _storage_elsewhere,
    "virtual data set": _virtual_data_set,
}
# What Keras never writes, though it reads nothing elsewhere.
ODDITIES: dict[str, Callable[[h5py.File, str, np.ndarray], Any]] = {
    "array in pieces": lambda file, place, values: _make(
        file, place, data=values, chunks=True, compression="gzip"
    ),
    "array of nothing": lambda file, place, _: _make(file, place, shape=(10**7, 10**5), dtype="f4"),
    "array of texts": lambda file, place, _: _put(file, place, np.array([b"text"])),
    "array of strings": lambda file, place, _: _make(
        file, place, data=["text"], dtype=h5py.string_dtype()
    ),
    "type": lambda file, *_: file.__setitem__("type", np.dtype("f8")),
    "second name": lambda file, place, _: file.__setitem__("again", file[place]),
    "group in itself": lambda file, *_: file.__setitem__("layers/again", file["layers"]),
    "null": lambda file, place, _: _put(file, place, h5py.Empty("f4")),
    "deep": lambda file, *_: file.create_group("/".join(["deep"] * 80)),
}
# The same of the bytes of the file.
OF_BYTES: dict[str, Callable[[bytes], bytes]] = {
    "user block": lambda content: b"#!/bin/sh\n".ljust(512, b"\0") + content,
    "half": lambda content: content[: len(content) // 2],
}
KINDS = (*LINKS, *ODDITIES, *OF_BYTES)


def write_odd_weights(kind: str, source: Path, folder: Path) -> Path:
    """A copy of a weight file, changed in one of ``KINDS``.

    ``secret`` in the folder is what a link would read.
    """
    with h5py.File(source) as file:
        place = _first_array(file)
        values = file[place][()]
    secret = np.full_like(values, 7.0)
    (folder / "secret.bin").write_bytes(secret.tobytes())
    with h5py.File(folder / "secret.h5", "w") as file:
        file["values"] = secret
    path = folder / "odd.weights.h5"
    path.write_bytes(OF_BYTES.get(kind, bytes)(source.read_bytes()))
    if kind not in OF_BYTES:
        with h5py.File(path, "r+") as file:
            (LINKS | ODDITIES)[kind](file, place, values)
    return path


def _first_array(file: h5py.File) -> str:
    found: list[str] = []
    file.visititems(
        lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None
    )
    return found[0]
