"""Imports go one way: a folder of the package imports only folders to its left."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "uanet_tf"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

# Left to right. Folders in one step do not import each other.
STEPS = (
    {"errors", "part_file", "printable", "registry"},
    {"arguments", "option", "strict_json", "weight_file", "row_multiple"},
    {"checksums", "inference_options", "text"},
    {"settings", "training_settings"},
    {"ops", "config"},
    {"settings_record"},
    {"data", "attention", "recurrent", "recipe"},
    {"samples", "corpora", "presets", "pretrained"},
    {"representation"},
    {"encoders"},
    {"decoders", "refiner"},
    {"inference"},
    {"models"},
    {"tagging", "metrics", "calibration"},
    {"annotation", "monitoring"},
    {"training", "evaluation", "exporting", "serving", "spark"},
    {"commands"},
    # What a person starts: `python train.py`, `python -m uanet_tf`, `python -m uanet_tf.tag`.
    {
        "train.py",
        "export.py",
        "evaluate",
        "find_label_errors",
        "rank",
        "report",
        "tag",
        "spark_tag",
        "data.check",
        "data.sample_corpus",
        "evaluation.calibrate",
        "evaluation.compare",
        "__main__",
    },
)
STEP_OF = {part: number for number, step in enumerate(STEPS) for part in step}


def module_name(path: Path, root: Path) -> str:
    """Dotted name of a file; a script beside the package keeps its file name."""
    if path.parent == root:
        return path.name
    parts = list(path.relative_to(root).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """The folder (or top-level module, or script) that a module belongs to."""
    if not module.startswith(f"{PACKAGE}."):
        return module
    inside = module.removeprefix(f"{PACKAGE}.")
    return inside if inside in STEP_OF else inside.split(".")[0]


def read_tree(root: Path) -> dict[str, Path]:
    """{module: file} of the package and of the scripts beside it."""
    files = [*sorted((root / PACKAGE).rglob("*.py")), root / "train.py", root / "export.py"]
    return {module_name(path, root): path for path in files if path.exists()}


def imports_of(module: str, path: Path, modules: set[str]) -> Iterator[tuple[str, int]]:
    """(imported module, line) of imports within the package: lazy and relative ones too."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == PACKAGE:
                    yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                parents = package.split(".")
                parents = parents[: len(parents) - node.level + 1]
                source = ".".join([*parents, source] if source else parents)
            if source.split(".")[0] != PACKAGE:
                continue
            for alias in node.names:
                submodule = f"{source}.{alias.name}"
                yield (submodule if submodule in modules else source), node.lineno


def wrong_imports(root: Path) -> list[str]:
    """One sentence for each import that goes against the direction."""
    modules = read_tree(root)
    found = []
    for module, path in modules.items():
        if module == PACKAGE:  # its exports are lazy
            continue
        here = part_of(module)
        if here not in STEP_OF:
            found.append(f"{path.relative_to(root)}: {here!r} has no place in STEPS")
            continue
        for target, line in imports_of(module, path, set(modules)):
            there = part_of(target)
            if there == here and there != PACKAGE:
                continue
            where = f"{path.relative_to(root)}:{line}: {module} imports {target}"
            if target == PACKAGE:
                # The package's own exports are for its users, and could hide any direction.
                if STEP_OF[here] < STEP_OF["commands"]:
                    found.append(f"{where}: name the module itself")
            elif there not in STEP_OF:
                found.append(f"{where}: no such part")
            elif STEP_OF[there] >= STEP_OF[here]:
                found.append(f"{where}: {there} is not to the left of {here}")
    return found


def import_cycle(root: Path) -> list[str]:
    """Modules of one import cycle, first = last; empty if there is none."""
    modules = read_tree(root)
    graph = {
        module: sorted({name for name, _ in imports_of(module, path, set(modules))} & set(modules))
        for module, path in modules.items()
        if module != PACKAGE
    }
    done: set[str] = set()

    def visit(module: str, trail: list[str]) -> list[str]:
        if module in trail:
            return [*trail[trail.index(module) :], module]
        if module in done:
            return []
        for target in graph.get(module, []):
            if cycle := visit(target, [*trail, module]):
                return cycle
        done.add(module)
        return []

    return next((cycle for module in graph if (cycle := visit(module, []))), [])


