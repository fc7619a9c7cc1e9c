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


LINKS = (
    "external link",
    "external link of a group",
    "soft link",
    "external storage",
    "virtual data set",
)


def make_links(source: Path, folder: Path) -> dict[str, Path]:
    """Copies of a weight file whose first array stands elsewhere, by every way that HDF5 has.

    ``secret`` in the folder is what they would read.
    """
    with h5py.File(source) as file:
        place = _first_array(file)
        values = file[place][()]
    secret = np.full_like(values, 7.0)
    (folder / "secret.bin").write_bytes(secret.tobytes())
    with h5py.File(folder / "secret.h5", "w") as file:
        file["values"] = secret
    group = place.rpartition("/")[0]

    def copy(kind: str) -> h5py.File:
        path = folder / f"{kind}.weights.h5".replace(" ", "_")
        path.write_bytes(source.read_bytes())
        paths[kind] = path
        return h5py.File(path, "r+")

    paths: dict[str, Path] = {}
    with copy("external link") as file:
        del file[place]
        file[place] = h5py.ExternalLink(str(folder / "secret.h5"), "/values")
    with copy("external link of a group") as file:
        del file[group]
        file[group] = h5py.ExternalLink(str(folder / "secret.h5"), "/")
    with copy("soft link") as file:
        del file[place]
        file["elsewhere"] = secret
        file[place] = h5py.SoftLink("/elsewhere")
    with copy("external storage") as file:
        del file[place]
        file.create_dataset(
            place,
            shape=values.shape,
            dtype=values.dtype,
            external=[(str(folder / "secret.bin"), 0, h5py.h5f.UNLIMITED)],
        )
    with copy("virtual data set") as file:
        del file[place]
        layout = h5py.VirtualLayout(values.shape, values.dtype)
        layout[...] = h5py.VirtualSource(folder / "secret.h5", "values", values.shape)
        file.create_virtual_dataset(place, layout)
    return paths


def make_oddities(source: Path, folder: Path) -> dict[str, Path]:
    """Copies of a weight file with what Keras never writes, though it reads nothing elsewhere."""
    with h5py.File(source) as file:
        place = _first_array(file)
        values = file[place][()]
    paths: dict[str, Path] = {}

    def copy(kind: str) -> h5py.File:
        path = folder / f"{kind}.weights.h5".replace(" ", "_")
        path.write_bytes(source.read_bytes())
        paths[kind] = path
        return h5py.File(path, "r+")

    with copy("array in pieces") as file:
        del file[place]
        file.create_dataset(place, data=values, chunks=True, compression="gzip")
    with copy("array of nothing") as file:
        del file[place]
        file.create_dataset(place, shape=(10**7, 10**5), dtype="f4")
    with copy("array of texts") as file:
        del file[place]
        file[place] = np.array([b"text"])
    with copy("array of strings") as file:
        del file[place]
        file.create_dataset(place, data=["text"], dtype=h5py.string_dtype())
    with copy("type") as file:
        file["type"] = np.dtype("f8")
    with copy("second name") as file:
        file["again"] = file[place]
    with copy("group in itself") as file:
        file["layers/again"] = file["layers"]
    with copy("null") as file:
        del file[place]
        file[place] = h5py.Empty("f4")
    deep = folder / "deep.weights.h5"
    deep.write_bytes(source.read_bytes())
    with h5py.File(deep, "r+") as file:
        file.create_group("/".join(["deep"] * 80))
    paths["deep"] = deep
    block = folder / "user_block.weights.h5"
    block.write_bytes(b"#!/bin/sh\n".ljust(512, b"\0") + source.read_bytes())
    paths["user block"] = block
    short = folder / "half.weights.h5"
    short.write_bytes(source.read_bytes()[: source.stat().st_size // 2])
    paths["half"] = short
    return paths


def _first_array(file: h5py.File) -> str:
    found: list[str] = []
    file.visititems(
        lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None
    )
    return found[0]
