"""House rules that a reader of the code may rely on; each rule is shown to be able to fail."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "uanet_tf"
SCRIPTS = ("train.py", "export.py")
MAX_FILE_LINES = 350
MAX_FUNCTION_LINES = 60  # without its docstring
LAYER_FOLDERS = ("attention", "representation", "encoders", "decoders", "refiner")
KERAS_BASES = ("Layer", "Model")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """A parsed file, with its parents: {node: node that holds it}."""

    path: Path  # relative to the root
    text: str
    tree: ast.Module
    parents: dict[ast.AST, ast.AST]

    @property
    def folder(self) -> str:
        return self.path.parts[1] if len(self.path.parts) > 2 else ""


Tree = list[Source]
Finding = tuple[Source, int, str]


def parse(path: Path, text: str) -> Source:
    tree = ast.parse(text, str(path))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return Source(path, text, tree, parents)


def read_tree(root: Path) -> Tree:
    files = [*sorted((root / PACKAGE).rglob("*.py")), *(root / name for name in SCRIPTS)]
    return [
        parse(path.relative_to(root), path.read_text(encoding="utf-8"))
        for path in files
        if path.exists()
    ]


def dotted(node: ast.AST | None) -> str:
    """``tf.keras.layers.Layer`` as text; "" for anything but names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def last_name(node: ast.AST | None) -> str:
    return dotted(node).rpartition(".")[2]


def top_level(source: Source, kind: type | tuple) -> Iterator:
    return (node for node in source.tree.body if isinstance(node, kind))


def has_main(source: Source) -> bool:
    return any(node.name == "main" for node in top_level(source, ast.FunctionDef))


def is_script(source: Source) -> bool:
    return source.folder == "commands" or str(source.path) in SCRIPTS


def is_within_main(source: Source, node: ast.AST) -> bool:
    while node in source.parents:
        node = source.parents[node]
        if isinstance(node, Function) and node.name == "main":
            return True
    return False


# ------------------------------------------------------------------------------ rules


def no_print(tree: Tree) -> Iterator[Finding]:
    """`print` only in commands and in `main`: the package logs."""
    for source in tree:
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.Call) or dotted(node.func) != "print":
                continue
            if not is_script(source) and not is_within_main(source, node):
                yield source, node.lineno, "print()"


def no_assert(tree: Tree) -> Iterator[Finding]:
    """`assert` disappears under `python -O`: raise an error that explains."""
    for source in tree:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Assert):
                yield source, node.lineno, "assert"


def no_broad_except(tree: Tree) -> Iterator[Finding]:
    """Errors that nobody foresaw are not caught, unless to clean up and raise them again."""
    for source in tree:
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.ExceptHandler):
                continue
            last = node.body[-1]
            if isinstance(last, ast.Raise) and last.exc is None:
                continue
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(dotted(kind) in ("", "Exception", "BaseException") for kind in kinds):
                yield source, node.lineno, "except without a kind of error"


def no_bare_exception(tree: Tree) -> Iterator[Finding]:
    """What is raised has a kind that a caller can catch."""
    for source in tree:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Raise):
                raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                if dotted(raised) in ("Exception", "BaseException"):
                    yield source, node.lineno, f"raise {dotted(raised)}"


def no_compat_v1(tree: Tree) -> Iterator[Finding]:
    """TensorFlow 2 only."""
    for source in tree:
        for node in ast.walk(source.tree):
            if dotted(node).endswith("compat.v1") or (
                isinstance(node, ast.Import | ast.ImportFrom)
                and "compat.v1" in ast.unparse(node).replace(" import ", ".")
            ):
                yield source, node.lineno, "compat.v1"


def flags_only_in_scripts(tree: Tree) -> Iterator[Finding]:
    """Flags belong to scripts: the package takes arguments."""
    for source in tree:
        if is_script(source) or has_main(source):
            continue
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                text = ast.unparse(node)
                if "absl" in text and "flags" in text:
                    yield source, node.lineno, "absl.flags"


def short_files(tree: Tree) -> Iterator[Finding]:
    """A file can be read in one go."""
    for source in tree:
        lines = len(source.text.splitlines())
        if lines > MAX_FILE_LINES:
            yield source, lines, f"{lines} lines (at most {MAX_FILE_LINES})"


def short_functions(tree: Tree) -> Iterator[Finding]:
    """A function fits on a screen."""
    for source in tree:
        for node in ast.walk(source.tree):
            if not isinstance(node, Function):
                continue
            lines = node.end_lineno - node.lineno + 1
            if ast.get_docstring(node) is not None:
                lines -= node.body[0].end_lineno - node.body[0].lineno + 1
            if lines > MAX_FUNCTION_LINES:
                message = f"{node.name}: {lines} lines (at most {MAX_FUNCTION_LINES})"
                yield source, node.lineno, message