def write_tree(root: Path, sources: dict[str, str]) -> Path:
    for name, source in sources.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return root


def test_imports_go_one_way():
    assert not wrong_imports(ROOT), "\n".join(wrong_imports(ROOT))


def test_no_import_cycles():
    assert not import_cycle(ROOT), " -> ".join(import_cycle(ROOT))


def test_the_reader_sees_the_package():
    modules = read_tree(ROOT)
    assert f"{PACKAGE}.config" in modules
    targets = {
        target
        for module, path in modules.items()
        for target, _ in imports_of(module, path, set(modules))
    }
    assert f"{PACKAGE}.errors" in targets


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("uanet_tf/ops/a.py", "from uanet_tf.data.conll import read"),
        ("uanet_tf/ops/a.py", "import uanet_tf.models.tagger as t"),
        ("uanet_tf/ops/a.py", "from uanet_tf import models"),
        ("uanet_tf/ops/a.py", "from .. import models"),
        ("uanet_tf/ops/a.py", "from ..data import conll"),
        ("uanet_tf/ops/a.py", "def f():\n    from uanet_tf.data import conll\n"),
        ("uanet_tf/ops/a.py", "if TYPE_CHECKING:\n    from uanet_tf.data import conll\n"),
        ("uanet_tf/ops/a.py", "import uanet_tf"),
        ("uanet_tf/ops/a.py", "from uanet_tf import load_model"),
        ("uanet_tf/ops/__init__.py", "from ..data import conll"),
        ("uanet_tf/refiner/a.py", "from uanet_tf.decoders.softmax import Softmax"),
        ("uanet_tf/evaluation/a.py", "from uanet_tf.training.fit import fit"),
        ("uanet_tf/commands/a.py", "import uanet_tf.tag"),
        ("uanet_tf/helpers/a.py", "import os"),
    ],
)
def test_finds_a_wrong_import(tmp_path, name, source):
    tree = {"uanet_tf/__init__.py": "", "uanet_tf/models/__init__.py": "", name: source}
    assert len(wrong_imports(write_tree(tmp_path, tree))) == 1


def test_allows_right_imports(tmp_path):
    tree = {
        "uanet_tf/__init__.py": "from uanet_tf.models.tagger import Tagger",
        "uanet_tf/models/tagger.py": "from ..ops import masks\nimport uanet_tf.errors\nimport os",
        "uanet_tf/models/other.py": "from . import tagger\nfrom .tagger import Tagger",
        "uanet_tf/ops/masks.py": "import tensorflow as tf",
        "uanet_tf/errors.py": "",
        "uanet_tf/tag.py": "from uanet_tf.commands.tag import main",
        "uanet_tf/commands/tag.py": "import uanet_tf\nfrom uanet_tf import load_model",
        "train.py": "from uanet_tf.commands.tag import main",
    }
    assert wrong_imports(write_tree(tmp_path, tree)) == []
    assert import_cycle(tmp_path) == []


def test_finds_a_cycle(tmp_path):
    tree = {
        "uanet_tf/data/a.py": "from uanet_tf.data import b",
        "uanet_tf/data/b.py": "from . import c",
        "uanet_tf/data/c.py": "def f():\n    import uanet_tf.data.a\n",
    }
    cycle = import_cycle(write_tree(tmp_path, tree))
    assert cycle == [f"uanet_tf.data.{name}" for name in "abca"]


def test_the_page_shows_this_tree():
    """docs/architecture.md has a row for each step, in this order, and one for the recipes."""
    table = PAGE.split("\n| folder of `uanet_tf/` | holds |\n")[1].split("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[1:]]
    named = [set(re.findall(r"`(\w+)(?:\.py|/)`", row)) for row in rows]
    assert named[:-1] == list(STEPS[:-1])
    assert named[-1] == {"recipes", "configs"}


def test_the_page_names_files_that_exist():
    folders = (PACKAGE, "tests", "uanet_lite")
    files = [
        *ROOT.glob("*.py"),
        *(path for name in folders for path in (ROOT / name).rglob("*.py")),
    ]
    paths = [f"/{path.relative_to(ROOT)}" for path in files]
    named = {name for name in re.findall(r"`([\w/]+\.py)`", PAGE) if "NAME" not in name}
    assert len(named) > 25
    assert {name for name in named if not any(path.endswith(f"/{name}") for path in paths)} == set()