def docstrings(tree: Tree) -> Iterator[Finding]:
    """Every module and every public class and function says what it is."""
    for source in tree:
        if ast.get_docstring(source.tree) is None:
            yield source, 1, "no docstring"
        for node in top_level(source, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if not node.name.startswith("_") and ast.get_docstring(node) is None:
                yield source, node.lineno, f"{node.name} has no docstring"


def one_public_class(tree: Tree) -> Iterator[Finding]:
    """A file of a layer folder holds one public class, which bears the file's name."""
    for source in tree:
        if source.folder not in LAYER_FOLDERS:
            continue
        public = [n for n in top_level(source, ast.ClassDef) if not n.name.startswith("_")]
        for node in public[1:]:
            yield source, node.lineno, f"{node.name} is a second public class"
        for node in public[:1]:
            if node.name.lower() not in source.path.stem.replace("_", "") + "decoder":
                yield source, node.lineno, f"{node.name} does not bear the file's name"


def layers_are_registered(tree: Tree) -> Iterator[Finding]:
    """A layer comes back from a saved model by itself: registered, with its own config."""
    classes = {node.name: node for source in tree for node in top_level(source, ast.ClassDef)}

    def lineage(node: ast.ClassDef) -> list[ast.ClassDef]:
        """The class and those of its ancestors that are ours."""
        bases = [classes[name] for name in map(last_name, node.bases) if name in classes]
        return [node, *(ancestor for base in bases for ancestor in lineage(base))]

    def defines(node: ast.ClassDef, name: str) -> bool:
        return any(isinstance(item, Function) and item.name == name for item in node.body)

    for source in tree:
        for node in top_level(source, ast.ClassDef):
            family = lineage(node)
            if not any(last_name(base) in KERAS_BASES for each in family for base in each.bases):
                continue
            if not any(defines(each, "call") for each in family):
                continue  # an abstract base
            if not any(is_registration(decorator) for decorator in node.decorator_list):
                yield source, node.lineno, f"{node.name} is not registered under {PACKAGE}"
            # Arguments of its own want a config of its own.
            responsible = [node] if defines(node, "__init__") else family
            if not any(defines(each, "get_config") for each in responsible):
                yield source, node.lineno, f"{node.name} has no get_config"


def is_registration(decorator: ast.AST) -> bool:
    """``@...register_keras_serializable(package="uanet_tf")``."""
    if not isinstance(decorator, ast.Call):
        return False
    values = [*decorator.args[:1], *(k.value for k in decorator.keywords if k.arg == "package")]
    return last_name(decorator.func) == "register_keras_serializable" and any(
        isinstance(value, ast.Constant) and value.value == PACKAGE for value in values
    )


# ------------------------------------------------------------------------------ tests

LAYER = "@tf.keras.saving.register_keras_serializable(package='uanet_tf')\nclass {}:\n"
CALL = "    def call(self, x):\n        return x\n"
CONFIG = "    def get_config(self):\n        return {}\n"
INIT = "    def __init__(self, a):\n        self.a = a\n"

# (rule, file, a text that breaks it, a text that keeps it)
CASES = [
    (no_print, "ops/a.py", "def f():\n    print(1)", "def main():\n    print(1)"),
    (no_print, "ops/a.py", "print(1)", "logging.info(1)"),
    (no_print, "data/a.py", "def main_loop():\n    print(1)", "def f():\n    self.print(1)"),
    (no_assert, "ops/a.py", "def f(x):\n    assert x", "def f(x):\n    assert_shape(x)"),
    (no_broad_except, "ops/a.py", "try:\n    f()\nexcept:\n    pass", "raise"),
    (no_broad_except, "ops/a.py", "try:\n    f()\nexcept Exception:\n    pass", "x = Exception"),
    (
        no_broad_except,
        "ops/a.py",
        "try:\n    f()\nexcept BaseException:\n    g()",
        "try:\n    f()\nexcept BaseException:\n    g()\n    raise",
    ),
    (
        no_broad_except,
        "commands/a.py",
        "try:\n    f()\nexcept (OSError, BaseException) as e:\n    pass",
        "try:\n    f()\nexcept (OSError, tf.errors.NotFoundError) as e:\n    pass",
    ),
    (no_bare_exception, "ops/a.py", "raise Exception('no')", "raise ValueError('no')"),
    (no_bare_exception, "ops/a.py", "raise Exception", "try:\n    f()\nexcept OSError:\n    raise"),
    (no_compat_v1, "ops/a.py", "tf.compat.v1.Session()", "tf.function(f)"),
    (no_compat_v1, "ops/a.py", "import tensorflow.compat.v1 as tf", "import tensorflow as tf"),
    (no_compat_v1, "ops/a.py", "from tensorflow.compat import v1", "from tensorflow import io"),
    (flags_only_in_scripts, "ops/a.py", "from absl import flags", "from absl import logging"),
    (flags_only_in_scripts, "ops/a.py", "import absl.flags", "import absl.logging"),
    (
        flags_only_in_scripts,
        "data/a.py",
        "from absl import app, flags",
        "from absl import app, flags\ndef main(_):\n    pass",
    ),
    (short_files, "ops/a.py", "x = 1\n" * 351, "x = 1\n" * 350),
    (short_functions, "ops/a.py", "def f():" + "\n    g()" * 60, "def f():" + "\n    g()" * 59),
    (
        short_functions,
        "ops/a.py",
        "class A:\n  async def f():" + "\n    g()" * 60,
        "def f():\n    '''A" + "\n" * 40 + "    '''" + "\n    g()" * 59,
    ),
    (docstrings, "ops/a.py", "x = 1", "'''Ops.'''\nx = 1"),
    (docstrings, "ops/a.py", "'''Ops.'''\ndef f():\n    g()", "'''Ops.'''\ndef _f():\n    g()"),
    (
        docstrings,
        "ops/a.py",
        "'''Ops.'''\nclass A:\n    x = 1",
        "'''Ops.'''\nclass A:\n    '''A.'''",
    ),
    (
        one_public_class,
        "encoders/a.py",
        "class A:\n    x = 1\nclass B:\n    x = 1",
        "class A:\n    x = 1\nclass _B:\n    x = 1",
    ),
    (
        one_public_class,
        "encoders/gated_unit.py",
        "class Unit2:\n    x = 1",
        "class GatedUnit:\n    x = 1",
    ),
    (
        layers_are_registered,
        "encoders/a.py",
        "class A(tf.keras.layers.Layer):\n" + CALL + CONFIG,
        LAYER.format("A(tf.keras.layers.Layer)") + CALL + CONFIG,
    ),
    (
        layers_are_registered,
        "encoders/a.py",
        LAYER.replace("uanet_tf", "other").format("A(keras.Model)") + CALL + CONFIG,
        "class Base(tf.keras.layers.Layer):\n    x = 1",
    ),
    (
        layers_are_registered,
        "encoders/a.py",
        LAYER.format("A(Layer)") + CALL,
        "class A(dict):\n" + CALL,
    ),
    (
        layers_are_registered,
        "encoders/a.py",
        LAYER.format("A(Layer)") + CALL + CONFIG + LAYER.format("B(A)") + INIT,
        LAYER.format("A(Layer)") + CALL + CONFIG + LAYER.format("B(A)") + INIT + CONFIG,
    ),
    (
        layers_are_registered,
        "encoders/a.py",
        LAYER.format("A(Layer)") + CALL + CONFIG + "class B(A):\n    x = 1",
        LAYER.format("A(Layer)") + CALL + CONFIG + LAYER.format("B(A)") + "    x = 1",
    ),
]
RULES: list[Callable[[Tree], Iterator[Finding]]] = list(dict.fromkeys(case[0] for case in CASES))


@pytest.fixture(scope="module")
def package() -> Tree:
    return read_tree(ROOT)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps(rule, package):
    found = [f"{source.path}:{line}: {message}" for source, line, message in rule(package)]
    assert not found, f"{rule.__doc__}\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("rule", "name", "broken", "kept"),
    [pytest.param(*case, id=f"{case[0].__name__}-{n}") for n, case in enumerate(CASES)],
)
def test_the_rule_can_fail(rule, name, broken, kept):
    path = Path(PACKAGE) / name
    assert len(list(rule([parse(path, broken)]))) == 1
    assert list(rule([parse(path, kept)])) == []


def test_commands_and_scripts_may_print_and_have_flags():
    text = "from absl import flags\nprint(1)"
    tree = [parse(Path(name), text) for name in ("uanet_tf/commands/a.py", "train.py")]
    assert list(no_print(tree)) == []
    assert list(flags_only_in_scripts(tree)) == []


def test_the_package_is_read(package):
    assert Path(PACKAGE, "config.py") in {source.path for source in package}
